/** `agent config unset`, `explain`, `schema` and what `init` writes, through the built command. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createPlace, type Place } from '../support/agent-process.ts';

let place: Place;
let global: string;

beforeEach(() => {
  place = createPlace();
  mkdirSync(join(place.home, 'config'), { recursive: true });
  global = join(place.home, 'config', 'config.yaml');
});
afterEach(() => place.remove());

const project = (text: string): void => place.write({ '.agent/config.yaml': text });
const shown = (text: string): string => text.replaceAll(place.root, '~');

test('unset takes a key out, keeps the rest of the file, and says what holds now and from where', async () => {
  writeFileSync(global, '# mine\nreact:\n  max_rounds: 5   # few\nmodel: a/b # this\n');
  project('react: { max_rounds: 7 }\n');
  expect(await place.agent(['config', 'unset', 'react.max_rounds'])).toMatchObject({ code: 0, stdout: '' });
  expect(readFileSync(global, 'utf8')).toBe('# mine\nmodel: a/b # this\n');
  const again = await place.agent(['config', 'unset', 'react.max_rounds']);
  expect(again.code).toBe(2);
  expect(again.stderr).toMatch(/agent: react\.max_rounds is not set in ~\/home\/config\/config\.yaml; it is in ~\/workspace\/\.agent\/config\.yaml:1\n {2}agent config unset react\.max_rounds --project\n$/);
  const last = await place.agent(['config', 'unset', 'react.max_rounds', '--project']);
  expect(last.stderr).toContain('took react.max_rounds out of ~/workspace/.agent/config.yaml\nreact.max_rounds is 50 now, from default\n');
  expect((await place.agent(['config', 'unset', 'react.max_round'])).stderr).toMatch(/no such key; did you mean "react\.max_rounds"\?/);
  expect((await place.agent(['config', 'unset', 'model'], { env: { AGENT_MODEL: 'c/d' } })).stderr).toContain('model is c/d now, from $AGENT_MODEL\n');
});

test('explain: every layer, the strongest first, which one counts, and why others do not', async () => {
  writeFileSync(global, 'react:\n  max_rounds: 5\nmodel: a/b\nproviders:\n  lab: { base_url: "http://u:pw12@h/v1", api_key: sk-secret }\n  off: { base_url: "http://h/v1", api_key: "${NO_SUCH}" }\n');
  project('model: x/y\nheal: {}\n'.replace('heal: {}\n', 'react: { max_rounds: 7 }\nplugins: { replaces: { shell: mine } }\ntemperature: ${HOT}\n'));
  const env = { AGENT_REACT__MAX_ROUNDS: '9', AGENT_MODLE: 'q' };
  const one = await place.agent(['config', 'explain', 'react.max_rounds'], { env });
  expect(one.code, one.stderr).toBe(0);
  expect(shown(one.stdout)).toBe(
    [
      'react.max_rounds = 9',
      '  Rounds after which a run stops; any project may set it',
      '  · flag         (not set)',
      '  ✓ environment  9  $AGENT_REACT__MAX_ROUNDS  (counts)',
      '  · project      7  ~/workspace/.agent/config.yaml:2  (overridden)',
      '  · global       5  ~/home/config/config.yaml:2  (overridden)',
      '  · default      50  (overridden)',
      '',
    ].join('\n'),
  );
  const all = await place.agent(['config', 'explain', '--json'], { env });
  const explained = JSON.parse(all.stdout) as { key: string; value: unknown; layers: { layer: string; state: string; value: unknown; why?: string; line?: number }[] }[];
  const layers = (key: string) => explained.find((entry) => entry.key === key)?.layers;
  expect(layers('model')).toContainEqual(expect.objectContaining({ layer: 'project', state: 'ignored', value: 'x/y', line: 1, why: 'the project is not trusted' }));
  expect(layers('model')).toContainEqual(expect.objectContaining({ layer: 'global', state: 'counts', value: 'a/b' }));
  expect(layers('plugins.replaces.shell')).toContainEqual(expect.objectContaining({ layer: 'project', state: 'ignored', why: 'only the person may set it, not a project' }));
  expect(layers('temperature')).toContainEqual(expect.objectContaining({ layer: 'project', state: 'ignored', value: '${HOT}', why: expect.stringContaining('not expanded before the project is trusted') as string }));
  expect(layers('providers.off.base_url')).toContainEqual(expect.objectContaining({ state: 'ignored', why: 'the variable NO_SUCH is not set' }));
  expect(layers('AGENT_MODLE')).toContainEqual(expect.objectContaining({ layer: 'environment', state: 'ignored', why: expect.stringContaining('AGENT_MODEL') as string }));
  expect(layers('providers.lab.api_key')).toContainEqual(expect.objectContaining({ state: 'counts', value: '********' }));
  expect(all.stdout + one.stdout).not.toMatch(/sk-secret|pw12/);
  expect(await place.agent(['config', 'explain', 'react.max_round'])).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean "react.max_rounds"?') as string });
});

test('explain works where nothing else does: what is wrong is told with its place', async () => {
  writeFileSync(global, 'react:\n  max_rounds: many\n  max_round: 5\nmodel: a/b\nproviders:\n  lab: { base_url: "http://h", api_ky: sk-slip }\n');
  const done = await place.agent(['config', 'explain']);
  expect(done.code).toBe(0);
  expect(shown(done.stdout)).toContain('  ✗ global       many  ~/home/config/config.yaml:2  (wrong: expected a number, found "many")');
  expect(shown(done.stdout)).toContain('  ✗ global       5  ~/home/config/config.yaml:3  (wrong: no such key; did you mean "max_rounds"?)');
  expect(shown(done.stdout)).toContain('  ✓ global       a/b  ~/home/config/config.yaml:4  (counts)');
  expect(done.stderr.match(/^✗ /gm)).toHaveLength(3);
  // A key there is not may be the misspelt name of a secret.
  expect(done.stdout + done.stderr).not.toContain('sk-slip');
});

test('nothing is set', async () => {
  expect((await place.agent(['config', 'explain'])).stdout).toBe('Nothing is set: the defaults count. agent config list shows them.\n');
  expect((await place.agent(['config', 'explain', '--json'])).stdout).toBe('[]\n');
});

test('init writes the schema beside the file, its first line leads there, and installed plugins are in it', async () => {
  place.plugins({
    'dots.ts': "import { definePlugin, z } from 'newt-agent';\nexport default definePlugin({ id: 'dots', config: z.object({ level: z.enum(['low', 'high']).optional() }) }, () => ({}));\n",
    'lazy/package.json': JSON.stringify({ agent: { id: 'lazy', activateOn: ['command:lazy'], config: { type: 'object', properties: { n: { type: 'integer' } } } } }),
    'lazy/index.ts': "throw new Error('must not run');\n",
    'odd/package.json': JSON.stringify({ agent: { id: 'odd', activateOn: ['command:odd'], config: { type: 'no such type' } } }),
    'odd/index.ts': '',
  });
  expect(await place.agent(['config', 'init'])).toMatchObject({ code: 0, stderr: 'wrote ~/home/config/config.yaml\nwrote ~/home/config/config.schema.json, by which editors complete its keys\n' });
  expect(readFileSync(global, 'utf8').split('\n', 1)[0]).toBe('# yaml-language-server: $schema=./config.schema.json');
  const written = JSON.parse(readFileSync(join(place.home, 'config', 'config.schema.json'), 'utf8')) as object;
  expect(JSON.parse((await place.agent(['config', 'schema', '--json'])).stdout)).toEqual(written);
  expect(JSON.parse((await place.agent(['config', 'schema'])).stdout)).toEqual(written);
  const isValid = new Ajv({ strict: false, validateFormats: false }).compile(written);
  expect(isValid({ plugins: { config: { dots: { level: 'low' }, lazy: { n: 1 }, odd: 1 } } })).toBe(true);
  expect(isValid({ plugins: { config: { dots: { level: 'medium' } } } })).toBe(false);
  expect(isValid({ plugins: { config: { lazy: { n: 'x' } } } })).toBe(false);
  // A project's copy says nothing of what only this person has.
  place.write({ '.agent/.keep': '' });
  expect(await place.agent(['config', 'init', '--project'])).toMatchObject({ code: 0 });
  const shared = readFileSync(join(place.workspace, '.agent', 'config.schema.json'), 'utf8');
  expect(shared).not.toMatch(/dots|lazy/);
  expect(shared).not.toContain(place.root);
  expect(existsSync(join(place.workspace, '.agent', 'config.yaml'))).toBe(true);
  expect(await place.agent(['config', 'schema', '--write', '--project'])).toMatchObject({ code: 0, stderr: expect.stringContaining('wrote ~/workspace/.agent/config.schema.json\n') as string });
});

test('every new command has help with examples', async () => {
  for (const words of [['config', 'unset'], ['config', 'explain'], ['config', 'schema'], ['completion'], ['doctor']]) expect((await place.agent([...words, '--help'])).stdout, words.join(' ')).toContain(`$ agent ${words.join(' ')}`);
});
