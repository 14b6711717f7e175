import { execFileSync } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { ToolResult } from 'newt-agent';
import { temporaryWorkspace } from '../../../test/support/tool-call.ts';
import { plant, startPrograms, toolsFor } from './tools.testing.ts';

const programs = startPrograms();
const { text: tool } = toolsFor(programs);
afterAll(() => programs.dispose());

async function search(files: Readonly<Record<string, string | Uint8Array>>, input: object): Promise<string[]> {
  return (await result(files, input)).text.split('\n');
}

async function result(files: Readonly<Record<string, string | Uint8Array>>, input: object): Promise<ToolResult> {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, files);
  return await workspace.run(tool, input);
}

const tree = {
  'b.ts': 'let x = 1;\n  find me\n',
  'src/a.ts': 'nothing\r\nfind me\r\nand Find ME\r\n',
  '.hidden/c.md': 'find me',
  '.git/config': 'find me',
  'a/.gitignore': '*.log\n!kept.log\n',
  'a/hidden.log': 'find me\n',
  'a/kept.log': 'find me\n',
};

describe('what matches', () => {
  test('path, line and column, in path order, from what git would keep', async () => {
    expect(await search(tree, { pattern: 'find me$' })).toEqual(['.hidden/c.md:1:1: find me', 'a/kept.log:1:1: find me', 'b.ts:2:3:   find me', 'src/a.ts:2:1: find me']);
  });

  test('case, by option and in the pattern', async () => {
    const lines = ['src/a.ts:2:1: find me', 'src/a.ts:3:5: and Find ME'];
    expect(await search(tree, { pattern: 'FIND me', path: 'src', ignore_case: true })).toEqual(lines);
    expect(await search(tree, { pattern: '(?i)FIND me', path: 'src' })).toEqual(lines);
  });

  test('literal text is no pattern', async () => {
    const files = { a: 'f(x) {[-]} $^ a|b\nfx\n' };
    expect(await search(files, { pattern: 'f(x) {[-]} $^ a|b', literal: true })).toEqual(['a:1:1: f(x) {[-]} $^ a|b']);
    expect(await search(files, { pattern: '(?i)F', literal: true })).toEqual(['No line matches (?i)F in the workspace.']);
  });

  test('whole words, also beyond ASCII', async () => {
    const files = { a: 'cat cats\nconcat\nécat\n(cat)\n' };
    expect(await search(files, { pattern: 'cat', word: true })).toEqual(['a:1:1: cat cats', 'a:4:2: (cat)']);
    expect(await search(files, { pattern: 'c.t|x', word: true })).toEqual(['a:1:1: cat cats', 'a:4:2: (cat)']);
  });

  test('columns count characters: CJK and emoji are one each', async () => {
    expect(await search({ a: '日本😀 find\n' }, { pattern: 'find' })).toEqual(['a:1:5: 日本😀 find']);
    expect(await search({ a: '😀😁\n' }, { pattern: '^..$' })).toEqual(['a:1:1: 😀😁']);
  });

  test('needless escapes are forgiven, what is no pattern is said', async () => {
    expect(await search({ a: 'a-b\n' }, { pattern: 'a\\-b' })).toEqual(['a:1:1: a-b']);
    expect(await search({ a: 'a-b\n' }, { pattern: '(' })).toEqual(['( is not a regular expression: Unterminated group. Set literal to search for it as it is.']);
  });

  test('UTF-16 and a byte-order mark are read, bytes that are no UTF-8 hinder nothing', async () => {
    const files = { a: Buffer.from('\uFEFFfind é\n', 'utf16le'), b: Buffer.from('\uFEFFfind\n'), c: Buffer.from([0xe9, 0x20, ...Buffer.from('find\n')]) };
    expect(await search(files, { pattern: 'find' })).toEqual(['a:1:1: find é', 'b:1:1: find', 'c:1:3: \uFFFD find']);
  });

  test('a long line is shown around the match', async () => {
    const [line = ''] = await search({ a: `${'x'.repeat(5_000)}find${'y'.repeat(5_000)}` }, { pattern: 'find' });
    expect(line).toMatch(/^a:1:5001: …x+findy+…$/);
    expect(line.length).toBeLessThan(550);
  });
});

describe('context', () => {
  const lines = { a: '1\n2 x\n3\n4\n5 x\n6\n7\n8\n9\n10 x\n' };

  test('each line once, groups apart', async () => {
    expect(await search(lines, { pattern: 'x', context: 1 })).toEqual(['a-1- 1', 'a:2:3: 2 x', 'a-3- 3', 'a-4- 4', 'a:5:3: 5 x', 'a-6- 6', '--', 'a-9- 9', 'a:10:4: 10 x']);
  });

  test('data holds the matches alone', async () => {
    expect((await result(lines, { pattern: 'x', context: 2, max_results: 1 })).data).toEqual({ matches: [{ path: 'a', line: 2, column: 3, text: '2 x' }], more: 2, complete: true, skipped: [] });
  });
});

describe('where', () => {
  test.each([
    ['*.ts', undefined, ['b.ts:2:3:   find me', 'src/a.ts:2:1: find me']],
    [['*.md', 'src/**'], undefined, ['.hidden/c.md:1:1: find me', 'src/a.ts:2:1: find me']],
    ['./src/**/*.{ts,js}', undefined, ['src/a.ts:2:1: find me']],
    [undefined, ['src', '*.log', '.hidden/**'], ['b.ts:2:3:   find me']],
    ['!x', undefined, ['No line matches find me in the workspace (!x).']],
  ])('glob %j without %j', async (glob, exclude, lines) => {
    expect(await search(tree, { pattern: 'find me', glob, exclude })).toEqual(lines);
  });

  test('a glob that leaves the folder', async () => {
    expect(await search(tree, { pattern: 'x', glob: '../*' })).toEqual(['The pattern ../* leaves the searched folder. Give the folder as path, and a pattern relative to it.']);
  });

  test('one file, even an ignored one; an ignored folder asked for by name', async () => {
    expect(await search(tree, { pattern: 'find', path: 'a/hidden.log' })).toEqual(['a/hidden.log:1:1: find me']);
    const files = { '.gitignore': 'dist\n', 'dist/a': 'find\n', 'dist/.gitignore': 'b\n', 'dist/b': 'find\n' };
    expect(await search(files, { pattern: 'find' })).toEqual(['No line matches find in the workspace.']);
    expect(await search(files, { pattern: 'find', path: 'dist' })).toEqual(['dist/a:1:1: find']);
  });

  test('what is missing, and what lies outside', async () => {
    expect((await result({}, { pattern: 'x', path: 'gone' })).text).toMatch(/^gone cannot be searched: it does not exist/);
    expect(await result({}, { pattern: 'x', path: '/etc' })).toEqual({ text: '/etc is outside the workspace.', isError: true });
  });

  test('symbolic links are not followed, so that circles end and nothing outside is read', async () => {
    await using workspace = await temporaryWorkspace();
    await plant(workspace.cwd, { 'a/b.txt': 'root find\n' });
    await symlink('..', join(workspace.cwd, 'a/up'));
    await symlink('/etc', join(workspace.cwd, 'etc'));
    await symlink('/etc/passwd', join(workspace.cwd, 'users'));
    expect((await workspace.run(tool, { pattern: 'root' })).text).toBe('a/b.txt:1:1: root find');
  });

  test('node_modules without .gitignore are passed over, and said so', async () => {
    const files = { 'node_modules/x/a.js': 'find\n', 'a.js': 'find\n' };
    expect(await search(files, { pattern: 'find' })).toEqual(['a.js:1:1: find', '(node_modules: not searched, because there is no .gitignore (give it as path to search it))']);
    expect(await search(files, { pattern: 'find', path: 'node_modules' })).toEqual(['node_modules/x/a.js:1:1: find']);
  });
});

describe('bounds', () => {
  test('as many as asked for, and how many more', async () => {
    const files = { a: 'x\n'.repeat(50), b: 'x\n'.repeat(7) };
    expect(await search(files, { pattern: 'x', max_results: 2 })).toEqual(['a:1:1: x', 'a:2:1: x', '(55 more; narrow the pattern, path or glob, or raise max_results)']);
  });

  test('binary and huge files are passed over, and said so', async () => {
    const files = { a: Buffer.from('find\0'), b: 'x'.repeat(10_000_001), c: 'find\n', 'd.bin': Buffer.from('\0find') };
    expect(await search(files, { pattern: 'find' })).toEqual(['c:1:1: find', '(a, d.bin: binary, not searched)', '(b: too large, not searched)']);
  });

  test('a pattern that never ends is stopped, and what was found before is kept', async () => {
    await using workspace = await temporaryWorkspace();
    await plant(workspace.cwd, { 'a.txt': 'aaa\n', 'b.txt': `${'a'.repeat(60)}!\n` });
    const answer = await workspace.run(toolsFor(programs, 1).text, { pattern: '^(a+)+$' });
    expect(answer.text).toMatch(/^a\.txt:1:1: aaa\n\(The search is incomplete: it was stopped after 1 s, near [ab]\.txt\. Narrow the path or simplify the pattern\.\)$/);
    expect(answer.data).toMatchObject({ complete: false });
    const nothing = await workspace.run(toolsFor(programs, 1).text, { pattern: '^(a+)+$', path: 'b.txt' });
    expect(nothing).toMatchObject({ isError: true, text: expect.stringContaining('nothing was found until then') as string });
  });

  test('a hostile ignore file costs no more than the time of a search', async () => {
    await using workspace = await temporaryWorkspace();
    await plant(workspace.cwd, { '.gitignore': `${'*a'.repeat(40)}b\n`, [`${'a'.repeat(200)}.txt`]: 'find\n' });
    const { text } = await workspace.run(toolsFor(programs, 1).text, { pattern: 'find' });
    expect(text).toMatch(/find$|The search is incomplete: it was stopped after 1 s/);
  });

  test('a cancelled search ends at once', async () => {
    await using workspace = await temporaryWorkspace();
    await plant(workspace.cwd, { 'b.txt': `${'a'.repeat(60)}!\n` });
    const end = new AbortController();
    const answer = workspace.run(tool, { pattern: '^(a+)+$' }, end.signal);
    end.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
  });

  test.runIf(process.platform === 'linux')('a pipe blocks nothing', async () => {
    await using workspace = await temporaryWorkspace();
    execFileSync('mkfifo', [join(workspace.cwd, 'pipe'), join(workspace.cwd, '.gitignore')]);
    await plant(workspace.cwd, { a: 'find\n' });
    expect((await workspace.run(tool, { pattern: 'find' })).text).toBe('a:1:1: find');
    expect((await workspace.run(tool, { pattern: 'find', path: 'pipe' })).text).toBe('pipe is neither a folder nor a regular file.');
  });

  test.runIf(process.platform === 'linux')('a name cannot look like more results', async () => {
    expect(await search({ 'a\nb:1:1: fake': 'find\n' }, { pattern: 'find' })).toEqual(['"a\\nb:1:1: fake":1:1: find']);
  });
});
