/** Includes public report B19: `./`, the base of a pattern, nested ignore files. */
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryWorkspace } from '../../test/support/tool-call.ts';
import { glob } from './glob.ts';
import { plant } from './tree.testing.ts';

const tree = { 'src/root.ts': '', 'src/.hidden.ts': '', 'pkg/src/inner.ts': '', 'a/.gitignore': '*.log\n', 'a/hidden.log': '', 'b/seen.log': '' };

test.each([
  ['a leading ./ means nothing', { pattern: './src/root*.ts' }, ['src/root.ts']],
  ['hidden files match', { pattern: 'src/*.ts' }, ['src/.hidden.ts', 'src/root.ts']],
  ['the pattern begins at path', { pattern: 'src/**/*.ts', path: 'pkg' }, ['pkg/src/inner.ts']],
  ['so does ./', { pattern: './**/*.ts', path: './pkg/' }, ['pkg/src/inner.ts']],
  ['an ignore file rules below its folder only', { pattern: '**/*.log' }, ['b/seen.log']],
  ['braces', { pattern: '{src,pkg/src}/{root,inner}.ts' }, ['pkg/src/inner.ts', 'src/root.ts']],
  ['a plain path', { pattern: 'src/root.ts' }, ['src/root.ts']],
  ['nothing from the names of parent folders', { pattern: 'src/**', path: 'src' }, ['No files match src/** in src. Only files are matched, not folders, and ignored files are left out.']],
])('%s', async (_, input, lines) => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, tree);
  expect((await workspace.run(glob, input)).text.split('\n')).toEqual(lines);
});

test('an absolute pattern below the searched folder is understood', async () => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, tree);
  expect((await workspace.run(glob, { pattern: join(workspace.cwd, 'src', 'root.*') })).text).toBe('src/root.ts');
});

test.each(['/etc/*', '../*', 'a/../../*'])('the pattern %s is refused', async (pattern) => {
  await using workspace = await temporaryWorkspace();
  expect(await workspace.run(glob, { pattern })).toMatchObject({ isError: true, text: expect.stringContaining('leaves the searched folder') });
});

test('git means nothing: a repository gives the same answer', async () => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, { ...tree, '.git/config': '', '.git/x.log': '', 'sub/.git': 'gitdir: elsewhere', 'sub/y.log': '' });
  expect((await workspace.run(glob, { pattern: '**/*.log' })).text).toBe('b/seen.log\nsub/y.log');
});

test('parent ignore files count down from the workspace, deeper ones override, and an ignored folder can be asked for', async () => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, {
    '.gitignore': '*.log\n/build/\n/pkg/gen/*/\n',
    'pkg/.gitignore': '!keep.log\n!gen/kept/\n/only-here.txt\n   \n/\n',
    'pkg/keep.log': '',
    'pkg/other.log': '',
    'pkg/only-here.txt': '',
    'pkg/deep/only-here.txt': '',
    'pkg/gen/kept/file.txt': '',
    'pkg/gen/lost/file.txt': '',
    'build/out.txt': '',
    'other/build/out.txt': '',
  });
  const names = async (input: object): Promise<string[]> => (await workspace.run(glob, input)).text.split('\n');
  expect(await names({ pattern: '**/*.{log,txt}' })).toEqual(['other/build/out.txt', 'pkg/deep/only-here.txt', 'pkg/gen/kept/file.txt', 'pkg/keep.log']);
  expect(await names({ pattern: '**/*.{log,txt}', path: 'pkg' })).toEqual(['pkg/deep/only-here.txt', 'pkg/gen/kept/file.txt', 'pkg/keep.log']);
  expect(await names({ pattern: '**', path: 'build' })).toEqual(['build/out.txt']);
});

test('ignore files above the workspace do not count', async () => {
  await using outer = await temporaryWorkspace();
  await plant(outer.cwd, { '.gitignore': '*\n', 'src/app/a.ts': '' });
  const call = outer.call();
  const inner = { ...call, session: { ...call.session, cwd: join(outer.cwd, 'src/app') }, resolve: async () => join(outer.cwd, 'src/app') };
  expect(await glob.run({ pattern: '**' } as never, inner)).toEqual({ text: 'a.ts' });
});

test('folders with special names keep their own ignore files', async () => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, { 'a[b]*?/.gitignore': 'x\n', 'a[b]*?/x': '', 'a[b]*?/y': '', 'ab/x': '', '!c #d/.gitignore': '*.log', '!c #d/x.log': '', '!c #d/y': '' });
  expect((await workspace.run(glob, { pattern: '**/[xy]*' })).text).toBe('!c #d/y\na[b]*?/y\nab/x');
});

test('without any ignore file node_modules is left out, and said so', async () => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, { 'a.js': '', 'node_modules/x/a.js': '' });
  expect((await workspace.run(glob, { pattern: '**/*.js' })).text).toBe('a.js\n(node_modules: not searched, because there is no .gitignore (give it as path to search it))');
  expect((await workspace.run(glob, { pattern: '**/*.js', path: 'node_modules' })).text).toBe('node_modules/x/a.js');
  await plant(workspace.cwd, { '.gitignore': '*.log' });
  expect((await workspace.run(glob, { pattern: '**/*.js' })).text).toBe('a.js\nnode_modules/x/a.js');
});

test('no line of an ignore file takes long', async () => {
  await using workspace = await temporaryWorkspace();
  const deep = `${'a/'.repeat(100)}${'a'.repeat(200)}`;
  await plant(workspace.cwd, { '.gitignore': [`${'**/a/'.repeat(12)}b`, `${'*a'.repeat(12)}b`, `${'*[ab]?'.repeat(12)}c`].join('\n'), [deep]: '' });
  const begun = performance.now();
  expect((await workspace.run(glob, { pattern: '**' })).text).toBe(`.gitignore\n${deep}`);
  expect(performance.now() - begun).toBeLessThan(2_000);
});

test('links are named but not followed, circles included', async () => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, { 'a/x.ts': '' });
  await symlink('..', join(workspace.cwd, 'a/up'));
  await symlink('x.ts', join(workspace.cwd, 'a/y.ts'));
  expect((await workspace.run(glob, { pattern: '**' })).text).toBe('a/up\na/x.ts\na/y.ts');
});

test('counts what it does not list', async () => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, Object.fromEntries(Array.from({ length: 503 }, (_, index) => [`f${index}`, ''])));
  const lines = (await workspace.run(glob, { pattern: '*' })).text.split('\n');
  expect(lines).toHaveLength(501);
  expect(lines.at(-1)).toBe('(… 3 more files; narrow the pattern or the path)');
});

test('a missing folder, a file and an aborted call', async () => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, { 'a.ts': '' });
  await mkdir(join(workspace.cwd, 'empty'));
  expect((await workspace.run(glob, { pattern: '*', path: 'none' })).text).toBe('none cannot be searched: it does not exist. Find the right path with list_directory or glob.');
  expect(await workspace.run(glob, { pattern: '*', path: 'a.ts' })).toMatchObject({ isError: true, text: expect.stringMatching(/^a\.ts is a file\./) });
  await expect(workspace.run(glob, { pattern: '*' }, AbortSignal.abort(new Error('cancelled')))).rejects.toThrow('cancelled');
});
