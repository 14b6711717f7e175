import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, expect, test } from 'vitest';
import { escapes, importClosure, relativeImports } from './imports.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'newt-imports-')));
});

const write = (path: string, text = ''): string => {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
};

test('every way to import by path is found, with its line', () => {
  const file = write(
    'index.ts',
    [
      'import zod from "zod";',
      'import a from \'./a.ts\';',
      'import \'./side.js\';',
      'export * from "../up.ts";',
      'const b = await import(/* why */ \'./b.mjs\');',
      'const c = require( "./c" );',
      'const d = import(`./d.ts`);',
      'import {',
      '  e,',
      '} from // note',
      '  \'./e.ts\';',
      `import '${pathToFileURL('/etc/f.js').href}'; import '/etc/g.js'; import '.';`,
    ].join('\n'),
  );
  expect(relativeImports(file).map(({ specifier, line }) => [specifier, line])).toEqual([
    ['./a.ts', 2],
    ['./side.js', 3],
    ['../up.ts', 4],
    ['./b.mjs', 5],
    ['./c', 6],
    ['./d.ts', 7],
    ['./e.ts', 10],
    ['file:///etc/f.js', 12],
    ['/etc/g.js', 12],
    ['.', 12],
  ]);
});

test.each([
  ['./x', 'x.ts'],
  ['./x', 'x.mjs'],
  ['./x', 'x/index.ts'],
  ['./x.js', 'x.ts'],
  ['./x.mjs', 'x.mts'],
  ['./x.ts?fresh', 'x.ts'],
  ['./x.json', 'x.json'],
])('%s is resolved to %s', (specifier, path) => {
  const file = write(path);
  expect(relativeImports(write('index.ts', `import '${specifier}'`))[0]?.resolved).toBe(file);
});

test('the closure follows imports through cycles and names every file once', () => {
  const entry = write('z.ts', 'import "./a.ts"; import "./data.json"; import "./missing.ts";');
  const a = write('a.ts', 'import "./sub/b.ts"');
  const b = write('sub/b.ts', 'import "../z.ts"; import "../a.ts"');
  const data = write('data.json', '{"from": "./a.ts"}');
  expect(importClosure(entry)).toEqual([entry, a, data, b]);
});

test('an import that leaves the root is named with file and line', () => {
  write('scripts/x.ts');
  const entry = write('.agent/plugins/git.ts', 'import "./lib.ts"');
  const lib = write('.agent/plugins/lib.ts', '\nimport "../ok.ts"\nimport "../../scripts/x.ts"');
  write('.agent/ok.ts');
  expect(escapes(entry, join(root, '.agent'))).toEqual({ file: lib, line: 3, specifier: '../../scripts/x.ts' });
  expect(escapes(entry, root)).toBeUndefined();
});

test('absolute paths, file URLs, links and targets not there yet leave the root too', () => {
  const outside = write('x.ts');
  symlinkSync(outside, join(dirname(write('in/ok.ts')), 'link.ts'));
  for (const specifier of [outside, pathToFileURL(outside).href, './link.ts', '../later.ts', 'file://%zz']) {
    expect(escapes(write('in/index.ts', `import '${specifier}'`), join(root, 'in')), specifier).toMatchObject({ specifier });
  }
  expect(escapes(write('in/index.ts', `import '${join(root, 'in/ok.ts')}'`), join(root, 'in'))).toBeUndefined();
});

test('an entry that is itself a link out of the root is an escape', () => {
  const outside = write('x.ts');
  mkdirSync(join(root, 'in'));
  symlinkSync(outside, join(root, 'in/x.ts'));
  expect(escapes(join(root, 'in/x.ts'), join(root, 'in'))).toBeDefined();
});

const twoMegabytes = (unit: string, end = ''): string => unit.repeat(2_000_000 / unit.length) + end;

test.each([
  ['comments', `import ${twoMegabytes('/**/')} x`],
  ['a comment never closed', twoMegabytes('import/*')],
  ['comments within one', twoMegabytes('import/*', '*/')],
  ['comments that begin inside of each other', twoMegabytes('import/*import/**/')],
  ['lines of comment', `from ${twoMegabytes('//\n')} x`],
  ['a line of comment', twoMegabytes('import//')],
  ['lines of comment that end in a word', twoMegabytes('//import\n')],
  ['the word', twoMegabytes('import ')],
  ['blanks', `import${twoMegabytes(' ')}(\t`],
  ['brackets', twoMegabytes('import(')],
  ['a name', `import '${twoMegabytes('./')}`],
  ['words in a name', twoMegabytes("import'@a")],
])('no source makes the scan slow: %s', (_, text) => {
  const file = write('a.ts', text);
  const started = process.hrtime.bigint();
  relativeImports(file);
  expect(Number(process.hrtime.bigint() - started) / 1e6).toBeLessThan(2_000);
});

test('a gap is left where it ends, whatever was looked at ahead of it', () => {
  const paths = (text: string) => relativeImports(write('a.ts', text)).map(({ specifier }) => specifier);
  expect(paths("import/*1 import/*x*//*2*/'./a'")).toEqual(['./a', './a']);
  expect(paths("import/*import'./b'*/ // from\n'./c'")).toEqual(['./c', './b', './c']);
  expect(paths("import/*")).toEqual([]);
});

test('what is too large to be looked at is refused, and so are imports without end', () => {
  expect(() => escapes(write('a.ts', ' '.repeat(4_000_001)), root)).toThrow(/a\.ts is larger than 4 MB/);
  expect(() => escapes(write('b.ts', "import'fs';".repeat(50_001)), root)).toThrow(/more than 50000 imports/);
});

test('a package that the repository answers for leaves the trusted folder', () => {
  const repository = realpathSync(mkdtempSync(join(tmpdir(), 'packages-')));
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(repository, name)), { recursive: true });
    writeFileSync(join(repository, name), text);
    return join(repository, name);
  };
  const root = join(repository, '.agent');
  write('node_modules/outside/index.js', '');
  write('node_modules/@scope/outside/index.js', '');
  write('.agent/node_modules/inside/index.js', '');
  write('package.json', '{ "imports": { "#own": "./evil.js" } }');
  const entry = write('.agent/plugins/x.ts', "import { z } from 'zod';\nimport 'node:fs';\nimport fs from 'fs';\nimport 'inside';\nimport 'nowhere';\n");
  expect(escapes(entry, root)).toBeUndefined();
  for (const [line, specifier] of [["import 'outside';", 'outside'], ["await import('outside/deep.js');", 'outside'], ["require('@scope/outside');", '@scope/outside'], ["import '#own';", '#own']] as const) {
    write('.agent/plugins/x.ts', `import 'inside';\n${line}\n`);
    expect(escapes(entry, root)).toEqual({ file: entry, line: 2, specifier });
  }
});
