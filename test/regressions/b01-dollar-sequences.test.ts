/**
 * B01: `$` sequences of the new text are expanded, so that the file gets half of itself pasted in. From the
 * words of the model to the bytes on disk; every way to match is in `plugins-builtin/files/dollar-sequences.test.ts`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, openStage, rounds } from '../support/stage.ts';

const newText = "log($& $$ $` $' $1);";

test('replaced once, replaced everywhere and written whole, the bytes are the text', async () => {
  await using on = await openStage(
    rounds(
      [call('replace_in_file', { path: 'one.js', old_text: 'log(X);', new_text: newText }), call('replace_in_file', { path: 'all.js', old_text: 'log(X);', new_text: newText, replace_all: true })],
      call('write_file', { path: 'new.js', content: `${newText}\n` }),
    ),
  );
  on.place.write({ 'one.js': 'before\nlog(X);\nafter\n', 'all.js': 'log(X);\nlog(X);\n' });
  expect(await on.run()).toMatchObject({ code: 0, stdout: 'done\n' });
  const text = (name: string): string => readFileSync(join(on.place.workspace, name), 'utf8');
  expect(text('one.js')).toBe(`before\n${newText}\nafter\n`);
  expect(text('all.js')).toBe(`${newText}\n${newText}\n`);
  expect(text('new.js')).toBe(`${newText}\n`);
});
