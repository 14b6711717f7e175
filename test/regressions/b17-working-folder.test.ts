/**
 * B17: the working folder is gone, or is not what $PWD says. A folder that is gone at the start is in
 * `test/e2e/bad-input.test.ts`.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, openStage, rounds } from '../support/stage.ts';

const command = (text: string) => call('run_command', { command: text });

test('after the workspace is removed commands still run, and it is said where', async () => {
  await using on = await openStage(rounds(command('rm -rf "$PWD"'), command('echo alive'), command('cd / && ls -d tmp'), call('read_file', { path: 'a.txt' })));
  on.place.write({ 'a.txt': 'x' });
  expect(await on.run()).toMatchObject({ code: 0, stdout: 'done\n' });
  const [, alive, elsewhere, read] = on.answers();
  expect(alive).toMatchObject({ isError: false, text: expect.stringMatching(/alive[^]*no longer exists; ran in |no longer exists; ran in [^]*alive/) as string });
  expect(elsewhere?.text).toContain('tmp');
  expect(read?.isError).toBe(true);
});

test('a $PWD that lies is not believed', async () => {
  await using on = await openStage(rounds(command('pwd; echo "$PWD"; touch here'), call('write_file', { path: 'written', content: '' })));
  const other = join(on.place.root, 'other');
  mkdirSync(other);
  await on.run({ env: { PWD: other } });
  expect(on.answers()[0]?.text).toContain(`${on.place.workspace}\n${on.place.workspace}`);
  for (const name of ['here', 'written']) expect(existsSync(join(on.place.workspace, name))).toBe(true);
  expect(existsSync(join(other, 'here'))).toBe(false);
});

test('a here-document reaches the shell as it was written', async () => {
  await using on = await openStage(rounds(command("cat <<'EOF'\n${index + 1} it's $HOME `date`\nEOF")));
  await on.run();
  expect(on.answers()[0]?.text).toContain("${index + 1} it's $HOME `date`");
});
