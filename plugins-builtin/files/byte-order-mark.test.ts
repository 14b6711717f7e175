/** Public report B03: exactly one byte-order mark stays, and none appears where there was none. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryWorkspace } from '../../test/support/tool-call.ts';
import { readFile as readTool } from './read-file.ts';
import { replaceInFile } from './replace-in-file.ts';
import { writeFile as writeTool } from './write-file.ts';

const mark = '\uFEFF';

test('the first line of a marked file is read, matched and changed three times', async () => {
  await using workspace = await temporaryWorkspace();
  const file = join(workspace.cwd, 'a.txt');
  await writeFile(file, `${mark}first line\nsecond\n`);
  expect((await workspace.run(readTool, { path: 'a.txt' })).text).toBe('     1\tfirst line\n     2\tsecond');
  for (const [old_text, new_text] of [['first line', 'FIRST line'], ['FIRST line', 'First line'], [`${mark}First`, `${mark}1st`]]) {
    const result = await workspace.run(replaceInFile, { path: 'a.txt', old_text, new_text });
    expect(result.text).toBe('Replaced 1 occurrence in a.txt (line 1).');
  }
  expect(await readFile(file, 'utf8')).toBe(`${mark}1st line\nsecond\n`);
});

test.each([
  ['marked file, marked content', `${mark}old`, `${mark}new`, `${mark}new`],
  ['marked file, plain content', `${mark}old`, 'new', `${mark}new`],
  ['plain file, plain content', 'old', 'new', 'new'],
  ['no file, marked content', undefined, `${mark}new`, `${mark}new`],
  ['no file, plain content', undefined, 'new', 'new'],
])('writing: %s', async (_, before, content, after) => {
  await using workspace = await temporaryWorkspace();
  const file = join(workspace.cwd, 'a.txt');
  if (before !== undefined) await writeFile(file, before);
  await workspace.run(writeTool, { path: 'a.txt', content });
  expect(await readFile(file, 'utf8')).toBe(after);
});

test('a replacement at the start of a plain file adds no mark', async () => {
  await using workspace = await temporaryWorkspace();
  const file = join(workspace.cwd, 'a.txt');
  await writeFile(file, 'first\n');
  await workspace.run(replaceInFile, { path: 'a.txt', old_text: 'first', new_text: 'second' });
  expect(await readFile(file, 'utf8')).toBe('second\n');
});

test.each(['utf16le', 'utf16be'] as const)('a %s file stays what it is', async (encoding) => {
  await using workspace = await temporaryWorkspace();
  const file = join(workspace.cwd, 'a.txt');
  const bytes = (text: string): Buffer => (encoding === 'utf16be' ? Buffer.from(text, 'utf16le').swap16() : Buffer.from(text, 'utf16le'));
  await writeFile(file, bytes(`${mark}größe = 1\r\nあ 😀\r\n`));
  expect((await workspace.run(readTool, { path: 'a.txt' })).text).toContain('     1\tgröße = 1\n     2\tあ 😀\n');
  await workspace.run(replaceInFile, { path: 'a.txt', old_text: '1\nあ 😀', new_text: '2\nい 😀' });
  expect(await readFile(file)).toEqual(bytes(`${mark}größe = 2\r\nい 😀\r\n`));
  expect((await workspace.run(writeTool, { path: 'a.txt', content: 'é\n' })).text).toContain('stays UTF-16');
  expect(await readFile(file)).toEqual(bytes(`${mark}é\n`));
});
