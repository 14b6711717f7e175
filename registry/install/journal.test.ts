import { appendFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { note, openChanges, readJournal } from './journal.ts';

let folder: string;
let journal: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'newt-journal-'));
  journal = join(folder, 'plugins', 'journal.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = '2026-01-02T03:04:05.000Z';

it('tells which changes were begun and not closed, past what was torn', () => {
  note(journal, { at, change: 'a', state: 'begun', plugin: 'x' });
  note(journal, { at, change: 'a', state: 'done' });
  appendFileSync(journal, '{"at":"2026\n');
  note(journal, { at, change: 'b', state: 'begun', plugin: 'y' });
  appendFileSync(journal, '{"change":"c","state":"be');
  expect(openChanges(journal).map(({ change }) => change)).toEqual(['b']);
});

it('does not grow for ever', () => {
  const filler = 'x'.repeat(2_000);
  for (let index = 0; index < 400; index += 1) note(journal, { at, change: `${index}`, state: 'done', plugin: filler });
  expect(statSync(journal).size).toBeLessThan(300_000);
  expect(readJournal(journal).at(-1)).toMatchObject({ change: '399' });
});
