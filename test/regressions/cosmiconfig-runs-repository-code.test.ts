/**
 * cosmiconfig looks for a configuration of its own in the folder it is built in, and runs it: a
 * repository's `.config/config.js` ran before anybody had trusted that repository. Its `$import` key
 * would do the same from our own file.
 */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cosmiconfigSync } from 'cosmiconfig';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { composeConfig } from '../../kernel/config-schema.ts';
import { type Config, loadConfig } from '../../kernel/config.ts';

const home = process.cwd();
let root: string;
let marker: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'newt-cosmiconfig-')));
  marker = join(root, 'marker');
  mkdirSync(join(root, 'repo'));
  process.chdir(join(root, 'repo'));
});
afterEach(() => process.chdir(home));

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

const load = (projectTrusted: boolean): Promise<Config<object>> =>
  loadConfig({
    schema: composeConfig({}),
    paths: { global: join(root, 'home/config.yaml'), project: join(root, 'repo/.agent/config.yaml'), empty: join(root, 'cache/empty') },
    projectTrusted,
    env: {},
  });

const payload = (): string => `require('node:fs').writeFileSync(${JSON.stringify(marker)}, 'ran'); module.exports = {};`;

test.each(['.config/config.js', '.config/config.cjs', '.config/config.ts', 'package.json', 'package.yaml', '.config/config.json', '.config/config.yaml', '.config/config.yml'])('%s of a repository has no effect', async (place) => {
  write('repo/.agent/config.yaml', 'plugins:\n  disabled: [a]\n');
  write('repo/evil.yaml', 'plugins: { disabled: [evil] }');
  const meta = { searchPlaces: ['evil.yaml'], $import: './evil.js' };
  write('repo/evil.js', payload());
  const isCode = /\.[cm]?[jt]s$/.test(place);
  write(`repo/${place}`, isCode ? payload() : JSON.stringify({ cosmiconfig: meta }));
  const { values } = await load(true);
  expect(values).toMatchObject({ plugins: { disabled: ['a'] } });
  expect(existsSync(marker)).toBe(false);
  expect(process.cwd()).toBe(join(root, 'repo'));
});

test('the trap is still there, so this test still tests something', () => {
  write('repo/.config/config.js', payload());
  cosmiconfigSync('agent', { searchPlaces: ['config.yaml'] });
  expect(existsSync(marker)).toBe(true);
});

test.each(['evil.js', 'evil.cjs', 'evil.ts', 'evil.json', 'evil.yaml'])('$import of %s is an unknown key, not an import', async (name) => {
  write(`repo/.agent/${name}`, payload());
  write('repo/.agent/config.yaml', `$import: ./${name}\n`);
  await expect(load(false)).rejects.toThrow('$import: no such key');
  expect(existsSync(marker)).toBe(false);
});
