import { chmodSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { digestFile, digestFolder, digestPlugin } from './digest.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'newt-digest-')));
});

const write = (path: string, text: string): string => {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
};

test('a file\'s digest is the SHA-256 of its content', () => {
  expect(digestFile(write('a', 'abc'))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(digestFile(write('big', 'x'.repeat(200_000)))).toHaveLength(64);
});

test('a folder\'s digest depends on paths, contents and link targets, not on the order of creation, times or modes', () => {
  write('one/b.ts', 'b');
  write('one/sub/a.ts', 'a');
  write('two/sub/a.ts', 'a');
  write('two/b.ts', 'b');
  chmodSync(join(root, 'two/b.ts'), 0o755);
  const digest = digestFolder(join(root, 'one'));
  expect(digestFolder(join(root, 'two'))).toBe(digest);
  write('two/b.ts', 'c');
  expect(digestFolder(join(root, 'two'))).not.toBe(digest);
  write('two/b.ts', 'b');
  symlinkSync('b.ts', join(root, 'two/link.ts'));
  const linked = digestFolder(join(root, 'two'));
  expect(linked).not.toBe(digest);
  write('two/link.ts', 'through the link');
  expect(digestFolder(join(root, 'two'))).not.toBe(linked);
});

test('content cannot pass for a path', () => {
  write('one/a', 'x\n["b","file","');
  write('two/a', 'x');
  write('two/b', '');
  expect(digestFolder(join(root, 'one'))).not.toBe(digestFolder(join(root, 'two')));
});

test('what is skipped does not count', () => {
  write('keep', '1');
  const digest = digestFolder(root);
  write('sub/drop', '2');
  expect(digestFolder(root, { skip: (path) => path === 'sub/drop' })).toBe(digest);
});

test('a folder that is too large is refused before it is read', () => {
  truncateSync(write('huge', ''), 300_000_000);
  expect(() => digestFolder(root)).toThrow(expect.objectContaining({ code: 'ARGUMENT' }));
});

test('of a plugin folder count its files and the lock of its dependency tree', () => {
  const entry = write('index.ts', 'export {}');
  const plain = digestPlugin(entry, root);
  write('node_modules/dep/index.js', '1');
  write('.git/HEAD', 'x');
  expect(digestPlugin(entry, root)).toBe(plain);
  write('node_modules/.package-lock.json', '{"lockfileVersion":3}');
  const locked = digestPlugin(entry, root);
  expect(locked).not.toBe(plain);
  write('package-lock.json', '{}');
  expect(digestPlugin(entry, root)).not.toBe(locked);
});

test('of a bare file count its content and its relative imports, wherever it lies', () => {
  const entry = write('one/git.ts', 'import { x } from \'./lib/x.ts\';');
  write('one/lib/x.ts', 'export const x = 1;');
  write('one/other.ts', '1');
  write('two/git.ts', 'import { x } from \'./lib/x.ts\';');
  write('two/lib/x.ts', 'export const x = 1;');
  const digest = digestPlugin(entry);
  expect(digestPlugin(join(root, 'two/git.ts'))).toBe(digest);
  write('one/other.ts', '2');
  expect(digestPlugin(entry)).toBe(digest);
  write('one/lib/x.ts', 'export const x = 2;');
  expect(digestPlugin(entry)).not.toBe(digest);
});
