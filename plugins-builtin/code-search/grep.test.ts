/** Every case runs with the built-in search, and with ripgrep where this machine has one. */
import { execFileSync } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryWorkspace } from '../../test/support/tool-call.ts';
import { grep } from './grep.ts';
import { limiter } from './limiter.ts';
import { findRipgrep } from './ripgrep.ts';
import { mostThreads } from './thread-search.ts';
import { plant } from './tree.testing.ts';

const searchPath = process.env['PATH'] ?? '';
const hasRipgrep = (await findRipgrep(searchPath, '/nowhere')) !== undefined;
const engines: [name: string, path: string][] = [['built-in search', ''], ...(hasRipgrep ? [['ripgrep', searchPath] satisfies [string, string]] : [])];

describe.each(engines)('%s', (_, path) => {
  const tool = grep(() => path, limiter(mostThreads));

  async function search(files: Readonly<Record<string, string | Uint8Array>>, input: object): Promise<string[]> {
    await using workspace = await temporaryWorkspace();
    await plant(workspace.cwd, files);
    return (await workspace.run(tool, input)).text.split('\n');
  }

  const tree = {
    'b.ts': 'let x = 1;\nfind me\n',
    'src/a.ts': 'nothing\r\nfind me\r\nand Find ME\r\n',
    '.hidden/c.md': 'find me',
    '.git/config': 'find me',
    'a/.gitignore': '*.log\n',
    'a/hidden.log': 'find me\n',
    'b/seen.log': 'find me\n',
  };

  test('answers path, line and text in path order', async () => {
    expect(await search(tree, { pattern: 'find me$' })).toEqual(['.hidden/c.md:1: find me', 'b/seen.log:1: find me', 'b.ts:2: find me', 'src/a.ts:2: find me']);
  });

  test('ignores case, by option and in the pattern', async () => {
    const lines = ['src/a.ts:2: find me', 'src/a.ts:3: and Find ME'];
    expect(await search(tree, { pattern: 'FIND me', path: 'src', ignore_case: true })).toEqual(lines);
    expect(await search(tree, { pattern: '(?i)FIND me', path: 'src' })).toEqual(lines);
  });

  test.each([
    ['*.ts', ['b.ts:2: find me', 'src/a.ts:2: find me']],
    ['./src/**', ['src/a.ts:2: find me']],
    ['*.{md,log}', ['.hidden/c.md:1: find me', 'b/seen.log:1: find me']],
    ['hidden.log', ['No line matches find me in the workspace (hidden.log).']],
  ])('searches the files of the glob %s', async (glob, lines) => {
    expect(await search(tree, { pattern: 'find me', glob })).toEqual(lines);
  });

  test('searches one file, even an ignored one', async () => {
    expect(await search(tree, { pattern: 'find', path: 'a/hidden.log' })).toEqual(['a/hidden.log:1: find me']);
    expect(await search(tree, { pattern: 'find', path: 'src/a.ts' })).toEqual(['src/a.ts:2: find me']);
  });

  test('parent ignore files count in a sub-folder, deeper ones override them', async () => {
    const files = { '.gitignore': '*.log\n/pkg/dist\n', 'pkg/.gitignore': '!keep.log\n', 'pkg/keep.log': 'x', 'pkg/other.log': 'x', 'pkg/dist/a.js': 'x', 'pkg/a.js': 'x' };
    expect(await search(files, { pattern: 'x', path: 'pkg' })).toEqual(['pkg/a.js:1: x', 'pkg/keep.log:1: x']);
    expect(await search(files, { pattern: 'x', path: 'pkg/dist' })).toEqual(['pkg/dist/a.js:1: x']);
    expect(await search(files, { pattern: 'x' })).toEqual(['pkg/a.js:1: x', 'pkg/keep.log:1: x']);
  });

  test('ignore files above the workspace do not count', async () => {
    await using outer = await temporaryWorkspace();
    await plant(outer.cwd, { '.gitignore': '*\n', 'inner/a.ts': 'x\n' });
    const call = outer.call();
    const cwd = join(outer.cwd, 'inner');
    expect(await tool.run({ pattern: 'x' } as never, { ...call, session: { ...call.session, cwd }, resolve: async () => cwd })).toEqual({ text: 'a.ts:1: x' });
  });

  test('without any ignore file node_modules is left out, and said so', async () => {
    const lines = await search({ 'a.js': 'x', 'node_modules/b.js': 'x' }, { pattern: 'x' });
    expect(lines).toEqual(['a.js:1: x', '(node_modules: not searched, because there is no .gitignore (give it as path to search it))']);
  });

  test('stops at the limit, and says so', async () => {
    const files = { 'a.txt': 'x\n'.repeat(150), 'b.txt': 'x\n' };
    const lines = await search(files, { pattern: 'x' });
    expect(lines).toHaveLength(101);
    expect(lines.at(-1)).toBe('(stopped after 100 matches; narrow the pattern, path or glob, or raise max_results)');
    expect(await search(files, { pattern: 'x', max_results: 151 })).toHaveLength(151);
  });

  test('cuts long lines around the match', async () => {
    const [line = ''] = await search({ 'a.js': `${'é'.repeat(5000)}needle${'b'.repeat(5000)}\n` }, { pattern: 'needle' });
    expect(line).toMatch(/^a\.js:1: …é+needleb+…$/);
    expect(line.length).toBeLessThan(520);
  });

  test('a pattern is no option, and no option is a pattern', async () => {
    expect(await search({ 'a.txt': '--files\n' }, { pattern: '--files' })).toEqual(['a.txt:1: --files']);
  });

  test('looks ahead', async () => {
    expect(await search(tree, { pattern: 'find(?= me)', path: 'src' })).toEqual(['src/a.ts:2: find me']);
  });

  test('binary files are left out, other encodings are read', async () => {
    const utf16 = Buffer.from('\uFEFFfind größe\r\n', 'utf16le');
    const lines = await search({ bin: Buffer.from('find\0'), 'u.txt': utf16, 'l.txt': Buffer.from('find gr\xf6\xdfe\n', 'latin1') }, { pattern: 'find' });
    expect(lines).toEqual(['l.txt:1: find gr\uFFFD\uFFFDe', 'u.txt:1: find größe']);
  });

  test('neither follows links nor stops at pipes', async () => {
    await using workspace = await temporaryWorkspace();
    await plant(workspace.cwd, { 'a/x.txt': 'find' });
    await symlink('..', join(workspace.cwd, 'a/up'));
    await symlink('/etc/passwd', join(workspace.cwd, 'a/passwd'));
    execFileSync('mkfifo', [join(workspace.cwd, 'pipe')]);
    expect((await workspace.run(tool, { pattern: 'find|root' })).text).toBe('a/x.txt:1: find');
  });

  test('a malformed pattern and a missing folder are observations', async () => {
    await using workspace = await temporaryWorkspace();
    await plant(workspace.cwd, { 'a.txt': 'x' });
    expect(await workspace.run(tool, { pattern: 'a(' })).toMatchObject({ isError: true, text: expect.stringMatching(/regular expression|regex parse error/) });
    expect((await workspace.run(tool, { pattern: 'x', path: 'none' })).text).toMatch(/^none cannot be searched: it does not exist\./);
    expect(await workspace.run(tool, { pattern: 'y' })).toEqual({ text: 'No line matches y in the workspace.' });
  });

  test('stops when the call is aborted', async () => {
    await using workspace = await temporaryWorkspace();
    await plant(workspace.cwd, { 'a.txt': 'x' });
    await expect(workspace.run(tool, { pattern: 'x' }, AbortSignal.abort(new Error('cancelled')))).rejects.toThrow();
  });
});
