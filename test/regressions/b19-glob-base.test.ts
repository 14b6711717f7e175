/**
 * B19: `./src/*.ts` finds nothing, `src/**` matches because a parent is called src, one folder's ignore file
 * hides another's files. More patterns: `plugins-builtin/code-search/glob.test.ts`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { call, openStage, rounds } from '../support/stage.ts';

test('in a workspace below a folder called src', async () => {
  await using on = await openStage(
    rounds([call('glob', { pattern: './src/*.ts' }), call('glob', { pattern: 'src/**/*.ts', path: 'pkg' }), call('glob', { pattern: '**/*.log' }), call('grep', { pattern: 'needle', glob: './src/*.ts' })]),
  );
  const cwd = join(on.place.root, 'src', 'app');
  const files = { 'src/root.ts': 'needle\n', 'pkg/src/inner.ts': 'needle\n', 'a/.gitignore': '*.log\n', 'a/hidden.log': '', 'b/seen.log': '' };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  await on.run({ cwd });
  const [dotted, below, logs, grepped] = on.answers().map(({ text }) => text);
  expect(dotted).toContain('src/root.ts');
  expect(dotted).not.toContain('inner.ts');
  expect(below).toContain('inner.ts');
  expect(below).not.toContain('root.ts');
  expect(logs).toContain('b/seen.log');
  expect(logs).not.toContain('hidden.log');
  expect(grepped).toContain('src/root.ts');
  expect(grepped).not.toContain('inner.ts');
});
