/**
 * cosmiconfig looks for a configuration of its own in the folder it is built in, and runs it: a
 * repository's `.config/config.js` ran before anybody had trusted that repository. Its `$import` key
 * would do the same from our own file. Some of this code starts after the call has returned, so each
 * case is a process of its own, looked at when it has ended.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';

const kernel = new URL('../../kernel/', import.meta.url).href;
let root: string;
let marker: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'newt-cosmiconfig-')));
  marker = join(root, 'marker');
});

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};

const evil = (): string => `require('node:fs').writeFileSync(${JSON.stringify(marker)}, 'ran'); module.exports = {};`;

const runInRepository = (script: string): string =>
  execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: join(root, 'repo'), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

const load = (): { disabled?: string[]; cwd: string; error?: string } =>
  JSON.parse(
    runInRepository(`
      const { composeConfig } = await import('${kernel}config/schema.ts');
      const { loadConfig } = await import('${kernel}config/load.ts');
      const paths = { global: '/none', project: ${JSON.stringify(join(root, 'repo/.agent/config.yaml'))}, empty: ${JSON.stringify(join(root, 'cache/empty'))} };
      const outcome = await loadConfig({ schema: composeConfig({}), paths, projectTrusted: true, env: {} })
        .then(({ values }) => ({ disabled: values.plugins.disabled }), (error) => ({ error: error.message }));
      console.log(JSON.stringify({ ...outcome, cwd: process.cwd() }));`),
  ) as ReturnType<typeof load>;

const places = ['.config/config.js', '.config/config.cjs', '.config/config.mjs', '.config/config.ts', 'package.json', 'package.yaml', '.config/config.json', '.config/config.yaml', '.config/config.yml'];

test.each(places)('%s of a repository has no effect', (place) => {
  write('repo/.agent/config.yaml', 'plugins:\n  disabled: [a]\n');
  write('repo/evil.js', evil());
  write('repo/evil.yaml', 'plugins: { disabled: [evil] }');
  const meta = { searchPlaces: ['evil.yaml', 'evil.js'], $import: join(root, 'repo/evil.js') };
  write(`repo/${place}`, /\.[cm]?[jt]s$/.test(place) ? evil() : JSON.stringify({ ...meta, cosmiconfig: meta }));
  expect(load()).toEqual({ disabled: ['a'], cwd: join(root, 'repo') });
  expect(existsSync(marker)).toBe(false);
});

test.each(['evil.js', 'evil.cjs', 'evil.ts', 'evil.json', 'evil.yaml'])('$import of %s is an unknown key, not an import', (name) => {
  write(`repo/.agent/${name}`, evil());
  write('repo/.agent/config.yaml', `$import: ./${name}\n`);
  expect(load().error).toContain('$import: no such key');
  expect(existsSync(marker)).toBe(false);
});

test('the trap is still there, so the above still proves something', () => {
  write('repo/.config/config.js', evil());
  runInRepository(`const { cosmiconfigSync } = await import('${import.meta.resolve('cosmiconfig')}'); cosmiconfigSync('agent', { searchPlaces: ['config.yaml'] });`);
  expect(existsSync(marker)).toBe(true);
});
