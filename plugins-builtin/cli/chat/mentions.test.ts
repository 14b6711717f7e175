import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/boot.ts';
import { maxFileBytes, withMentions } from './mentions.ts';

function workspace(files: Readonly<Record<string, string | Buffer>>) {
  const root = temporaryFolder();
  const cwd = join(root, 'work');
  mkdirSync(join(cwd, 'src'), { recursive: true });
  writeFileSync(join(root, 'secret'), 'hidden');
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content);
  return cwd;
}

test('the content of a named file follows the text, once, whatever stands around the name', () => {
  const cwd = workspace({ 'src/a.ts': 'one\n', 'b c.txt': 'two' });
  const said = 'see @src/a.ts, (@src/a.ts) and @"b c.txt".';
  expect(withMentions(said, cwd)).toEqual({ text: `${said}\n\n<file path="src/a.ts">\none\n</file>\n\n<file path="b c.txt">\ntwo\n</file>`, refused: [] });
});

test.each(['me@src/a.ts', '@nobody', '@', 'a @ b', '@src', '@src/', '@deprecated.'])('%j is left as it is', (said) => {
  expect(withMentions(said, workspace({ 'src/a.ts': 'one\n' }))).toEqual({ text: said, refused: [] });
});

test('files outside of the workspace are refused, also behind a link and by an absolute path', () => {
  const cwd = workspace({});
  symlinkSync('../secret', join(cwd, 'link'));
  symlinkSync('..', join(cwd, 'up'));
  for (const name of ['../secret', 'link', 'up/secret', join(cwd, '..', 'secret'), '/etc/passwd']) {
    const { text, refused } = withMentions(`read @${name}`, cwd);
    expect(text).toBe(`read @${name}`);
    expect(refused).toEqual([`${name} is not attached: it lies outside of ${cwd}`]);
  }
});

test('a link to a file of the workspace is that file', () => {
  const cwd = workspace({ 'src/a.ts': 'one\n' });
  symlinkSync('src/a.ts', join(cwd, 'link'));
  expect(withMentions('@link', cwd).text).toContain('<file path="src/a.ts">\none\n</file>');
});

test.each([
  ['zeros', Buffer.from([1, 0, 2]), 'it is not text'],
  ['latin-1', Buffer.from([0x63, 0xe9]), 'it is not text in UTF-8'],
])('%s is refused with a line', (_, content, why) => {
  expect(withMentions('@x.bin', workspace({ 'x.bin': content }))).toEqual({ text: '@x.bin', refused: [`x.bin is not attached: ${why}`] });
});

test('what is no file is not waited for', () => {
  const cwd = workspace({});
  execFileSync('mkfifo', [join(cwd, 'pipe')]);
  expect(withMentions('@pipe', cwd).refused).toEqual(['pipe is not attached: it is no file']);
});

test('a large file is named with its size; the last that fits is whole', () => {
  const fits = 'x'.repeat(maxFileBytes - 1) + '\n';
  const cwd = workspace({ 'fits.txt': fits, 'large.txt': `${fits}\n` });
  const { text, refused } = withMentions('@large.txt @fits.txt', cwd);
  expect(text).toContain(`<file path="large.txt">\n(${maxFileBytes + 1} bytes: too large to attach. Read what you need of it with your tools.)\n</file>`);
  expect(text).toContain(`<file path="fits.txt">\n${fits}</file>`);
  expect(refused).toEqual([]);
});

test('many files are bounded together', () => {
  const names = Array.from({ length: 25 }, (_, at) => `f${at}`);
  const cwd = workspace(Object.fromEntries(names.map((name) => [name, 'y'.repeat(20_000)])));
  const { text, refused } = withMentions(names.map((name) => `@${name}`).join(' '), cwd);
  expect(text.length).toBeLessThan(210_000);
  expect(text.match(/too large to attach/g)).toHaveLength(10);
  expect(refused).toHaveLength(5);
});
