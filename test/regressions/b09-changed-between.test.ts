/**
 * B09: a file that changed between read and edit is overwritten, or a touched one is refused for ever.
 * With the same size and time, and for edits: `plugins-builtin/files/changed-on-disk.test.ts`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, openStage, rounds } from '../support/stage.ts';

const read = call('read_file', { path: 'f.txt' });
const command = (text: string) => call('run_command', { command: text });

test('another change of the file survives an edit, and a whole-file write is refused once', async () => {
  const write = call('write_file', { path: 'f.txt', content: 'mine\n' });
  await using on = await openStage(
    rounds(
      read,
      command("touch -r f.txt before; sed -i 's/theirs/THEIRS/' f.txt; touch -r before f.txt"),
      call('replace_in_file', { path: 'f.txt', old_text: 'mine', new_text: 'MINE' }),
      command("sed -i 's/THEIRS/again/' f.txt"),
      write,
      read,
      write,
    ),
  );
  on.place.write({ 'f.txt': 'theirs\nmine\n' });
  await on.run();
  const [, , edit, , refused, seen, written] = on.answers();
  expect(edit?.isError).toBe(false);
  expect(refused).toMatchObject({ isError: true, text: expect.stringMatching(/changed/) as string });
  expect(seen?.text).toMatch(/again[^]*MINE/);
  expect(written?.isError).toBe(false);
  expect(readFileSync(join(on.place.workspace, 'f.txt'), 'utf8')).toBe('mine\n');
});

test('a touched file whose content is the same is no change', async () => {
  await using on = await openStage(rounds(read, command('touch -d 2030-01-01 f.txt'), call('write_file', { path: 'f.txt', content: 'new\n' })));
  on.place.write({ 'f.txt': 'old\n' });
  await on.run();
  expect(on.answers()[2]).toMatchObject({ isError: false });
});
