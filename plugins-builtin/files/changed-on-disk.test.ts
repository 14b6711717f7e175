/** Public report B09: what somebody else changes between read and write is noticed; a mere `touch` is not a change. */
import { readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryWorkspace } from '../../test/support/tool-call.ts';
import { readFile as readTool } from './read-file.ts';
import { replaceInFile } from './replace-in-file.ts';
import { writeFile as writeTool } from './write-file.ts';

async function changeSecretly(file: string, content: string): Promise<void> {
  const { atime, mtime } = await stat(file);
  await writeFile(file, content);
  await utimes(file, atime, mtime);
}

test('an edit keeps the other change, with the same size and time, and says so', async () => {
  await using workspace = await temporaryWorkspace();
  const file = join(workspace.cwd, 'a.txt');
  await writeFile(file, 'one\ntwo\n');
  await workspace.run(readTool, { path: 'a.txt' });
  await changeSecretly(file, 'ONE\ntwo\n');
  const result = await workspace.run(replaceInFile, { path: 'a.txt', old_text: 'two', new_text: 'TWO' });
  expect(result.text).toBe('Replaced 1 occurrence in a.txt (line 2). Note: the file had changed on disk since you read it; the other changes were kept.');
  expect(await readFile(file, 'utf8')).toBe('ONE\nTWO\n');
  const overwrite = await workspace.run(writeTool, { path: 'a.txt', content: 'one\nTWO\n' });
  expect(overwrite.isError).toBe(true);
});

test('a whole-file write is refused until the file was read again', async () => {
  await using workspace = await temporaryWorkspace();
  const file = join(workspace.cwd, 'a.txt');
  await writeFile(file, 'one\ntwo\n');
  await workspace.run(readTool, { path: 'a.txt' });
  await changeSecretly(file, 'ONE\ntwo\n');
  const refused = await workspace.run(writeTool, { path: 'a.txt', content: 'mine\n' });
  expect(refused).toEqual({ isError: true, text: 'a.txt has changed on disk since you read it. Read it again, then write with those changes in mind. Nothing was written.' });
  expect(await readFile(file, 'utf8')).toBe('ONE\ntwo\n');
  await workspace.run(readTool, { path: 'a.txt', end_line: 1 });
  expect((await workspace.run(writeTool, { path: 'a.txt', content: 'mine\n' })).text).toBe('Wrote 1 line (5 bytes) to a.txt.');
});

test('touch is no change, and neither are our own writes', async () => {
  await using workspace = await temporaryWorkspace();
  const file = join(workspace.cwd, 'a.txt');
  await writeFile(file, 'one\n');
  await workspace.run(readTool, { path: 'a.txt' });
  await utimes(file, 1, 1);
  expect((await workspace.run(replaceInFile, { path: 'a.txt', old_text: 'one', new_text: 'two' })).text).not.toContain('changed on disk');
  expect((await workspace.run(writeTool, { path: 'a.txt', content: 'three\n' })).text).toBe('Wrote 1 line (6 bytes) to a.txt.');
  expect((await workspace.run(replaceInFile, { path: 'a.txt', old_text: 'three', new_text: 'four' })).text).not.toContain('changed on disk');
});

test('a file the session never read may be replaced, and the result says what is gone', async () => {
  await using workspace = await temporaryWorkspace();
  await writeFile(join(workspace.cwd, 'a.txt'), 'one\ntwo\nthree');
  const result = await workspace.run(writeTool, { path: 'a.txt', content: 'x' });
  expect(result.text).toBe('Wrote 1 line (1 byte) to a.txt. It replaced 3 lines that you had not read.');
});
