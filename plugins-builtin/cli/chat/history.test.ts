import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/boot.ts';
import { maxEntries, openHistory } from './history.ts';

const place = (): string => join(temporaryFolder(), 'state', 'chat-history.jsonl');

test('what was typed is there for the next chat, in its order, for this user alone', () => {
  const file = place();
  const history = openHistory(file);
  for (const text of ['one', 'two\nlines', 'two\nlines', '中文 "quoted"']) expect(history.add(text)).toBeUndefined();
  expect(openHistory(file).entries).toEqual(['one', 'two\nlines', '中文 "quoted"']);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test.each(['', '  ', ' a blank in front', '\tor a tab', 'x'.repeat(10_001)])('%j is not kept', (text) => {
  const file = place();
  openHistory(file).add(text);
  expect(openHistory(file).entries).toEqual([]);
});

test('a long file becomes short at the next start, and stays private; torn lines are left out', () => {
  const file = place();
  openHistory(file).add('first');
  writeFileSync(file, `${Array.from({ length: 600 }, (_, at) => JSON.stringify(`entry ${at}`)).join('\n')}\n{"a":1}\n"torn`);
  expect(openHistory(file).entries).toEqual(Array.from({ length: maxEntries }, (_, at) => `entry ${600 - maxEntries + at}`));
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(maxEntries + 1);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('where it cannot be kept, that is told', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'file'), '');
  expect(openHistory(join(folder, 'file', 'history')).add('text')).toMatch(/ENOTDIR|EEXIST/);
});
