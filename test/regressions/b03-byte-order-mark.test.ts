/**
 * B03: a byte-order mark keeps the first line from being matched, is lost, doubled or invented, and makes
 * configuration unreadable. The files part in detail: `plugins-builtin/files/byte-order-mark.test.ts`.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, openStage, rounds } from '../support/stage.ts';

const mark = '\uFEFF';

test('edits keep exactly one mark, and a write invents none', async () => {
  const edit = (old_text: string, new_text: string) => call('replace_in_file', { path: 'marked.txt', old_text, new_text });
  await using on = await openStage(rounds(call('read_file', { path: 'marked.txt' }), edit('first line', 'one'), edit('one', 'two'), edit('two', 'FIRST LINE'), call('write_file', { path: 'plain.txt', content: 'x\n' })));
  on.place.write({ 'marked.txt': `${mark}first line\nsecond\n` });
  await on.run();
  expect(on.answers().map(({ isError }) => isError)).toEqual([false, false, false, false, false]);
  expect(on.answers()[0]?.text).not.toContain(mark);
  expect(readFileSync(join(on.place.workspace, 'marked.txt'), 'utf8')).toBe(`${mark}FIRST LINE\nsecond\n`);
  expect(readFileSync(join(on.place.workspace, 'plain.txt'), 'utf8')).toBe('x\n');
});

test('a marked config.yaml and a marked package.json of a plugin are read', async () => {
  await using on = await openStage(rounds());
  const config = join(on.place.home, 'config');
  on.place.plugins({
    'marked/package.json': `${mark}{"version":"1.0.0","agent":{"id":"marked"}}`,
    'marked/index.ts': `${mark}import { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'marked' }, () => ({}));\n`,
  });
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, 'config.yaml'), `${mark}react: { max_rounds: 7 }\n`);
  expect(await on.place.agent(['config', 'get', 'react.max_rounds'])).toMatchObject({ code: 0, stdout: '7\n' });
  const { stdout } = await on.place.agent(['plugin', 'list', '--json']);
  expect((JSON.parse(stdout) as { id: string }[]).find(({ id }) => id === 'marked')).toMatchObject({ state: 'activated', version: '1.0.0' });
});
