/** `agent chat` from a pipe: each line of standard input is a message. The model is a script. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';
import { type ModelServer, type Script, startModelServer } from '../support/model-server.ts';

let place: Place;
let server: ModelServer;

async function stage(script: Script): Promise<void> {
  server = await startModelServer(script);
  place = createPlace(server.url);
}

afterEach(async () => {
  await server.close();
  place.remove();
});

const logs = (): string[] => readdirSync(join(place.home, 'state', 'sessions'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'));

test('each line is a message of one conversation, answers go to standard output, and the last code counts', async () => {
  await stage([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]);
  const done = await place.agent(['chat', 'first'], { input: 'second\n\nthird' });
  expect(done).toMatchObject({ code: 0, stdout: 'One.\nTwo.\nThree.\n', stderr: '' });
  expect(JSON.stringify(server.requests[2]?.body.messages)).toMatch(/first.*One.*second.*Two.*third/s);
  expect(logs()).toHaveLength(1);
});

test('a message that fails is told, the next one is still worked on, and commands work', async () => {
  await stage([{ status: 400 }, { text: 'Fine.' }, { status: 400 }]);
  const done = await place.agent(['chat'], { input: 'a\n/clear\nb\n/nothing\n' });
  expect(done).toMatchObject({ code: 0, stdout: 'Fine.\n' });
  expect(done.stderr).toMatch(/^agent: .*scripted error 400.*\na new session.*\nthere is no \/nothing/);
  expect((await place.agent(['chat'], { input: 'c\n' })).code).toBe(2);
});

test('nobody is there to be asked: what needs a question is refused, with the rule that allows it', async () => {
  await stage([{ toolCalls: [{ name: 'write_file', arguments: { path: 'a.txt', content: 'x' } }] }, { text: 'Not written.' }]);
  const done = await place.agent(['chat'], { input: 'write\n' });
  expect(done).toMatchObject({ code: 0, stdout: 'Not written.\n' });
  expect(done.stderr).toContain('not allowed, and nobody can be asked');
  expect(existsSync(join(place.workspace, 'a.txt'))).toBe(false);
});

test('nothing to say is no mistake, and leaves no session; mistakes of usage are 2', async () => {
  await stage([]);
  expect(await place.agent(['chat'], { input: '' })).toMatchObject({ code: 0, stdout: '', stderr: '' });
  expect(logs()).toEqual([]);
  expect(await place.agent(['chat', '--continue'], { input: '' })).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no session of') as string });
  expect(await place.agent(['chat', '--max-rounds', 'x'], { input: '' })).toMatchObject({ code: 2 });
});

test('SIGINT cancels the message at work and ends the chat', async () => {
  await stage([{ text: ['Begun', ' never'], gate: new Promise(() => undefined) }]);
  const done = await place.agent(['chat', 'work'], { input: 'next\n', onStart: (child) => void server.waitForRequests(1).then(() => child.kill('SIGINT')) });
  expect(done).toMatchObject({ code: 130, stdout: '' });
  expect(server.requests).toHaveLength(1);
});
