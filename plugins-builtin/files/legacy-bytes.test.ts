/** Public report B05: bytes that are not UTF-8 survive an edit elsewhere in the file, or the edit is refused. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryWorkspace } from '../../test/support/tool-call.ts';
import { readFile as readTool } from './read-file.ts';
import { replaceInFile } from './replace-in-file.ts';
import { writeFile as writeTool } from './write-file.ts';

const latin1 = Buffer.from('636166e920a90a', 'hex');
const shiftJis = Buffer.from('93fa967b8cea834183450a', 'hex'); // 日本語アウ: the last two end in the bytes of `A` and `E`
const gbk = Buffer.from('d6d0b9fa815c0a', 'hex'); // the last character ends in a backslash

test.each([['Latin-1', latin1], ['Shift-JIS', shiftJis], ['GBK', gbk]])('%s: an ASCII edit keeps every other byte', async (_, legacy) => {
  await using workspace = await temporaryWorkspace();
  const file = join(workspace.cwd, 'a.txt');
  await writeFile(file, Buffer.concat([legacy, Buffer.from('change me\n'), legacy]));
  const result = await workspace.run(replaceInFile, { path: 'a.txt', old_text: 'change me', new_text: 'changed' });
  expect(result.isError).toBeFalsy();
  expect(await readFile(file)).toEqual(Buffer.concat([legacy, Buffer.from('changed\n'), legacy]));
});

test.each([['old_text', 'café', 'x'], ['new_text', 'caf', 'é']])('text beyond ASCII in %s is refused', async (_, old_text, new_text) => {
  await using workspace = await temporaryWorkspace();
  const file = join(workspace.cwd, 'a.txt');
  await writeFile(file, latin1);
  const result = await workspace.run(replaceInFile, { path: 'a.txt', old_text, new_text });
  expect(result).toMatchObject({ isError: true, text: expect.stringMatching(/not UTF-8.*Nothing was written\.$/) });
  expect(await readFile(file)).toEqual(latin1);
});

test.each([['Shift-JIS', shiftJis, 'A'], ['GBK', gbk, '\\']])('%s: the second half of a character is not taken for ASCII', async (_, legacy, old_text) => {
  await using workspace = await temporaryWorkspace();
  const file = join(workspace.cwd, 'a.txt');
  await writeFile(file, legacy);
  const result = await workspace.run(replaceInFile, { path: 'a.txt', old_text, new_text: 'B' });
  expect(result).toMatchObject({ isError: true, text: expect.stringContaining('two-byte character') });
  expect(await readFile(file)).toEqual(legacy);
});

test('ASCII behind whole two-byte characters is found', async () => {
  await using workspace = await temporaryWorkspace();
  const file = join(workspace.cwd, 'a.txt');
  await writeFile(file, Buffer.from('93fa967b41424320', 'hex'));
  expect((await workspace.run(replaceInFile, { path: 'a.txt', old_text: 'ABC', new_text: 'x' })).isError).toBeFalsy();
  expect(await readFile(file)).toEqual(Buffer.from('93fa967b7820', 'hex'));
});

test('a whole-file write does not turn shown U+FFFD into bytes', async () => {
  await using workspace = await temporaryWorkspace();
  const file = join(workspace.cwd, 'a.txt');
  await writeFile(file, latin1);
  const shown = await workspace.run(readTool, { path: 'a.txt' });
  expect(shown.text).toContain('     1\tcaf\uFFFD \uFFFD\n(not a UTF-8 file');
  const refused = await workspace.run(writeTool, { path: 'a.txt', content: 'caf\uFFFD \uFFFD\nmore\n' });
  expect(refused).toMatchObject({ isError: true, text: expect.stringMatching(/destroy.*Nothing was written\.$/) });
  expect(await readFile(file)).toEqual(latin1);
  expect((await workspace.run(writeTool, { path: 'a.txt', content: 'café ©\n' })).text).toContain('The old content was not UTF-8; the new one is.');
});
