/** Steering a session while it works, going on with one that ended, and what a session tells of itself. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type Event, readEventLog, type Session, type SessionOptions, sessions, type Sessions, tool, z } from 'newt-agent';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ChatMessage, Script } from '../../test/support/model-server.ts';
import { type Desk, type DeskOptions, latch, openDesk, toolsOf } from './session.testing.ts';

async function desk(script: Script, plugins: Parameters<typeof openDesk>[1] = [], options?: DeskOptions): Promise<Desk> {
  const one = await openDesk(script, plugins, options);
  onTestFinished(() => one[Symbol.asyncDispose]());
  return one;
}

/** Opens another session on the same kernel. */
async function again(at: Desk, options: Partial<SessionOptions>): Promise<{ session: Session; events: Event[] }> {
  const events: Event[] = [];
  const session = await service(at).open({ cwd: at.cwd, mode: 'auto', ...options, onEvent: (event) => void events.push(event) });
  onTestFinished(() => session.close());
  return { session, events };
}

const service = (at: Desk): Sessions => at.stage.kernel.use(sessions.key) as Sessions;
const signal = new AbortController().signal;
const spoken = (messages: readonly ChatMessage[] = []): string[] => messages.flatMap(({ role, content }) => (role === 'system' ? [] : [`${role}: ${typeof content === 'string' ? content : JSON.stringify(content)}`]));
const note = tool({ description: 'x', input: z.object({}), effect: 'read', run: () => 'noted' });

describe('steering', () => {
  test('is read between rounds', async () => {
    const script: Script = [{ toolCalls: [{ name: 'note', arguments: {} }] }, { text: 'in French' }];
    const at: Desk = await desk(script, [toolsOf({ note: { ...note, run: () => (at.session.steer('answer in French'), 'noted') } })]);
    expect(await at.run('hello')).toMatchObject({ text: 'in French' });
    expect(spoken(at.server.requests[1]?.body.messages).at(-1)).toBe('user: answer in French');
    expect(at.of('steer')).toEqual([{ text: 'answer in French' }]);
  });

  test('an answer that came meanwhile is not the end', async () => {
    const { opened, open } = latch();
    const at: Desk = await desk([{ text: ['first ', 'answer'], gate: opened, gateAfter: 1 }, { text: 'second answer' }]);
    const run = at.run('hello');
    await at.server.waitForRequests(1);
    at.session.steer('one more thing');
    open();
    expect(await run).toMatchObject({ text: 'second answer' });
    expect(spoken(at.server.requests[1]?.body.messages)).toEqual(['user: hello', 'assistant: first answer', 'user: one more thing']);
  });

  test('what was said before a run comes first in it', async () => {
    const at = await desk([{ text: 'done' }]);
    at.session.steer('be brief');
    await at.run('hello');
    expect(spoken(at.server.requests[0]?.body.messages)).toEqual(['user: be brief', 'user: hello']);
  });
});

describe('going on', () => {
  const script: Script = [{ text: 'I look', toolCalls: [{ id: 'c1', name: 'note', arguments: {} }] }, { text: 'it is noted' }, { text: 'more is done' }];

  test('the conversation, the counts and the records follow on', async () => {
    const at = await desk(script, [toolsOf({ note })]);
    await at.run('note it');
    await at.session.close();
    const before = readEventLog(at.session.file).events;
    expect(await service(at).latest(at.cwd)).toBe(at.session.file);
    const { session, events } = await again(at, { resume: at.session.file });
    expect(session).toMatchObject({ id: at.session.id, file: at.session.file });
    expect(await session.run('more', signal)).toMatchObject({ text: 'more is done' });
    expect(spoken(at.server.requests[2]?.body.messages)).toEqual(['user: note it', 'assistant: I look', 'tool: noted', 'assistant: it is noted', 'user: more']);
    await session.close();
    const { events: all, torn } = readEventLog(session.file);
    expect(torn).toBe('');
    expect(all).toEqual([...before, ...JSON.parse(JSON.stringify(events)) as Event[]]);
    expect(events[0]).toMatchObject({ type: 'session', parent: before.at(-1)?.id, session: at.session.id });
    expect(session.status()).toMatchObject({ requests: 3, toolCalls: 1 });
  });

  test.each([0, 1, 17])('a log that ends anywhere in the middle of a call is mended: %i characters of the next record', async (characters) => {
    const at = await desk(script, [toolsOf({ note })]);
    await at.run('note it');
    await at.session.close();
    const lines = readFileSync(at.session.file, 'utf8').split('\n');
    const open = lines.findIndex((line) => line.includes('"tool.result"'));
    const whole = `${lines.slice(0, open).join('\n')}\n`;
    writeFileSync(at.session.file, whole + lines[open]?.slice(0, characters));
    const { session } = await again(at, { resume: at.session.file });
    await session.run('go on', signal);
    expect(spoken(at.server.requests[2]?.body.messages)).toEqual(['user: note it', 'assistant: I look', expect.stringMatching(/^tool: The agent ended before .* may have run/), 'user: go on']);
    await session.close();
    expect(readEventLog(session.file).torn).toBe('');
    expect(readFileSync(session.file, 'utf8').startsWith(whole)).toBe(true);
    expect(existsSync(`${session.file}.torn`)).toBe(characters > 0);
  });

  test('an id of the past is not given again, and may be named as evidence', async () => {
    const done = { name: 'task_done', arguments: { status: 'done', summary: 'ok', evidence: ['c1'] } };
    const at = await desk([...(script as object[]).slice(0, 2), { toolCalls: [{ id: 'c1', name: 'note', arguments: {} }, done] }] as Script, [toolsOf({ note })]);
    await at.run('note it');
    await at.session.close();
    const { session, events } = await again(at, { resume: at.session.file });
    expect(await session.run('more', signal)).toMatchObject({ reason: 'done' });
    expect(events.flatMap((event) => (event.type === 'tool.call' ? [event.data.call] : []))).not.toContain('c1');
  });

  test('not while somebody else writes, not where nothing is', async () => {
    const at = await desk(script, [toolsOf({ note })]);
    const said = async (resume: string): Promise<string> => again(at, { resume }).then(() => 'opened', (error: Error) => error.message);
    expect(await said(at.session.file)).toMatch(/writes|being written|in use|process/);
    expect(await said(`${at.session.file}.gone`)).toMatch(/there is no event log/);
    appendFileSync(`${at.session.file}.odd`, 'hello\n');
    expect(await said(`${at.session.file}.odd`)).toMatch(/is no event log of a session/);
    expect(readFileSync(`${at.session.file}.odd`, 'utf8')).toBe('hello\n');
    expect(existsSync(`${at.session.file}.odd.lock`)).toBe(false);
  });
});

test('the model can be changed', async () => {
  const at = await desk([{ text: 'one' }, { text: 'two' }]);
  await at.run('a');
  await at.session.useModel('env/other');
  await at.run('b');
  expect(at.server.requests.map(({ body }) => body.model)).toEqual(['test', 'other']);
  expect(at.session.status().model).toBe('env/other');
  expect(at.of('session').map(({ model }) => model)).toEqual(['env/test', 'env/other']);
});

test('a session tells what it has come to', async () => {
  const at = await desk([{ toolCalls: [{ name: 'note', arguments: {} }], usage: { inputTokens: 100, outputTokens: 5 } }, { text: 'done', usage: { inputTokens: 120, outputTokens: 7 } }], [toolsOf({ note })]);
  await at.run('a');
  const status = at.session.status();
  expect(status).toMatchObject({ model: 'env/test', scripted: false, mode: 'auto', requests: 2, toolCalls: 1, tokens: { input: 220, output: 12 }, context: { messages: 4, tokens: 120 } });
  expect(status.context.bytes.system + status.context.bytes.tools).toBeGreaterThan(2_000);
  expect(status.context.bytes.conversation).toBeGreaterThan(50);
});
