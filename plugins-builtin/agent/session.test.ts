/** The loop around the rounds: what is taken, what is asked again, when it ends; and the log of it. */
import { readFileSync } from 'node:fs';
import { allow, ask, deny, eventJsonSchema, eventSchema, isOperational, type Json, type ModelFailure, type Prompt, type Question, type Session, type SessionOptions, sessions, tool, z } from 'newt-agent';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Inline, sleep, stopwatch } from '../../test/support/boot.ts';
import type { Script } from '../../test/support/model-server.ts';
import { readEventLog } from './api/event-reader.ts';
import { type Desk, type DeskOptions, guardOf, openDesk, toolsOf } from './session.testing.ts';

async function desk(script: Script, plugins: readonly Inline[] = [], options?: DeskOptions): Promise<Desk> {
  const one = await openDesk(script, plugins, options);
  onTestFinished(() => one[Symbol.asyncDispose]());
  return one;
}

const hooking = (hooks: object, id = 'hooker'): Inline => ({ id, setup: () => ({ hooks }) });
const userTexts = (at: Desk, request: number): string[] => (at.server.requests[request]?.body.messages ?? []).flatMap(({ role, content }) => (role === 'user' ? [typeof content === 'string' ? content : JSON.stringify(content)] : []));

describe('the gate in front of a request', () => {
  test('that denies: the request is not taken, and no model is asked', async () => {
    const at = await desk([], [guardOf('input.submit', ({ text }: { text: string }) => (text.includes('secret') ? deny('it holds a secret') : undefined))]);
    expect(await at.run('my secret')).toEqual({ reason: 'error', code: 1, text: 'the request was not taken: it holds a secret' });
    expect(at.server.requests).toHaveLength(0);
    expect(readFileSync(at.session.file, 'utf8')).not.toContain('my secret');
  });

  const careful = guardOf('input.submit', () => ask('it names a customer', 'some.rule'));
  test('that asks: the person is asked, and a yes sends it', async () => {
    const questions: Question[] = [];
    const notified: unknown[] = [];
    const at = await desk([{ text: 'done' }], [careful, hooking({ notify: (news: unknown) => void notified.push(news) })], { ask: async (question) => (questions.push(question), true) });
    expect(await at.run()).toMatchObject({ code: 0, text: 'done' });
    expect(questions).toEqual([{ call: 'input.submit', question: 'Send this request?', reason: 'it names a customer', rule: 'some.rule' }]);
    expect(at.of('tool.ask')).toEqual(questions);
    expect(at.of('tool.answer')).toEqual([{ call: 'input.submit', allowed: true, by: 'person' }]);
    expect(notified).toMatchObject([{ about: 'ask', text: 'Send this request?' }]);
  });

  test.each([
    ['a no', false, 'the request was not taken: it names a customer; the person said no'],
    ['nobody there', undefined, 'the request was not taken: it names a customer, and nobody can be asked; to allow it: some.rule'],
  ])('that asks: %s ends the run', async (_, answer, text) => {
    const at = await desk([], [careful], { ask: async () => answer });
    expect(await at.run()).toEqual({ reason: 'error', code: 1, text });
    expect(at.server.requests).toHaveLength(0);
  });

  test('that asks: a person who cancels has cancelled', async () => {
    const controller = new AbortController();
    const at = await desk([], [careful], { ask: async () => (controller.abort(), undefined) });
    expect(await at.run('go', controller.signal)).toMatchObject({ reason: 'cancelled', code: 130 });
  });

  test('that fails denies', async () => {
    const at = await desk([], [guardOf('input.submit', () => Promise.reject(new Error('no opinion')))]);
    expect((await at.run()).text).toMatch(/^the request was not taken: .*guard/);
  });

  test('that allows, and one that has no opinion', async () => {
    const at = await desk([{ text: 'done' }], [guardOf('input.submit', () => allow(), 'a'), guardOf('input.submit', () => undefined, 'b')]);
    expect(await at.run()).toMatchObject({ code: 0 });
  });
});

describe('the end of the work', () => {
  test('agent.stop may ask to go on, and is asked again', async () => {
    let asked = 0;
    const at = await desk([{ text: 'first' }, { text: 'second' }, { text: 'third' }], [hooking({ 'agent.stop': () => ((asked += 1) < 3 ? { continue: `go on ${asked}` } : undefined) })]);
    expect(await at.run()).toEqual({ reason: 'answered', code: 0, text: 'third' });
    expect(userTexts(at, 2)).toEqual(['go', 'go on 1', 'go on 2']);
  });

  test('one that never lets go is stopped by the rounds', async () => {
    const at = await desk(() => ({ text: 'x' }), [hooking({ 'agent.stop': () => ({ continue: 'more' }) })], { maxRounds: 4 });
    expect(await at.run()).toMatchObject({ reason: 'rounds', code: 3, text: expect.stringContaining('--max-rounds') });
    expect(at.server.requests).toHaveLength(4);
  });

  test('an empty answer is asked about once', async () => {
    const at = await desk([{ text: '' }, { text: 'there' }]);
    expect(await at.run()).toMatchObject({ code: 0, text: 'there' });
    expect(userTexts(at, 1)[1]).toContain('Your answer was empty');
    const twice = await desk([{ text: ' ' }, { text: '\n' }]);
    expect(await twice.run()).toMatchObject({ reason: 'error', code: 1 });
  });

  test('a second request goes on with the conversation, also after one that was cancelled in a round', async () => {
    const controller = new AbortController();
    const stop = tool({ description: 'x', input: z.object({}), effect: 'read', run: () => (controller.abort(), 'x') });
    const at = await desk([{ toolCalls: [{ id: 'c', name: 'stop', arguments: {} }, { id: 'd', name: 'stop', arguments: {} }] }, { text: 'here again' }], [toolsOf({ stop })]);
    expect(await at.run('one', controller.signal)).toMatchObject({ code: 130 });
    expect(await at.run('two')).toMatchObject({ code: 0, text: 'here again' });
    const roles = at.server.requests[1]?.body.messages.map(({ role, tool_call_id }) => (tool_call_id ? `${role} ${tool_call_id}` : role));
    expect(roles).toEqual(['system', 'user', 'assistant', 'tool c', 'tool d', 'user']);
  });
});

describe('a model that fails', () => {
  test('model.error may have it tried again, four times at most', async () => {
    const heard: ModelFailure[] = [];
    const at = await desk(() => ({ status: 400, body: { error: { message: 'overloaded today' } } }), [hooking({ 'model.error': (failure: ModelFailure) => (heard.push(failure), { retry: true }) })]);
    expect(await at.run()).toMatchObject({ reason: 'error', text: expect.stringContaining('overloaded today') });
    expect(at.server.requests).toHaveLength(4);
    expect(heard.map(({ attempt, status }) => [attempt, status])).toEqual([[1, 400], [2, 400], [3, 400]]);
    expect(at.of('retry').map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  test('and its pause is kept, and ends when the person cancels', async () => {
    const script: Script = (_, n) => (n === 0 ? { status: 400 } : { text: 'better' });
    const at = await desk(script, [hooking({ 'model.error': () => ({ retry: true, after: 120 }) })]);
    const time = stopwatch();
    expect(await at.run()).toMatchObject({ code: 0, text: 'better' });
    expect(time()).toBeGreaterThanOrEqual(119);
    const patient = await desk(script, [hooking({ 'model.error': () => ({ retry: true, after: 1e12 }) })]);
    const controller = new AbortController();
    const run = patient.run('go', controller.signal);
    await patient.server.waitForRequests(1);
    await sleep(50);
    controller.abort();
    expect(await run).toMatchObject({ reason: 'cancelled', code: 130 });
  });

  test('no answer, a no, and nonsense end it', async () => {
    for (const answer of [undefined, { retry: false }, 'again!', { retry: 'yes' }]) {
      const at = await desk(() => ({ status: 400 }), [hooking({ 'model.error': () => answer })]);
      expect(await at.run()).toMatchObject({ reason: 'error' });
      expect(at.server.requests).toHaveLength(1);
    }
  });

  const provider = (part: unknown): Inline => ({
    id: 'odd',
    setup: () => ({
      providers: { odd: { label: 'odd', model: () => ({ doStream: async () => ({ stream: new ReadableStream({ start: (to) => (to.enqueue({ type: 'error', error: part }), to.close()) }) }) }) } },
    }),
  });
  test.each([['a text', 'overloaded', 'overloaded'], ['an object', { code: 529 }, '529'], ['nothing', null, 'null']])('with %s for an error', async (_, part, said) => {
    const heard: ModelFailure[] = [];
    const at = await desk([], [provider(part), hooking({ 'model.error': (failure: ModelFailure) => (heard.push(failure), { retry: failure.attempt < 2 }) })], { model: 'odd/x' });
    expect(await at.run()).toMatchObject({ reason: 'error', text: expect.stringContaining(said) });
    expect(heard.map(({ message }) => message)).toEqual([expect.stringContaining(said), expect.stringContaining(said)]);
    for (const event of at.events) expect(eventSchema().safeParse(event).error).toBe(undefined);
  });
});

describe('a person who is asked within a tool', () => {
  test('may take longer than the tool has', async () => {
    // The tool has 200 ms, and holds a session of its own in which a question waits for 600.
    const inner: Inline = {
      id: 'inner',
      facts: { capabilities: ['gate:tool.gate'] },
      setup: (p) => ({
        hooks: { 'tool.gate': ({ name }: { name: string }) => (name === 'leaf' ? ask('sure?') : undefined) },
        tools: {
          leaf: tool({ description: 'x', input: z.object({}), effect: 'read', run: () => 'leaf ran' }),
          delegate: tool({
            description: 'x',
            input: z.object({}),
            effect: 'read',
            deadline: 0.2,
            run: async (_, call) => {
              const session: Session = await p.use(sessions).open({ cwd: call.session.cwd, ask: async () => (await sleep(600), true) } satisfies SessionOptions);
              const result = await session.run('inner', call.signal);
              await session.close();
              return result.text;
            },
          }),
        },
      }),
    };
    const script: Script = ({ messages }) => {
      const isInner = JSON.stringify(messages).includes('inner');
      if (messages.some(({ role }) => role === 'tool')) return { text: isInner ? 'inside: done' : 'done' };
      return { toolCalls: [{ name: isInner ? 'leaf' : 'delegate', arguments: {} }] };
    };
    const at = await desk(script, [inner]);
    expect(await at.run()).toMatchObject({ code: 0 });
    expect(at.of('tool.result').map(({ text, isError }) => [text, isError])).toEqual([['inside: done', false]]);
  });
});

describe('the text in front', () => {
  const system = (at: Desk): string => String(at.server.requests[0]?.body.messages[0]?.content);
  const adding = (id: string, ...sections: readonly { readonly id: string; readonly text: string }[]): Inline => hooking({ 'prompt.build': (prompt: Prompt) => ({ ...prompt, sections: [...prompt.sections, ...sections] }) }, id);
  const replacing = (text: string): Inline => hooking({ 'prompt.build': (prompt: Prompt) => ({ ...prompt, sections: prompt.sections.map((one) => (one.id === 'role' ? { ...one, text } : one)) }) });

  test('of plugins shares 1 kB: what is more is dropped, and told', async () => {
    const at = await desk([{ text: 'done' }], [
      adding('a', { id: 'a-small', text: 'A'.repeat(500) }, { id: 'a-large', text: 'é'.repeat(300) }),
      adding('b', { id: 'b-fits', text: 'B'.repeat(524) }, { id: 'b-more', text: 'C' }),
    ]);
    await at.run();
    expect(system(at)).toContain(`\n\n${'A'.repeat(500)}\n\n${'B'.repeat(524)}`);
    expect(system(at)).not.toMatch(/é|\n\nC/);
    expect(at.of('notice')).toEqual([{ level: 'warn', text: 'the prompt sections a-large, b-more were dropped: plugins share 1 kB' }]);
  });

  test('of the agent itself can be rewritten, within the same limit', async () => {
    const short = await desk([{ text: 'done' }], [replacing('You are a pirate.')]);
    await short.run();
    expect(system(short)).toMatch(/^You are a pirate\.\n\nWorkspace: /);
    const long = await desk([{ text: 'done' }], [replacing('You are a pirate. '.repeat(100))]);
    await long.run();
    expect(system(long)).toMatch(/^You are Newt, /);
    expect(long.of('notice')).toMatchObject([{ text: expect.stringContaining('role') }]);
  });
});

test('a failing plugin is told of to the person and the model, once', async () => {
  let n = 0;
  const at = await desk([{ text: 'one' }, { text: 'two' }, { text: 'three' }], [
    hooking({ 'turn.start': () => { throw new Error('the same failure'); }, 'agent.stop': () => ((n += 1) < 3 ? { continue: 'more' } : undefined) }),
  ]);
  await at.run();
  expect(at.of('fault').filter(({ cause }) => cause.includes('the same failure')).length).toBeLessThanOrEqual(2);
  const told = JSON.stringify(at.server.requests[2]?.body.messages).split('the same failure').length - 1;
  expect(told).toBeGreaterThanOrEqual(1);
  expect(told).toBeLessThanOrEqual(2);
});

test('every record of a run with all it can hold fits the schema, and what was heard is what is on disk', async () => {
  const tools = toolsOf({
    long: tool({ description: 'x', input: z.object({}), effect: 'read', run: (_, call) => (call.output('working\n'), { text: 'y'.repeat(60_000), data: { n: 1 } }) }),
    bad: tool({ description: 'x', input: z.object({}), effect: 'read', run: () => { throw new Error('boom'); } }),
  });
  const script: Script = [
    { reasoning: ['I ', 'think'], text: ['so ', 'I'], toolCalls: [{ name: 'long', arguments: {} }, { name: 'bad', arguments: {} }, { name: 'x', arguments: '{' }] },
    { text: ['cut', ' off'], cutAfter: 1 },
    { text: '' },
    { toolCalls: [{ name: 'write_file', arguments: { path: 'a', content: 'x\n' } }] },
    { text: 'very long', finish: 'length', usage: false, toolCalls: [{ name: 'task_done', arguments: { status: 'done', summary: 'done' } }] },
  ];
  const filler = hooking({ 'prompt.build': (prompt: Prompt) => ({ ...prompt, sections: [...prompt.sections, { id: 'big', text: 'x'.repeat(2_000) }] }) });
  const at = await desk(script, [tools, filler], { mode: 'normal', ask: async () => true });
  at.session.steer('and be quick');
  expect(await at.run()).toMatchObject({ reason: 'done', code: 0 });
  const { events, torn } = readEventLog(at.session.file);
  expect(torn).toBe('');
  expect(events).toEqual(JSON.parse(JSON.stringify(at.events)));
  const byType = new Set<string>(events.map(({ type }) => type));
  expect([...byType].sort()).toEqual(['assistant', 'delta', 'fault', 'notice', 'reasoning', 'request', 'retry', 'round', 'session', 'steer', 'stop', 'tool.answer', 'tool.ask', 'tool.call', 'tool.output', 'tool.result', 'usage', 'user']);
  const schema = eventSchema();
  const fromJson = z.fromJSONSchema(eventJsonSchema() as Parameters<typeof z.fromJSONSchema>[0]);
  for (const event of events) {
    expect(schema.safeParse(event).error, event.type).toBe(undefined);
    expect(schema.parse(event), event.type).toEqual(event);
    expect(fromJson.safeParse(event).error, event.type).toBe(undefined);
  }
  expect(new Set(schema.options.map((option) => option.shape.type.value))).toEqual(byType);
});

test('a session that cannot be opened says why, and leaves nothing open', async () => {
  const at = await desk([{ text: 'x' }]);
  const { open } = at.stage.kernel.use(sessions.key) as { open(options: SessionOptions): Promise<Session> };
  const error: unknown = await open({ cwd: `${at.cwd}/gone` }).catch((reason: unknown) => reason);
  expect(isOperational(error) && (error.details as { hint: Json }).hint).toContain('--cwd');
});
