import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { temporaryWorkspace } from '../../test/support/tool-call.ts';
import { grep } from './grep.ts';
import { limiter } from './limiter.ts';
import { skipNotes } from './skip-notes.ts';
import { mostThreads, searchInThread } from './thread-search.ts';
import { plant } from './tree.testing.ts';

const query = (root: string, pattern: string, signal = new AbortController().signal) => ({
  pattern,
  ignoreCase: false,
  place: { root, path: '', isFile: false, prefix: '' },
  glob: undefined,
  limit: 10,
  signal,
});

const catastrophic = '(a+)+$';
const victim = `${'a'.repeat(60)}b\n`;

test('a pattern that backtracks for ever ends with a message that names the file', async () => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, { 'a.txt': 'b', 'victim.txt': victim });
  await expect(searchInThread(query(workspace.cwd, catastrophic), skipNotes(), limiter(1), 200)).rejects.toMatchObject({
    name: 'OperationalError',
    message: expect.stringMatching(/the pattern took more than 0\.2 s on .*victim\.txt\. It probably backtracks without end/),
  });
});

test('such a search can be cancelled', async () => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, { 'victim.txt': victim });
  const controller = new AbortController();
  const search = searchInThread(query(workspace.cwd, catastrophic, controller.signal), skipNotes(), limiter(1));
  setImmediate(() => controller.abort(new Error('cancelled')));
  await expect(search).rejects.toThrow('cancelled');
});

test('searches many files in path order', async () => {
  await using workspace = await temporaryWorkspace();
  const names = Array.from({ length: 300 }, (_, index) => `f${String(index).padStart(3, '0')}`);
  await plant(workspace.cwd, Object.fromEntries(names.map((name) => [name, 'x\n'])));
  const found = await searchInThread({ ...query(workspace.cwd, 'x'), limit: 250 }, skipNotes(), limiter(1));
  expect(found.map(({ path }) => path)).toEqual(names.slice(0, 250));
});

test('says which files are too large', async () => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, { 'big.txt': 'x\n', 'small.txt': 'x\n' });
  await truncate(join(workspace.cwd, 'big.txt'), 10_000_001);
  const { text } = await workspace.run(grep(() => '', limiter(1)), { pattern: 'x' });
  expect(text).toBe('small.txt:1: x\n(big.txt: above 10 MB and not searched)');
});

test('however many searches there are, few threads live at a time, and those that wait can be cancelled', async () => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, { 'a.txt': 'needle' });
  const alive = { now: 0, most: 0, all: 0 };
  const count = (worker: Worker): void => {
    alive.now += 1;
    alive.all += 1;
    alive.most = Math.max(alive.most, alive.now);
    worker.once('exit', () => (alive.now -= 1));
  };
  process.on('worker', count);
  try {
    const cancel = new AbortController();
    const inTurn = limiter(mostThreads);
    const searches = Array.from({ length: 50 }, () => searchInThread(query(workspace.cwd, 'needle'), skipNotes(), inTurn));
    const cancelled = searchInThread(query(workspace.cwd, 'needle', cancel.signal), skipNotes(), inTurn);
    cancel.abort(new Error('cancelled'));
    await expect(cancelled).rejects.toThrow('cancelled');
    for (const found of await Promise.all(searches)) expect(found).toHaveLength(1);
    expect(alive).toEqual({ now: 0, most: mostThreads, all: 50 });
  } finally {
    process.off('worker', count);
  }
});
