/** Lock files, with other processes: one holder, no two heirs, nothing of anybody else's is removed. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stopwatch, temporaryFolder } from '../test/support/boot.ts';
import { claimLock, holdLock } from './lock-file.ts';

let folder: string;
let lock: string;
beforeEach(() => {
  folder = temporaryFolder();
  lock = join(folder, 'data', 'x.lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const dead = (): number => Number(execFileSync(process.execPath, ['-e', 'console.log(process.pid)'], { encoding: 'utf8' }));
const module = JSON.stringify(new URL('./lock-file.ts', import.meta.url).href);
const other = (code: string) => spawn(process.execPath, ['--input-type=module', '-e', `import { claimLock, holdLock } from ${module}; import fs from 'node:fs'; ${code}`], { stdio: ['ignore', 'inherit', 'inherit'] });

test('is held by one, named to others, and gone when released', () => {
  const release = holdLock(lock, 'x');
  expect(claimLock(lock)).toEqual({ pid: process.pid });
  expect(() => holdLock(lock, 'the file')).toThrow(`the file is being written by process ${process.pid}`);
  expect(statSync(lock).mode & 0o777).toBe(0o600);
  release();
  expect(readdirSync(join(folder, 'data'))).toEqual([]);
});

test('only one\'s own is released', () => {
  const release = holdLock(lock, 'x');
  writeFileSync(lock, '{"pid":1}');
  release();
  expect(readFileSync(lock, 'utf8')).toBe('{"pid":1}');
});

test('waits as long as it is told', () => {
  const release = holdLock(lock, 'x');
  const time = stopwatch();
  expect(() => holdLock(lock, 'x', 200)).toThrow('is being written by');
  expect(time()).toBeGreaterThanOrEqual(190);
  release();
});

test.each([
  ['a dead process', () => JSON.stringify({ pid: dead(), started: '1' })],
  ['a dead process, by an older version', () => String(dead())],
  ['its own process id, used before', () => JSON.stringify({ pid: process.pid, started: '1' })],
  ['nobody, empty', () => ''],
  ['nobody, torn', () => '{"pid":'],
  ['nobody, a group of processes', () => '{"pid":-1}'],
  ['nobody, null', () => 'null'],
])('the lock of %s is taken over', (_, content) => {
  holdLock(lock, 'x')();
  writeFileSync(lock, content());
  const release = holdLock(lock, 'x');
  expect(JSON.parse(readFileSync(lock, 'utf8'))).toMatchObject({ pid: process.pid });
  release();
  expect(readdirSync(join(folder, 'data'))).toEqual([]);
});

test('of many that find the same dead one, one at a time holds it', async () => {
  holdLock(lock, 'x')();
  const trail = join(folder, 'trail');
  appendFileSync(trail, '');
  const gone = dead();
  const code = `
    for (let n = 0; n < 20; n++) {
      const release = holdLock(${JSON.stringify(lock)}, 'x', 20_000);
      fs.appendFileSync(${JSON.stringify(trail)}, '(');
      for (const end = performance.now() + 1; performance.now() < end;);
      fs.appendFileSync(${JSON.stringify(trail)}, ')');
      // Every other time as one that died with it.
      if (n % 2) release();
      else fs.writeFileSync(${JSON.stringify(lock)}, JSON.stringify({ pid: ${gone}, claim: process.pid + '-' + n }));
    }`;
  const children = Array.from({ length: 6 }, () => other(code));
  expect(await Promise.all(children.map((child) => once(child, 'exit')))).toEqual(children.map(() => [0, null]));
  expect(readFileSync(trail, 'utf8')).toBe('()'.repeat(120));
});

test('an heir that died while it took over is taken over too', async () => {
  const first = other(`claimLock(${JSON.stringify(lock)}); process.kill(process.pid, 'SIGKILL');`);
  await once(first, 'exit');
  const { createHash } = await import('node:crypto');
  const digest = createHash('sha256').update(readFileSync(lock)).digest('hex').slice(0, 12);
  writeFileSync(`${lock}.${digest}`, JSON.stringify({ pid: dead() }));
  holdLock(lock, 'x')();
  expect(existsSync(lock)).toBe(false);
  expect(existsSync(`${lock}.${digest}`)).toBe(false);
});
