/** Public report B01: `$` sequences in the new text must arrive as they are, by every way of writing. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryWorkspace } from '../../test/support/tool-call.ts';
import { replaceInFile } from './replace-in-file.ts';
import { writeFile as writeTool } from './write-file.ts';

const dollars = "log($& $$ $` $' $1 $<name>);";

test.each([false, true])('replacing with replace_all %s', async (replace_all) => {
  await using workspace = await temporaryWorkspace();
  const file = join(workspace.cwd, 'a.js');
  await writeFile(file, 'before\nlog(X);\nafter\n');
  const result = await workspace.run(replaceInFile, { path: 'a.js', old_text: 'log(X);', new_text: dollars, replace_all });
  expect(result.isError).toBeFalsy();
  expect(await readFile(file, 'utf8')).toBe(`before\n${dollars}\nafter\n`);
});

test('replacing across CRLF line ends', async () => {
  await using workspace = await temporaryWorkspace();
  const file = join(workspace.cwd, 'a.js');
  await writeFile(file, 'before\r\nlog(X);\r\nafter\r\n');
  await workspace.run(replaceInFile, { path: 'a.js', old_text: 'before\nlog(X);', new_text: `before\n${dollars}` });
  expect(await readFile(file, 'utf8')).toBe(`before\r\n${dollars}\r\nafter\r\n`);
});

test('the old text is not a pattern either', async () => {
  await using workspace = await temporaryWorkspace();
  const file = join(workspace.cwd, 'a.js');
  await writeFile(file, 'x = [a-z]+(?:$^)\\d{2}|.*;\n');
  await workspace.run(replaceInFile, { path: 'a.js', old_text: '[a-z]+(?:$^)\\d{2}|.*', new_text: '\\1' });
  expect(await readFile(file, 'utf8')).toBe('x = \\1;\n');
});

test('writing a whole file', async () => {
  await using workspace = await temporaryWorkspace();
  await workspace.run(writeTool, { path: 'a.js', content: dollars });
  expect(await readFile(join(workspace.cwd, 'a.js'), 'utf8')).toBe(dollars);
});
