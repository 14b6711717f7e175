/** Whole tasks through the built command. The model is a script; everything else is real. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Place } from '../support/agent-process.ts';
import type { ModelServer, Script } from '../support/model-server.ts';
import { wires } from '../support/wires.ts';

describe.each(wires)('over the $name wire', (wire) => {
  let place: Place;
  let server: ModelServer;

  async function stage(script: Script): Promise<void> {
    server = await wire.start(script);
    place = wire.place(server.url);
  }

  afterEach(async () => {
    await server.close();
    place.remove();
  });

  const fibonacci = 'a, b = 0, 1\nfor _ in range(10):\n    print(a, end=" ")\n    a, b = b, a + b\nprint()\n';

  test('writes and runs the Fibonacci script', async () => {
    await stage([
      { text: 'I write it.', toolCalls: [{ name: 'write_file', arguments: { path: 'fibonacci.py', content: fibonacci } }] },
      { toolCalls: [{ name: 'run_command', arguments: { command: 'python3 fibonacci.py || echo no python' } }] },
      { text: ['fibonacci.py prints ', 'the numbers.'] },
    ]);
    const done = await place.agent(['run', '--yes', 'create a Python script that prints the Fibonacci numbers']);
    expect(done).toMatchObject({ code: 0, stdout: 'fibonacci.py prints the numbers.\n' });
    expect(readFileSync(join(place.workspace, 'fibonacci.py'), 'utf8')).toBe(fibonacci);
    const last = server.requests[2]?.body.messages.at(-1);
    expect(last?.content).toMatch(/0 1 1 2 3 5 8 13 21 34|no python/);
  });

  test('finds and mends a bug in an unseen project', async () => {
    await stage([
      { toolCalls: [{ name: 'grep', arguments: { pattern: 'add' } }, { name: 'glob', arguments: { pattern: '**/*.mjs' } }] },
      { toolCalls: [{ name: 'read_file', arguments: { path: 'src/sum.mjs' } }] },
      { toolCalls: [{ name: 'replace_in_file', arguments: { path: 'src/sum.mjs', old_text: 'a - b', new_text: 'a + b' } }] },
      { toolCalls: [{ name: 'run_command', arguments: { command: `${process.execPath} test.mjs` } }] },
      { toolCalls: [{ name: 'task_done', arguments: { status: 'done', summary: 'add adds now; test.mjs passes.' } }] },
    ]);
    place.write({ 'src/sum.mjs': 'export const add = (a, b) => a - b;\n', 'test.mjs': "import { add } from './src/sum.mjs';\nif (add(2, 3) !== 5) throw new Error('wrong');\nconsole.log('passed');\n" });
    const done = await place.agent(['run', '--yes', 'the test fails, mend it']);
    expect(done).toMatchObject({ code: 0, stdout: 'add adds now; test.mjs passes.\n' });
    const results = place.events().filter((event) => event.type === 'tool.result');
    expect(results.map(({ data }) => data.isError)).toEqual(results.map(() => false));
    expect(results.find(({ data }) => data.name === 'run_command')?.data.text).toContain('passed');
  });

  test('answers a question about files from a pipe, without changing anything', async () => {
    await stage([
      { toolCalls: [{ name: 'list_directory', arguments: {} }, { name: 'read_file', arguments: { path: 'a.txt' } }] },
      { text: 'a.txt holds 1 line.' },
    ]);
    place.write({ 'a.txt': 'one\n' });
    const done = await place.agent(['run', 'how long is'], { input: 'a.txt\n' });
    expect(done).toMatchObject({ code: 0, stdout: 'a.txt holds 1 line.\n' });
    expect(JSON.stringify(server.requests[0]?.body.messages)).toContain('a.txt');
  });

  test('without --yes and without a terminal, writing is refused and the rule is named', async () => {
    await stage([{ toolCalls: [{ name: 'write_file', arguments: { path: 'x', content: 'x' } }, { name: 'run_command', arguments: { command: 'touch y' } }] }, { text: 'I may not.' }]);
    const done = await place.agent(['run', 'write x']);
    expect(done.code).toBe(0);
    expect(existsSync(join(place.workspace, 'x'))).toBe(false);
    expect(existsSync(join(place.workspace, 'y'))).toBe(false);
    const results = place.events().filter((event) => event.type === 'tool.result');
    for (const { data } of results) expect(data).toMatchObject({ isError: true, text: expect.stringContaining('--yes') as string });
  });

  test('ten tool rounds, in order, with a whole event log', async () => {
    await stage((_, n) => (n < 10 ? { toolCalls: [{ name: 'run_command', arguments: { command: `echo round ${n} >> log.txt` } }] } : { text: 'ten rounds done' }));
    const done = await place.agent(['run', '--yes', '--json', 'ten rounds']);
    expect(done.code).toBe(0);
    const shown = done.stdout.trim().split('\n').map((line) => JSON.parse(line) as { seq: number; type: string });
    expect(shown.map(({ seq }) => seq)).toEqual(shown.map((_, index) => index));
    expect(shown.filter(({ type }) => type === 'round')).toHaveLength(10);
    expect(shown.at(-1)?.type).toBe('stop');
    expect(place.events()).toEqual(shown);
    expect(readFileSync(join(place.workspace, 'log.txt'), 'utf8').trim().split('\n')).toHaveLength(10);
  });

  test('four edits of one file and a write through a symlink, all at once, all count', async () => {
    const edit = (word: string) => ({ name: 'replace_in_file', arguments: { path: 'f.txt', old_text: word, new_text: word.toUpperCase() } });
    await stage([
      { toolCalls: [...['one', 'two', 'three', 'four'].map(edit), { name: 'replace_in_file', arguments: { path: 'link.txt', old_text: 'five', new_text: 'FIVE' } }] },
      { text: 'all changed' },
    ]);
    place.write({ 'f.txt': 'one\ntwo\nthree\nfour\nfive\n' });
    const { symlinkSync } = await import('node:fs');
    symlinkSync('f.txt', join(place.workspace, 'link.txt'));
    const done = await place.agent(['run', '--yes', 'shout']);
    expect(done.code).toBe(0);
    expect(readFileSync(join(place.workspace, 'f.txt'), 'utf8')).toBe('ONE\nTWO\nTHREE\nFOUR\nFIVE\n');
  });

  test('stops when the rounds are used up, with exit code 3', async () => {
    await stage(() => ({ toolCalls: [{ name: 'list_directory', arguments: {} }] }));
    const done = await place.agent(['run', '--max-rounds', '3', 'loop for ever']);
    expect(done.code).toBe(3);
    expect(done.stderr).toContain('3 rounds');
    expect(server.requests).toHaveLength(3);
  });

  test('react.enabled: false gives one answer and sends no tools', async () => {
    await stage([{ text: 'just an answer' }]);
    const done = await place.agent(['run', 'say something'], { env: { AGENT_REACT__ENABLED: 'false' } });
    expect(done).toMatchObject({ code: 0, stdout: 'just an answer\n' });
    expect(server.requests[0]?.body.tools).toBeUndefined();
  });

  test('the model says it failed: exit code 1', async () => {
    await stage([{ toolCalls: [{ name: 'task_done', arguments: { status: 'failed', summary: 'cannot be done' } }] }]);
    const done = await place.agent(['run', 'impossible']);
    expect(done.code).toBe(1);
    expect(done.stdout + done.stderr).toContain('cannot be done');
  });

  test('evidence must name calls that were made', async () => {
    await stage([
      { toolCalls: [{ id: 'call_list', name: 'list_directory', arguments: {} }] },
      { toolCalls: [{ name: 'task_done', arguments: { status: 'done', summary: 'x', evidence: ['call_invented'] } }] },
      { toolCalls: [{ name: 'task_done', arguments: { status: 'done', summary: 'listed', evidence: ['call_list'] } }] },
    ]);
    const done = await place.agent(['run', 'list']);
    expect(done).toMatchObject({ code: 0, stdout: 'listed\n' });
    expect(JSON.stringify(server.requests[2]?.body.messages.at(-1))).toContain('call_invented');
  });
});
