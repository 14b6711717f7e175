import { chmodSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../test/support/boot.ts';
import { writeAtomic } from './atomic-write.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const mode = (file: string): number => statSync(file).mode & 0o777;

test('a new file is for its owner alone, and so are its folders', () => {
  writeAtomic(join(folder, 'a', 'b'), 'x');
  expect([mode(join(folder, 'a')), mode(join(folder, 'a', 'b'))]).toEqual([0o700, 0o600]);
});

test.each([0o644, 0o664, 0o400])('a file of mode %o keeps it, through a link too', (kept) => {
  const file = join(folder, 'file');
  writeFileSync(file, 'old');
  chmodSync(file, kept);
  symlinkSync(file, join(folder, 'link'));
  writeAtomic(join(folder, 'link'), 'new');
  expect([readFileSync(file, 'utf8'), mode(file), readdirSync(folder)]).toEqual(['new', kept, ['file', 'link']]);
});

test('what cannot be written is as it was', () => {
  writeFileSync(join(folder, 'file'), 'old');
  expect(() => writeAtomic(join(folder, 'file', 'below'), 'new')).toThrow('cannot be written');
  expect([readFileSync(join(folder, 'file'), 'utf8'), readdirSync(folder)]).toEqual(['old', ['file']]);
});
