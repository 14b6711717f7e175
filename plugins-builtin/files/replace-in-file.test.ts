import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryWorkspace } from '../../test/support/tool-call.ts';
import { replaceInFile } from './replace-in-file.ts';

async function edit(content: string, input: { old_text: string; new_text: string; replace_all?: boolean }) {
  await using workspace = await temporaryWorkspace();
  const file = join(workspace.cwd, 'a.txt');
  await writeFile(file, content);
  const result = await workspace.run(replaceInFile, { path: 'a.txt', ...input });
  return { ...result, after: await readFile(file, 'utf8') };
}

test('replaces the one occurrence and keeps the mode', async () => {
  await using workspace = await temporaryWorkspace();
  const file = join(workspace.cwd, 'a.sh');
  await writeFile(file, 'one\ntwo\nthree\n');
  await chmod(file, 0o755);
  expect(await workspace.run(replaceInFile, { path: 'a.sh', old_text: 'two\n', new_text: '' })).toEqual({ text: 'Replaced 1 occurrence in a.sh (line 2).' });
  expect(await readFile(file, 'utf8')).toBe('one\nthree\n');
  expect((await stat(file)).mode & 0o777).toBe(0o755);
});

test('replaces all', async () => {
  const result = await edit('a b\na\nb a\n', { old_text: 'a', new_text: 'aa', replace_all: true });
  expect(result).toEqual({ text: 'Replaced 3 occurrences in a.txt (lines 1, 2, 3).', after: 'aa b\naa\nb aa\n' });
});

test.each([
  ['LF stands for CRLF', 'a\r\nb\r\nc\r\n', 'a\nb', 'x\ny\nz', 'x\r\ny\r\nz\r\nc\r\n'],
  ['new lines take the ending of their line', 'a\r\nb\r\n', 'b', 'b\nc', 'a\r\nb\r\nc\r\n'],
  ['also in the last line, which has none', 'a\r\nb', 'b', 'b\nc', 'a\r\nb\r\nc'],
  ['in a mixed file each place keeps its own', 'a\r\nb\nc\n', 'b', 'b\nd', 'a\r\nb\nd\nc\n'],
  ['CRLF in new_text is meant', 'a\nb\n', 'a\nb', 'a\r\nb', 'a\r\nb\n'],
])('line endings: %s', async (_, before, old_text, new_text, after) => {
  expect(await edit(before, { old_text, new_text })).toMatchObject({ after });
});

test.each([
  ['empty old_text', 'x', '', 'y', /^old_text is empty\./],
  ['equal texts', 'x', 'x', 'x', /^old_text and new_text are the same\./],
  ['half a surrogate pair', 'x', 'x', '\ud83d', /surrogate pair/],
  ['no change but for line endings', 'a\r\nb\r\n', 'a\r\nb', 'a\nb', /would change nothing/],
  ['two occurrences', 'x\ny\nx\n', 'x', 'z', /^old_text occurs 2 times in a\.txt, in lines 1, 3\. Add lines around it until it is unique, or set replace_all\./],
  ['overlapping occurrences', 'aaa', 'aa', 'b', /occurs 2 times/],
])('refuses %s', async (_, before, old_text, new_text, text) => {
  const result = await edit(before, { old_text, new_text });
  expect(result).toEqual({ isError: true, text: expect.stringMatching(text), after: before });
  expect(result.text).toMatch(/Nothing was written\.$/);
});

const source = 'import x from "y";\n\nfunction total(items) {\n\tlet sum = 0;\n\tfor (const item of items) sum += item.price;\n\treturn sum;\n}\n';

test('not found: names the nearest line and the first difference', async () => {
  const { text } = await edit(source, { old_text: 'function total(items) {\n    let sum = 0;', new_text: '' });
  expect(text).toBe(
    [
      'old_text was not found in a.txt. Nearest is line 3. First difference in line 4, column 1 (only white space differs):',
      '  file:     "\\tlet sum = 0;"',
      '  old_text: "    let sum = 0;"',
      'Nothing was written.',
    ].join('\n'),
  );
});

test('not found: finds a line that is only similar', async () => {
  const { text } = await edit(source, { old_text: 'for (const item of items) sum += item.cost;', new_text: '' });
  expect(text).toContain('Nearest is line 5. First difference in line 5, column 1:');
});

test.each([
  ['old_text has the gutter of read_file', source, '     4\t\tlet sum = 0;\n     5\t\tfor', /line numbers that read_file shows; leave them out/],
  ['old_text has CRLF', 'a\nb\n', 'a\r\nb', /old_text has CRLF line endings, the file has LF/],
  ['nothing similar', 'abc\n', 'xyzzy', /No line of the file is similar/],
  ['empty file', '', 'x', /The file is empty/],
  ['the file ends early', 'one long line\n', 'one long line\nmore\nand more', /First difference in line 2/],
  ['several places', 'if (a) {\nif (a) {\n', 'if (a) {\n  x', /Nearest is line 1 \(equally near: line 2\)/],
])('not found: %s', async (_, before, old_text, text) => {
  expect(await edit(before, { old_text, new_text: '' })).toMatchObject({ isError: true, text: expect.stringMatching(text), after: before });
});

test('a missing file is an observation', async () => {
  await using workspace = await temporaryWorkspace();
  const result = await workspace.run(replaceInFile, { path: 'none', old_text: 'a', new_text: 'b' });
  expect(result).toEqual({ isError: true, text: 'none does not exist. Find the right path with list_directory or glob. Nothing was written.' });
});

test('previews the difference, or why there will be none', async () => {
  await using workspace = await temporaryWorkspace();
  await writeFile(join(workspace.cwd, 'a.txt'), 'one\n');
  expect(await workspace.preview(replaceInFile, { path: 'a.txt', old_text: 'one', new_text: 'two' })).toBe('--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n-one\n+two');
  expect(await workspace.preview(replaceInFile, { path: 'a.txt', old_text: 'two', new_text: 'one' })).toMatch(/^This edit will fail: old_text was not found/);
});
