import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readRegistries, registryOf } from './registries.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'newt-home-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const fallback = 'http://usual.invalid/';
const of = (name: string, stated: readonly string[] = []): string => registryOf(name, readRegistries(stated, home), fallback);

it('is the one npm is set to, by its variable or the file; ours outranks both', () => {
  expect(of('x')).toBe(fallback);
  writeFileSync(join(home, '.npmrc'), '# mine\nregistry = http://file.invalid/npm\n');
  expect(of('x')).toBe('http://file.invalid/npm/');
  expect(of('x', ['http://variable.invalid'])).toBe('http://variable.invalid/');
  expect(of('x', ['http://ours.invalid/', 'http://variable.invalid'])).toBe('http://ours.invalid/');
});

it('asks for a private scope where it is private, whatever else is set', () => {
  writeFileSync(join(home, '.npmrc'), '@acme:registry=https://private.invalid/\n');
  expect(of('@acme/x', ['http://ours.invalid/'])).toBe('https://private.invalid/');
  expect(of('@acme-two/x')).toBe(fallback);
});

it('takes addresses alone: no user, no password, no token, no other protocol', () => {
  writeFileSync(join(home, '.npmrc'), '//file.invalid/:_authToken=secret\nregistry=http://ann:secret@file.invalid/npm?key=secret#secret\n');
  expect(of('x')).toBe('http://file.invalid/npm/');
  writeFileSync(join(home, '.npmrc'), 'registry=file:///etc\n');
  expect(of('x', ['not a url', 'ftp://x.invalid'])).toBe(fallback);
});
