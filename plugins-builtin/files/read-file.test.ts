import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, open, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryWorkspace } from '../../test/support/tool-call.ts';
import { readFile } from './read-file.ts';
import { knowledge } from './read-ledger.ts';

const numbered = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

test('shows lines with numbers, and notes a missing last newline', async () => {
  await using workspace = await temporaryWorkspace();
  await writeFile(join(workspace.cwd, 'a.txt'), 'one\n\nthree');
  expect((await workspace.run(readFile, { path: 'a.txt' })).text).toBe('     1\tone\n     2\t\n     3\tthree\n(no newline at the end of the file)');
});

test('shows a range, and how to go on', async () => {
  await using workspace = await temporaryWorkspace();
  await writeFile(join(workspace.cwd, 'a.txt'), numbered(5300));
  const range = await workspace.run(readFile, { path: 'a.txt', start_line: 2, end_line: 3 });
  expect(range.text).toBe('     2\tline 2\n     3\tline 3\n(… lines 4-5300 not shown; call again with start_line 4)');
  const whole = await workspace.run(readFile, { path: 'a.txt' });
  expect(whole.text).toMatch(/ {2}2000\tline 2000\n\(… lines 2001-5300 not shown; call again with start_line 2001\)$/);
  expect((await workspace.run(readFile, { path: 'a.txt', start_line: 5300 })).text).toBe('  5300\tline 5300');
});

test('ends early rather than exceed the size of a result, and going on loses no line', async () => {
  await using workspace = await temporaryWorkspace();
  await writeFile(join(workspace.cwd, 'a.txt'), `${'x'.repeat(999)}\n`.repeat(100) + `${'x'.repeat(22)}\n`.repeat(2000));
  let start_line = 1;
  const seen: number[] = [];
  for (let calls = 0; start_line <= 2100 && calls < 10; calls += 1) {
    const { text } = await workspace.run(readFile, { path: 'a.txt', start_line });
    expect(Buffer.byteLength(text)).toBeLessThan(50_000);
    seen.push(...[...text.matchAll(/^ *(\d+)\t/gm)].map((match) => Number(match[1])));
    start_line = (seen.at(-1) ?? 0) + 1;
  }
  expect(seen).toEqual(Array.from({ length: 2100 }, (_, index) => index + 1));
});

test('notes CRLF once', async () => {
  await using workspace = await temporaryWorkspace();
  await writeFile(join(workspace.cwd, 'a.txt'), 'one\r\ntwo\r\n');
  expect((await workspace.run(readFile, { path: 'a.txt' })).text).toBe('     1\tone\n     2\ttwo\n(lines end in CRLF; edits keep that)');
});

test.each([
  ['start behind the end', 'a.txt', { start_line: 9 }, 'a.txt has 2 lines; start_line 9 is past its end.'],
  ['range the wrong way round', 'a.txt', { start_line: 2, end_line: 1 }, 'end_line 1 is before start_line 2.'],
  ['missing file', 'none.txt', {}, 'none.txt does not exist. Find the right path with list_directory or glob.'],
  ['directory', 'folder', {}, 'folder is a directory. Use list_directory, or name a file in it.'],
  ['file as a folder', 'a.txt/b', {}, 'a.txt/b cannot exist: a parent of it is a file, not a directory.'],
  ['named pipe', 'pipe', {}, 'pipe is a named pipe, not a file with content; these tools do not touch it.'],
  ['circle of links', 'circle', {}, 'circle leads through a circle of symbolic links.'],
  ['too long a name', 'x'.repeat(300), {}, expect.stringContaining('is too long a name for this file system.')],
])('%s', async (_, path, range, text) => {
  await using workspace = await temporaryWorkspace();
  await writeFile(join(workspace.cwd, 'a.txt'), 'one\ntwo\n');
  await mkdir(join(workspace.cwd, 'folder'));
  await symlink('circle', join(workspace.cwd, 'circle'));
  execFileSync('mkfifo', [join(workspace.cwd, 'pipe')]);
  expect(await workspace.run(readFile, { path, ...range })).toEqual({ text, isError: true });
});

test('a NUL byte in a path is refused by the schema and by the tool', async () => {
  await using workspace = await temporaryWorkspace();
  expect(readFile.input.safeParse({ path: 'a\0b' }).success).toBe(false);
  const answer = await readFile.run({ path: 'a\0b' } as never, workspace.call());
  expect(answer).toEqual({ text: 'a\\0b is not a path: it contains a NUL byte.', isError: true });
});

test('says that a file is empty, or binary', async () => {
  await using workspace = await temporaryWorkspace();
  await writeFile(join(workspace.cwd, 'empty'), '');
  await writeFile(join(workspace.cwd, 'binary'), Buffer.from([1, 2, 0, 3]));
  expect(await workspace.run(readFile, { path: 'empty' })).toEqual({ text: '(empty file)' });
  expect((await workspace.run(readFile, { path: 'binary' })).text).toMatch(/^binary is a binary file of 4 bytes; its content is not shown\./);
});

test('remembers the digest of what was read, to the end of the file', async () => {
  await using workspace = await temporaryWorkspace();
  const content = numbered(3000);
  await writeFile(join(workspace.cwd, 'a.txt'), content);
  await workspace.run(readFile, { path: 'a.txt', end_line: 1 });
  const digest = createHash('sha256').update(content).digest('hex');
  expect(knowledge(workspace.call().session, join(workspace.cwd, 'a.txt'), digest)).toBe('same');
});

test('reads a window of a very large file in bounded memory and without counting its lines', async () => {
  await using workspace = await temporaryWorkspace();
  const file = await open(join(workspace.cwd, 'large.txt'), 'w');
  await file.write(numbered(3000));
  // Sparse: a gigabyte on paper. Reading all of it would take the memory or the time limit of this test.
  await file.truncate(1_000_000_000);
  await file.close();
  const before = process.memoryUsage().rss;
  const { text } = await workspace.run(readFile, { path: 'large.txt' });
  expect(text).toMatch(/\(… more follows; call again with start_line 2001\)$/);
  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
});

test('stops when the call is aborted', async () => {
  await using workspace = await temporaryWorkspace();
  await writeFile(join(workspace.cwd, 'a.txt'), 'x');
  await expect(workspace.run(readFile, { path: 'a.txt' }, AbortSignal.abort(new Error('cancelled')))).rejects.toThrow('cancelled');
});
