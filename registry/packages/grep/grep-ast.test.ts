import { afterAll, expect, test } from 'vitest';
import { temporaryWorkspace, type Workspace } from '../../../test/support/tool-call.ts';
import { plant, startPrograms, toolsFor } from './tools.testing.ts';

const programs = startPrograms();
const { ast: tool } = toolsFor(programs);
afterAll(() => programs.dispose());

async function search(files: Readonly<Record<string, string | Uint8Array>>, input: object): Promise<string[]> {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, files);
  return (await workspace.run(tool, input)).text.split('\n');
}

const code = {
  'src/a.ts': 'class A {\n  m() { log("日本😀"); log(1, 2); }\n}\nlog(\n  x,\n  y,\n);\n// log(z)\n',
  'src/b.tsx': 'export const b = <p>{log(b)}</p>;\n',
  'src/c.js': 'log(c)\n',
  '.gitignore': 'dist\n',
  'dist/d.ts': 'log(d)\n',
};

test('a language has all of its files, and none that git would not keep', async () => {
  expect(await search(code, { pattern: 'log($A)', language: 'TypeScript' })).toEqual([
    'src/a.ts:2:9:   m() { log("日本😀"); log(1, 2); }',
    '    $A = "日本😀"',
    'src/b.tsx:1:22: export const b = <p>{log(b)}</p>;',
    '    $A = b',
  ]);
});

test('several nodes, over several lines; comments are no code', async () => {
  expect(await search(code, { pattern: 'log($$$ARGS)', path: 'src/a.ts' })).toEqual([
    'src/a.ts:2:9:   m() { log("日本😀"); log(1, 2); }',
    '    $ARGS = "日本😀"',
    'src/a.ts:2:21:   m() { log("日本😀"); log(1, 2); }',
    '    $ARGS = 1, 2',
    'src/a.ts:4:1: log( (to line 7)',
    '    $ARGS = x, y,',
  ]);
});

test('data says where a match ends, its text, its node and the captures', async () => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, code);
  expect((await workspace.run(tool, { pattern: 'log($A, $B)', path: 'src/a.ts', max_results: 1 })).data).toEqual({
    matches: [{ path: 'src/a.ts', line: 2, column: 21, endLine: 2, endColumn: 30, text: '  m() { log("日本😀"); log(1, 2); }', match: 'log(1, 2)', node: 'call_expression', captures: { A: '1', B: '2' } }],
    more: 1,
    complete: true,
    skipped: [],
  });
});

test('by kind of node, and by what is around', async () => {
  expect(await search(code, { kind: 'class_declaration', path: 'src/a.ts' })).toEqual(['src/a.ts:1:1: class A { (to line 3)']);
  expect(await search(code, { pattern: 'log($$$)', inside_kind: 'class_declaration', path: 'src/a.ts' })).toHaveLength(2);
  expect(await search(code, { pattern: 'log($A)', inside: 'class $C { $$$ }', path: 'src/a.ts' })).toEqual(['src/a.ts:2:9:   m() { log("日本😀"); log(1, 2); }', '    $A = "日本😀"', '    $C = A']);
  expect(await search(code, { kind: 'method', path: 'src/a.ts' })).toEqual(['TypeScript has no kind of node "method". Kinds are those of its tree-sitter grammar, such as the "node" of a match.']);
});

test('what it needs to know, it says', async () => {
  expect((await search(code, { pattern: 'log($A)' }))[0]).toMatch(/^A search of a folder needs language, one of javascript, typescript, /);
  expect((await search(code, { pattern: 'log($A)', language: 'typscript' }))[0]).toMatch(/^There is no language "typscript"; did you mean typescript\?/);
  expect((await search({ 'a.xyz': 'x' }, { pattern: 'x', path: 'a.xyz' }))[0]).toMatch(/^The language of a\.xyz is not known by its extension/);
  expect(await search(code, { language: 'js' })).toEqual(['Give pattern, kind, or both.']);
  expect((await search(code, { pattern: 'foo bar baz', language: 'js' }))[0]).toMatch(/^The pattern foo bar baz is no single piece of JavaScript/);
});

test('nothing found, with the reason where the pattern is half a piece of code', async () => {
  expect(await search(code, { pattern: 'nope($A)', language: 'js' })).toEqual(['Nothing in 1 javascript file of the workspace matches nope($A).']);
  expect(await search(code, { pattern: 'log($A', language: 'js' })).toEqual(['Nothing in 1 javascript file of the workspace matches log($A.', expect.stringMatching(/^The pattern log\(\$A is not complete code/)]);
});

test('bounded, binary and huge files passed over', async () => {
  const files = { 'a.js': 'f(1);\n'.repeat(30), 'b.js': Buffer.from('f(1)\0'), 'c.js': `f(${'1'.repeat(2_000_001)})` };
  expect(await search(files, { pattern: 'f($A)', language: 'js', max_results: 1 })).toEqual(['a.js:1:1: f(1);', '    $A = 1', '(29 more; narrow the pattern, path or glob, or raise max_results)', '(b.js: binary, not searched)', '(c.js: too large, not searched)']);
});

async function nested(workspace: Workspace, depth: number): Promise<string> {
  await plant(workspace.cwd, { 'a.js': `${'('.repeat(depth)}1${')'.repeat(depth)}`, 'b.js': 'f(1)' });
  return (await workspace.run(tool, { pattern: 'f($A)', language: 'js' })).text;
}

test('code nested without end takes at most the search', async () => {
  await using workspace = await temporaryWorkspace();
  expect(await nested(workspace, 200_000)).toMatch(/b\.js:1:1: f\(1\)|The search is incomplete/);
});
