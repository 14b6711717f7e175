/**
 * B07: of several edits of one file in one answer the last writer wins, though all report success. Calls are
 * serialised by real path. That four edits and a symlink all count is in `test/e2e/tasks.test.ts`.
 */
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, openStage, rounds } from '../support/stage.ts';

test('a conflicting pair: the second is told, and its file is not half changed', async () => {
  const edit = (new_text: string) => call('replace_in_file', { path: 'f.txt', old_text: 'one', new_text });
  await using on = await openStage(rounds([edit('first'), edit('second')]));
  on.place.write({ 'f.txt': 'one\ntwo\n' });
  await on.run();
  expect(on.answers()).toMatchObject([{ isError: false }, { isError: true }]);
  expect(readFileSync(join(on.place.workspace, 'f.txt'), 'utf8')).toBe('first\ntwo\n');
});

test('an edit, a write through a symlink and a read keep the order of the calls', async () => {
  await using on = await openStage(
    rounds([
      call('read_file', { path: 'f.txt' }),
      call('replace_in_file', { path: 'f.txt', old_text: 'one', new_text: 'ONE' }),
      call('replace_in_file', { path: 'link.txt', old_text: 'two', new_text: 'TWO' }),
      call('read_file', { path: 'f.txt' }),
    ]),
  );
  on.place.write({ 'f.txt': 'one\ntwo\n' });
  symlinkSync('f.txt', join(on.place.workspace, 'link.txt'));
  await on.run();
  const [before, , , after] = on.answers();
  expect(before?.text).toMatch(/one[^]*two/);
  expect(after?.text).toMatch(/ONE[^]*TWO/);
});
