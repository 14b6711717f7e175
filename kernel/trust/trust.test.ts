import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { openTrust, type Trust } from './trust.ts';

let root: string;
let file: string;
let folder: string;
let trust: Trust;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'newt-trust-')));
  file = join(root, 'config', 'trust.json');
  folder = join(root, 'repo', '.agent');
  trust = openTrust(file, () => Date.UTC(2026, 0, 2));
});

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};

test('a folder that is missing or holds no file is nothing to trust', () => {
  expect(trust.status(folder)).toEqual({ status: 'nothing-to-trust' });
  mkdirSync(join(folder, 'plugins'), { recursive: true });
  expect(trust.status(folder).status).toBe('nothing-to-trust');
  expect(() => trust.grant(folder)).toThrow('nothing to trust');
});

test('trust is granted once, for this content, until it is revoked', () => {
  write('config.yaml', 'theme: dark');
  expect(trust.status(folder).status).toBe('untrusted');
  trust.grant(folder);
  expect(openTrust(file).status(folder).status).toBe('trusted');
  expect(trust.list()).toEqual([{ folder, digest: trust.status(folder).digest, granted: '2026-01-02T00:00:00.000Z' }]);
  write('plugins/new.ts', '');
  expect(trust.status(folder).status).toBe('changed');
  rmSync(join(folder, 'plugins/new.ts'));
  expect(trust.status(folder).status).toBe('trusted');
  expect(trust.revoke(folder)).toBe(true);
  expect(trust.revoke(folder)).toBe(false);
  expect(trust.status(folder).status).toBe('untrusted');
});

test('a nested node_modules is content like any other', () => {
  write('plugins/a/node_modules/.cache/x.js', '1');
  trust.grant(folder);
  write('plugins/a/node_modules/.cache/x.js', '2');
  expect(trust.status(folder).status).toBe('changed');
});

test('the same content elsewhere is another folder, the same folder through a link is not', () => {
  write('config.yaml', 'theme: dark');
  trust.grant(folder);
  symlinkSync(join(root, 'repo'), join(root, 'link'));
  expect(trust.status(join(root, 'link', '.agent')).status).toBe('trusted');
  renameSync(join(root, 'repo'), join(root, 'moved'));
  expect(trust.status(join(root, 'moved', '.agent')).status).toBe('untrusted');
});

test('what changed between showing and granting is not trusted', () => {
  write('a.ts', '1');
  const { digest } = trust.status(folder);
  write('a.ts', '2');
  expect(() => trust.grant(folder, digest)).toThrow('changed since it was shown');
  expect(trust.status(folder).status).toBe('untrusted');
});

test('a link that leaves the folder, even to nothing, is never trusted', () => {
  write('a.ts', '1');
  symlinkSync('a.ts', join(folder, 'inside.ts'));
  trust.grant(folder);
  for (const target of ['../outside.ts', '/etc/passwd', root]) {
    symlinkSync(target, join(folder, 'out.ts'));
    expect(trust.status(folder)).toEqual({ status: 'untrusted', reason: 'out.ts is a link that leaves the folder' });
    expect(() => trust.grant(folder)).toThrow('leaves the folder');
    rmSync(join(folder, 'out.ts'));
  }
});

test('the store is written for the person only, and keeps other folders', () => {
  write('a.ts', '1');
  trust.grant(folder);
  const other = join(root, 'other', '.agent');
  mkdirSync(other, { recursive: true });
  writeFileSync(join(other, 'b.ts'), '');
  trust.grant(other);
  expect(trust.list()).toHaveLength(2);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
});

test.each(['', '{', '[]', '{"version":2,"folders":{}}', '{"version":1,"folders":{"/x":true}}'])('a damaged store (%s) trusts nothing and is set aside', (text) => {
  write('a.ts', '1');
  trust.grant(folder);
  writeFileSync(file, text);
  expect(trust.status(folder).status).toBe('untrusted');
  expect(existsSync(file)).toBe(false);
  expect(readFileSync(`${file}.corrupt`, 'utf8')).toBe(text);
  trust.grant(folder);
  expect(trust.status(folder).status).toBe('trusted');
});

test('a folder named like a prototype member is looked up safely', () => {
  mkdirSync(dirname(file));
  writeFileSync(file, '{"version":1,"folders":{"__proto__":{"digest":"x","granted":"y"}}}');
  expect(trust.list().every((record) => typeof record.digest === 'string')).toBe(true);
});

test('grants given at once in several processes are all kept', async () => {
  const folders = Array.from({ length: 8 }, (_, n) => join(root, `repo${n}`, '.agent'));
  for (const one of folders) {
    mkdirSync(one, { recursive: true });
    writeFileSync(join(one, 'a.ts'), '');
  }
  const code = (one: string): string => `const { openTrust } = await import(${JSON.stringify(new URL('./trust.ts', import.meta.url).href)}); openTrust(${JSON.stringify(file)}).grant(${JSON.stringify(one)});`;
  const children = folders.map((one) => spawn(process.execPath, ['--input-type=module', '-e', code(one)], { stdio: ['ignore', 'ignore', 'inherit'] }));
  await Promise.all(children.map((child) => once(child, 'exit')));
  expect(trust.list().map((record) => record.folder).sort()).toEqual(folders);
  expect(existsSync(`${file}.lock`)).toBe(false);
});
