/** Reading one file: what lies in the cache, left by whoever, has no say in it. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../test/support/boot.ts';
import { configReader } from './file.ts';

test('a stray file in the cache neither stops it nor is run, and nothing is left there', () => {
  const root = temporaryFolder();
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const cache = join(root, 'cache');
  const marker = join(root, 'ran');
  for (const folder of ['empty/.config', '.config']) {
    mkdirSync(join(cache, folder), { recursive: true });
    writeFileSync(join(cache, folder, 'config.cjs'), `require('node:fs').writeFileSync(${JSON.stringify(marker)}, ''); module.exports = {};`);
  }
  writeFileSync(join(root, 'config.yaml'), 'theme: x');
  const cwd = process.cwd();
  for (let n = 0; n < 2; n += 1) expect(configReader(join(cache, 'empty'))(join(root, 'config.yaml')).tree).toEqual({ theme: 'x' });
  expect(process.cwd()).toBe(cwd);
  expect(readdirSync(cache)).toEqual(['.config', 'empty']);
  expect(readdirSync(root)).toEqual(['cache', 'config.yaml']);
});
