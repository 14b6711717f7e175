/** Results too large to show: nothing of them is lost, and what is shown is well formed. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/support/boot.ts';
import { fitResult } from './spill.ts';

let base: string;
let folder: string;
beforeEach(() => {
  base = temporaryFolder();
  folder = join(base, 'session.files');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const limit = 50_000;
/** What of the text is shown before and after the note, and how much the note says is left out. */
function parts(shown: string): { head: string; tail: string; left: number } {
  const found = /^(.*)\n… (\d+) characters are left out[^\n]*…\n(.*)$/su.exec(shown);
  if (!found) throw new Error(`no note in ${shown.slice(0, 100)}`);
  const [, head = '', left, tail = ''] = found;
  return { head, tail, left: Number(left) };
}

test('a result that fits is shown as it is, and kept nowhere', async () => {
  for (const text of ['', 'short', 'x'.repeat(limit)]) expect(await fitResult(text, folder, 'c')).toEqual({ text });
  expect(statSync(folder, { throwIfNoEntry: false })).toBe(undefined);
});

test('a larger one is whole in a file of its owner, and head and tail are shown', async () => {
  const text = Array.from({ length: 20_000 }, (_, n) => `line ${n}`).join('\n');
  const { text: shown, spilled = '' } = await fitResult(text, folder, 'call_1-run_command');
  expect(spilled).toBe(join(folder, 'call_1-run_command.txt'));
  expect(readFileSync(spilled, 'utf8')).toBe(text);
  expect([statSync(spilled).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700]);
  const { head, tail, left } = parts(shown);
  expect(shown).toContain(spilled);
  expect(head.split('\n')[0]).toBe('line 0');
  expect(tail.split('\n').at(-1)).toBe('line 19999');
  // Lines are not cut in the middle.
  expect(text).toContain(`${head}\n`);
  expect(text).toContain(`\n${tail}`);
  expect(head.length + left + tail.length).toBe(text.length);
  expect(shown.length).toBeLessThan(limit + 300);
});

test('names are made safe, and two results never share a file', async () => {
  const long = (mark: string): string => mark.repeat(limit + 1);
  const files = new Set<string>();
  for (const [name, mark] of [['../../up', 'a'], ['a.b', 'b'], ['a_b', 'c'], ['a/b', 'd'], ['', 'e'], ['x'.repeat(5_000), 'f'], ['x'.repeat(5_001), 'g']] as const) {
    const { spilled = '' } = await fitResult(long(mark), folder, name);
    expect(dirname(spilled), name).toBe(folder);
    files.add(spilled);
    for (const file of files) expect(readFileSync(file, 'utf8').length).toBe(limit + 1);
    expect(readFileSync(spilled, 'utf8')).toBe(long(mark));
  }
  expect(files.size).toBe(7);
});

test('where it cannot be kept, that is said, and the run goes on', async () => {
  writeFileSync(folder, 'a file in the way');
  const { text: shown, spilled } = await fitResult('y'.repeat(limit * 2), folder, 'c');
  expect(spilled).toBe(undefined);
  expect(shown).toContain('could not be kept');
  const { head, tail, left } = parts(shown);
  expect(head.length + left + tail.length).toBe(limit * 2);
});

test('whatever the text: a prefix and a suffix of it, without halves of characters', async () => {
  const unit = fc.constantFrom('\n', 'a', '😀', '한', 'x'.repeat(1_999), '\r\n', '👩‍👩‍👧');
  await fc.assert(
    fc.asyncProperty(fc.array(unit, { minLength: 1, maxLength: 40 }), fc.integer({ min: 0, max: 3 }), async (units, shift) => {
      const text = 'a'.repeat(shift) + units.join('').repeat(Math.ceil((limit + 10) / units.join('').length));
      const { text: shown, spilled = '' } = await fitResult(text, folder, 'c');
      const { head, tail, left } = parts(shown);
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
      expect(head.length + left + tail.length).toBe(text.length);
      expect(shown.isWellFormed()).toBe(true);
      expect(readFileSync(spilled, 'utf8')).toBe(text);
    }),
    { numRuns: 30 },
  );
});
