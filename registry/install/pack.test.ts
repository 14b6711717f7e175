import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packFirstParty } from './pack.ts';
import { unpack } from './tarball.ts';

let packages: string;
beforeEach(() => {
  packages = mkdtempSync(join(tmpdir(), 'newt-pack-'));
  const folder = join(packages, 'git');
  mkdirSync(join(folder, 'node_modules', 'x'), { recursive: true });
  const ran = `node -e "require('fs').writeFileSync('${join(packages, 'ran')}', '')"`;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: '@newt/git', version: '1.0.0', files: ['index.ts'], scripts: { prepare: ran, prepack: ran }, agent: { id: 'git' } }));
  writeFileSync(join(folder, 'index.ts'), '// code');
  writeFileSync(join(folder, 'index.test.ts'), '// not shipped');
  writeFileSync(join(folder, 'node_modules', 'x', 'index.js'), '');
});
afterEach(() => rmSync(packages, { recursive: true }));

it('packs what npm would publish, and runs nothing', async () => {
  const { files } = await unpack('git', await packFirstParty('git', packages), new AbortController().signal);
  expect(files.map(({ path }) => path).sort()).toEqual(['index.ts', 'package.json']);
  expect(existsSync(join(packages, 'ran'))).toBe(false);
});

it('gives the same bytes for the same files, whenever they were written', async () => {
  const first = await packFirstParty('git', packages);
  utimesSync(join(packages, 'git', 'index.ts'), 1, 1);
  expect((await packFirstParty('git', packages)).equals(first)).toBe(true);
});

it('says so where the folder is missing', async () => {
  await expect(packFirstParty('gone', packages)).rejects.toThrow('does not have the plugin gone');
});
