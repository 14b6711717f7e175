import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseSource } from './source.ts';

const catalog = { git: { package: '@newt/git', folder: 'git', description: '', keywords: [], capabilities: [] } };
const before = process.cwd();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'newt-source-'));
  process.chdir(folder);
  mkdirSync(join(folder, 'git'));
  mkdirSync(join(folder, 'mine'));
  writeFileSync(join(folder, 'mine', 'x.tgz'), '');
});
afterEach(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

describe('a source', () => {
  it.each([
    ['git', { kind: 'catalog', name: 'git', folder: 'git', package: '@newt/git' }],
    ['git@*', { kind: 'npm', name: 'git', range: '*' }],
    ['agent-plugin-x', { kind: 'npm', name: 'agent-plugin-x', range: '' }],
    ['agent-plugin-x@^1.2', { kind: 'npm', name: 'agent-plugin-x', range: '^1.2' }],
    ['agent-plugin-x@>=1 <3', { kind: 'npm', name: 'agent-plugin-x', range: '>=1 <3' }],
    ['mine@*', { kind: 'npm', name: 'mine', range: '*' }],
    ['@acme/x', { kind: 'npm', name: '@acme/x', range: '' }],
    ['@acme/x@1.2.3', { kind: 'npm', name: '@acme/x', range: '1.2.3' }],
  ])('%j is what it says', (given, source) => {
    expect(parseSource(given, catalog)).toEqual(source);
  });

  it.each(['./mine', 'mine/', 'mine', './git', '.'])('%j is a folder', (given) => {
    expect(parseSource(given, catalog)).toMatchObject({ kind: 'folder' });
  });

  it.each(['./mine/x.tgz', 'mine/x.tgz'])('%j is a tarball', (given) => {
    expect(parseSource(given, catalog)).toMatchObject({ kind: 'tarball' });
  });

  it.each([
    ['x.tgz', /does not exist/],
    ['x@latest', /no version and no range/],
    ['x@npm:y@1', /another name/],
    ['@acme', /no name of a package/],
    ['a b', /no name of a package/],
    ['someone/thing', /does not exist/],
    ['git+ssh://git@example.org/x', /git address/],
    ['https://example.org/x.tgz', /is an address/],
    ['file:./mine', /give the path itself/],
    ['__proto__', /no name of a package/],
    ['constructor/../x', /does not exist/],
  ])('%j is refused', (given, reason) => {
    expect(() => parseSource(given, catalog)).toThrow(reason);
  });
});
