/**
 * B05: editing one ASCII line turns every byte that is not UTF-8 elsewhere in the file into U+FFFD.
 * More encodings and refusals: `plugins-builtin/files/legacy-bytes.test.ts`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, openStage, rounds } from '../support/stage.ts';

const legacy = Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x20, 0xa9, 0x0a]);

test('the edit happens, and the other bytes stay as they are', async () => {
  await using on = await openStage(rounds(call('replace_in_file', { path: 'latin.txt', old_text: 'change me', new_text: 'changed' })));
  on.place.write({ 'latin.txt': Buffer.concat([legacy, Buffer.from('change me\n')]) });
  await on.run();
  expect(on.answers()).toMatchObject([{ isError: false }]);
  expect(readFileSync(join(on.place.workspace, 'latin.txt'))).toEqual(Buffer.concat([legacy, Buffer.from('changed\n')]));
});

test('text the encoding of the file cannot be told for is refused, with the reason, and nothing is written', async () => {
  await using on = await openStage(rounds(call('replace_in_file', { path: 'latin.txt', old_text: 'change me', new_text: 'geändert' })));
  const before = Buffer.concat([legacy, Buffer.from('change me\n')]);
  on.place.write({ 'latin.txt': before });
  await on.run();
  expect(on.answers()).toMatchObject([{ isError: true, text: expect.stringMatching(/UTF-8|encoding/i) as string }]);
  expect(readFileSync(join(on.place.workspace, 'latin.txt'))).toEqual(before);
});
