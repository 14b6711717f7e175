import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { maxInputBytes, readAll } from './standard-input.ts';
import { testTerminal } from './terminal.testing.ts';

test('everything up to the end, as UTF-8 across chunks', async () => {
  const bytes = Buffer.from('\ufeffAあB');
  const stdin = Readable.from([bytes.subarray(0, 5), bytes.subarray(5), Buffer.from([0xff])]);
  expect(await readAll(stdin, 1_000)).toBe('AあB\ufffd');
});

test('an open pipe that says nothing is given up, and does not end the process later', async () => {
  const stdin = new PassThrough();
  expect(await readAll(stdin, 1)).toBeUndefined();
  expect(stdin.isPaused()).toBe(true);
  expect(() => stdin.emit('error', new Error('late'))).not.toThrow();
});

test('what began in time is read to its end', async () => {
  const stdin = new PassThrough();
  const read = readAll(stdin, 5);
  stdin.write('begin ');
  setTimeout(() => stdin.end('end'), 20);
  expect(await read).toBe('begin end');
});

test('more than 10 MB is refused', async () => {
  const stdin = Readable.from([Buffer.alloc(maxInputBytes), Buffer.alloc(1)]);
  await expect(readAll(stdin, 1_000)).rejects.toThrow('larger than 10 MB');
});

test('a folder as standard input is said to be none', async () => {
  const stdin = new Readable({ read: () => stdin.destroy(new Error('EISDIR: illegal operation on a directory, read')) });
  await expect(readAll(stdin, 1_000)).rejects.toThrow('standard input cannot be read: EISDIR');
});

test('a terminal is not read', async () => {
  const { streams, terminal } = testTerminal();
  Object.assign(streams.stdin, { isTTY: true });
  expect(await terminal.input()).toBeUndefined();
});
