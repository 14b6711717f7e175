/** The journal of faults: bounded, shared, and never in the way of a run. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/support/boot.ts';
import type { Fault } from './fault.ts';
import { FaultJournal, forgetFaults, journalFolder, pluginsWithFaults, sourceLine } from './fault-journal.ts';

const fault = (n: number, more: Partial<Fault> = {}): Fault => ({ kind: 'threw', plugin: 'bad', tier: 'global', where: 'hook x', message: `cause ${n}`, place: undefined, fingerprint: `print-${n}`, at: n, action: 'contained', next: '', ...more });
const open = (folder: string) => new FaultJournal(folder, () => undefined);
const count = (journal: FaultJournal) => journal.read('bad').map(({ fingerprint, count: times, first, last }) => [fingerprint, times, first, last]);

test('a failure is one record, over runs and agents, with its first and last time', () => {
  const folder = temporaryFolder();
  const one = open(folder);
  one.note(fault(1, { at: 10 }));
  one.note(fault(1, { at: 20 }));
  const other = open(folder);
  other.note(fault(1, { at: 15 }));
  other.note(fault(2, { at: 30, action: 'off' }));
  one.flush();
  other.flush();
  expect(count(open(folder))).toEqual([['print-2', 1, 30, 30], ['print-1', 3, 10, 20]]);
});

test('the line of the source is noted as it was', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'plugin.ts');
  writeFileSync(file, 'one\ntwo\nthree\n');
  const journal = new FaultJournal(join(folder, 'faults'), () => file);
  journal.note(fault(1, { place: { file: 'plugin.ts', line: 2, column: 1 } }));
  writeFileSync(file, 'all else\n');
  journal.flush();
  expect(open(join(folder, 'faults')).read('bad')).toMatchObject([{ file: 'plugin.ts', line: 2, column: 1, source: 'two' }]);
});

test('a storm is written a few times, and at most fifty failures of a plugin are kept: the latest', () => {
  const folder = temporaryFolder();
  const journal = open(folder);
  let writes = 0;
  let before = 0;
  for (let n = 1; n <= 2_000; n += 1) {
    journal.note(fault(n % 400, { at: n }));
    const at = statSync(join(folder, 'bad.json')).ino;
    if (at !== before) writes += 1;
    before = at;
  }
  expect(writes).toBeLessThanOrEqual(64);
  journal.flush();
  const kept = open(folder).read('bad');
  expect(kept).toHaveLength(50);
  expect(kept[0]).toMatchObject({ last: 2_000 });
  expect(readdirSync(folder)).toEqual(['bad.json']);
});

test('what is damaged is an empty one; what cannot be written is remembered for the run', () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'bad.json'), '[{"fingerprint": 1}, 7, {"half');
  const journal = open(folder);
  expect(journal.read('bad')).toEqual([]);
  const blocked = join(folder, 'blocked');
  mkdirSync(blocked);
  writeFileSync(join(blocked, 'faults'), 'a file where the folder should be');
  const mute = open(join(blocked, 'faults'));
  mute.note(fault(1));
  mute.flush();
  expect(count(mute)).toEqual([['print-1', 1, 1, 1]]);
  chmodSync(folder, 0o700);
});

test('nobody’s faults have a file of their own, and an id cannot leave the folder', () => {
  const folder = temporaryFolder();
  const journal = open(folder);
  journal.note(fault(1, { plugin: undefined }));
  journal.note(fault(2, { plugin: '../../evil' }));
  expect(readdirSync(folder).sort()).toEqual(['______evil.json', '_unattributed.json']);
  expect(journal.read()).toMatchObject([{ fingerprint: 'print-1' }]);
  expect(JSON.parse(readFileSync(join(folder, '_unattributed.json'), 'utf8'))).toHaveLength(1);
});

test('of two agents the later word holds, whoever writes last', () => {
  const folder = temporaryFolder();
  const [one, other] = [open(folder), open(folder)];
  one.note(fault(1, { at: 1 }));
  other.note(fault(1, { at: 2 }));
  other.note(fault(1, { at: 12, action: 'older' }));
  one.note(fault(1, { at: 20, action: 'newer' }));
  one.flush();
  other.flush();
  expect(open(folder).read('bad')).toMatchObject([{ first: 1, last: 20, count: 4, action: 'newer' }]);
});

test('a plugin called "unattributed" has a file of its own', () => {
  const journal = open(temporaryFolder());
  journal.note(fault(1, { plugin: undefined }));
  journal.note(fault(2, { plugin: 'unattributed' }));
  expect([journal.read(), journal.read('unattributed')].map((records) => records.map(({ fingerprint }) => fingerprint))).toEqual([['print-1'], ['print-2']]);
});

test('a record with members of the wrong type is none', () => {
  const folder = temporaryFolder();
  const record = { fingerprint: 'x', where: 'w', kind: 'threw', cause: 'c', action: '', next: '', count: 1, first: 1, last: 1 };
  writeFileSync(join(folder, 'bad.json'), JSON.stringify([record, { ...record, source: {} }, { ...record, line: '7' }, { ...record, kind: 1 }]));
  expect(open(folder).read('bad')).toEqual([record]);
});

test('what is forgotten stays so: the counts of a run do not bring it back, a new failure does', () => {
  const state = temporaryFolder();
  const journal = open(journalFolder(state));
  journal.note(fault(1));
  journal.note(fault(1));
  journal.note(fault(1, { plugin: undefined }));
  expect(pluginsWithFaults(state)).toEqual(['bad']);
  forgetFaults(state, 'bad');
  journal.flush();
  expect(pluginsWithFaults(state)).toEqual([]);
  journal.note(fault(2));
  expect(count(open(journalFolder(state)))).toEqual([['print-2', 1, 2, 2]]);
  forgetFaults(state, 'never-there');
});

test('a line of a source comes without its line end, and not whole when it is long', () => {
  expect(['a\r\nb\r\n', 'a\nb\n'].map((text) => sourceLine(text, 2))).toEqual(['b', 'b']);
  expect(sourceLine('x'.repeat(300), 1)).toHaveLength(200);
  expect(sourceLine('x', 2)).toBeUndefined();
});
