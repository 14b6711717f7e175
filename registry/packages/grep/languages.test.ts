/** Each language that comes with the plugin, by parsing a piece of it: what is not here is not promised. */
import { afterAll, expect, test } from 'vitest';
import { temporaryWorkspace } from '../../../test/support/tool-call.ts';
import { languages } from './languages.ts';
import { plant, startPrograms, toolsFor } from './tools.testing.ts';

const programs = startPrograms();
const { ast, rewrite } = toolsFor(programs);
afterAll(() => programs.dispose());

interface Sample {
  readonly file: string;
  readonly code: string;
  readonly pattern: string;
  /** Line and column of the match. */
  readonly at: string;
  readonly captures: Readonly<Record<string, string>>;
}

const samples: Readonly<Record<string, Sample>> = {
  javascript: { file: 'a.jsx', code: 'const a = (\n  <b>{log(x /* the x */, 1)}</b>\n);\n', pattern: 'log($A, $B)', at: '2:7', captures: { A: 'x', B: '1' } },
  typescript: { file: 'a.ts', code: 'const n: number = log(x as T, 1)!;\n', pattern: 'log($A, $B)', at: '1:19', captures: { A: 'x as T', B: '1' } },
  tsx: { file: 'a.tsx', code: 'const n: Node = <b>{log(x!, 1)}</b>;\n', pattern: 'log($$$ALL)', at: '1:21', captures: { ALL: 'x!, 1' } },
  html: { file: 'a.html', code: '<ul>\n  <li class="x">hi</li>\n</ul>\n', pattern: '<li $$$A>$B</li>', at: '2:3', captures: { A: 'class="x"', B: 'hi' } },
  css: { file: 'a.css', code: 'a {\n  color: red;\n}\n', pattern: 'color: $C', at: '2:3', captures: { C: 'red' } },
  bash: { file: 'a.sh', code: 'if true; then\n  echo "$HOME" two\nfi\n', pattern: 'echo $A $B', at: '2:3', captures: { A: '"$HOME"', B: 'two' } },
  c: { file: 'a.c', code: 'int main() {\n  printf("%d", x);\n}\n', pattern: 'printf($F, $A)', at: '2:3', captures: { F: '"%d"', A: 'x' } },
  cpp: { file: 'a.cpp', code: 'int main() {\n  std::sort(v.begin(), v.end());\n}\n', pattern: 'std::sort($A, $B)', at: '2:3', captures: { A: 'v.begin()', B: 'v.end()' } },
  dart: { file: 'a.dart', code: 'void main() {\n  print(x);\n}\n', pattern: 'print($A);', at: '2:3', captures: { A: 'x' } },
  elixir: { file: 'a.ex', code: 'defmodule M do\n  def f(x), do: IO.puts(x)\nend\n', pattern: 'IO.puts($A)', at: '2:17', captures: { A: 'x' } },
  go: { file: 'a.go', code: 'package m\n\nfunc f() { fmt.Println(x, 1) }\n', pattern: 'fmt.Println($A, $B)', at: '3:12', captures: { A: 'x', B: '1' } },
  java: { file: 'A.java', code: 'class A {\n  void m() { System.out.println(x); }\n}\n', pattern: 'System.out.println($A)', at: '2:14', captures: { A: 'x' } },
  json: { file: 'a.json', code: '{"a": 1,\n "b": [2]}\n', pattern: '[$A]', at: '2:7', captures: { A: '2' } },
  lua: { file: 'a.lua', code: 'local a = f(x, 1)\n', pattern: 'f($A, $B)', at: '1:11', captures: { A: 'x', B: '1' } },
  markdown: { file: 'a.md', code: 'text\n\n# Title\n', pattern: '# $A', at: '3:1', captures: { A: 'Title' } },
  php: { file: 'a.php', code: '<p><?php\necho foo($x, 1);\n', pattern: 'foo($A, $B)', at: '2:6', captures: { A: '$x', B: '1' } },
  python: { file: 'a.py', code: 'def g():\n    log("é😀",\n        1)\n', pattern: 'log($A, $B)', at: '2:5', captures: { A: '"é😀"', B: '1' } },
  ruby: { file: 'a.rb', code: 'def g\n  puts(x, 1)\nend\n', pattern: 'puts($A, $B)', at: '2:3', captures: { A: 'x', B: '1' } },
  rust: { file: 'a.rs', code: 'fn main() { foo(x, 1); }\n', pattern: 'foo($A, $B)', at: '1:13', captures: { A: 'x', B: '1' } },
  toml: { file: 'a.toml', code: '[a]\nb = 1\n', pattern: 'b = $A', at: '2:1', captures: { A: '1' } },
  yaml: { file: 'a.yml', code: 'a: 1\nb:\n  - c: 2\n', pattern: 'c: $A', at: '3:5', captures: { A: '2' } },
};

test.for(Object.entries(samples))('%s', async ([language, { file, code, pattern, at, captures }]) => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, { [file]: code, 'other.txt': code });
  const found = await workspace.run(ast, { pattern, language });
  expect(found).toMatchObject({ data: { matches: [{ path: file, captures }], complete: true } });
  expect(found.text).toMatch(new RegExp(`^${file}:${at}: `));
  // By its extension alone, and rewritten by what was captured.
  const [name = ''] = Object.keys(captures);
  const shown = await workspace.run(rewrite, { pattern, path: file, replacement: `ZZ(${name === 'ALL' ? '$$$ALL' : `$${name}`})` });
  expect(shown.text).toMatch(new RegExp(`^1 place in 1 file`));
  expect(shown.text).toContain(`ZZ(${captures[name] ?? ''})`);
});

test('at least 20 languages come with the plugin, and each of them is proved here', async () => {
  const { default: manifest } = await import('./package.json', { with: { type: 'json' } });
  const shipped = languages.filter(({ grammars }) => grammars.every(({ package: from }) => from === undefined || Object.hasOwn(manifest.dependencies, from))).map(({ names }) => names[0]);
  expect(shipped.sort()).toEqual(Object.keys(samples).sort());
  // TSX is a grammar of its own, and no language of its own.
  expect(shipped.filter((name) => name !== 'tsx').length).toBeGreaterThanOrEqual(20);
});

test('a language whose package is not there is said with what to do', async () => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, { 'a.swift': 'print(x)\n' });
  const { text, isError } = await workspace.run(ast, { pattern: 'print($A)', path: 'a.swift' });
  expect(isError).toBe(true);
  expect(text).toContain('swift needs the package @ast-grep/lang-swift, which is not installed.');
  expect(text).toContain('npm install --ignore-scripts --prefix <folder> @ast-grep/lang-swift');
});

test('a package of the workspace is not loaded: a repository brings no native code', async () => {
  await using workspace = await temporaryWorkspace();
  await plant(workspace.cwd, { 'a.swift': 'print(x)\n', 'node_modules/@ast-grep/lang-swift/package.json': '{"name":"@ast-grep/lang-swift"}', 'node_modules/@ast-grep/lang-swift/parser.so': 'native' });
  expect((await workspace.run(ast, { pattern: 'print($A)', path: 'a.swift' })).text).toContain('is not installed');
});

test('a package without a parser for this machine is refused, and crashes nothing', async () => {
  await using workspace = await temporaryWorkspace();
  await using languagesFolder = await temporaryWorkspace();
  await plant(workspace.cwd, { 'a.swift': 'print(x)\n' });
  await plant(languagesFolder.cwd, { 'node_modules/@ast-grep/lang-swift/package.json': '{"name":"@ast-grep/lang-swift"}' });
  const tools = toolsFor(programs, 20, languagesFolder.cwd);
  expect((await workspace.run(tools.ast, { pattern: 'print($A)', path: 'a.swift' })).text).toBe(`The package @ast-grep/lang-swift has no parser for ${process.platform} ${process.arch}.`);
  // A file that is no library makes ast-grep abort: that ends the search process alone.
  await plant(languagesFolder.cwd, { 'node_modules/@ast-grep/lang-swift/parser.so': 'no library' });
  const { text, isError } = await workspace.run(tools.ast, { pattern: 'print($A)', path: 'a.swift' });
  expect({ text, isError }).toEqual({ text: expect.stringMatching(/^\(The search is incomplete: its process ended .*near a\.swift\. /) as string, isError: true });
});
