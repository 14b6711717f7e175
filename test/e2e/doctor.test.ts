/** `agent doctor` as a person runs it, where much is wrong. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Finding } from '../../plugins-builtin/public.ts';
import { createPlace, type Place } from '../support/agent-process.ts';
import { type ModelServer, startModelServer } from '../support/model-server.ts';

interface Told {
  readonly ok: boolean;
  readonly findings: readonly (Finding & { readonly plugin: string })[];
}

let server: ModelServer;
let place: Place;

beforeEach(async () => {
  server = await startModelServer(() => ({ text: 'hello' }));
  place = createPlace(server.url);
});
afterEach(async () => {
  await server.close();
  place.remove();
});

async function examine(env: NodeJS.ProcessEnv = {}, args: readonly string[] = []): Promise<Told & { code: number | null; stderr: string; stdout: string }> {
  const done = await place.agent(['doctor', '--json', ...args], { env });
  return { ...(JSON.parse(done.stdout) as Told), ...done };
}

const of = ({ findings }: Told, what: string) => findings.filter((one) => one.what === what);

function configure(text: string): void {
  mkdirSync(join(place.home, 'config'), { recursive: true, mode: 0o700 });
  writeFileSync(join(place.home, 'config', 'config.yaml'), text, { mode: 0o600 });
}

test('where all is well: 0, a table for people, one JSON value for programs, and no request of a model', async () => {
  const told = await examine();
  expect(told.code, told.stdout).toBe(0);
  expect(told).toMatchObject({ ok: true, stderr: '' });
  for (const what of ['node', 'folders', 'disk', 'config', 'plugins', 'trust', 'shell']) expect(of(told, what)[0]?.level, what).toMatch(/ok/);
  expect(server.requests).toHaveLength(0);
  const human = await place.agent(['doctor']);
  expect(human.code).toBe(0);
  expect(human.stdout).toMatch(/^✓ node {2,}\d+\.\d+/);
  expect(human.stdout).not.toContain('\u001b');
});

test('no model: 1, with the ways to have one', async () => {
  const told = await examine({ AGENT_BASE_URL: undefined, AGENT_MODEL: undefined });
  expect(told).toMatchObject({ code: 1, ok: false });
  expect(of(told, 'model')).toMatchObject([{ level: 'error', fix: expect.stringContaining('AGENT_BASE_URL') as string }]);
});

test('a broken configuration: every problem with its line and the command that mends it; the rest is judged', async () => {
  configure('react:\n  max_rounds: many\n  max_round: 5\nproviders:\n  lab: { base_url: "http://127.0.0.1:1/v1", api_key: sk-very-secret }\n');
  const told = await examine({ AGENT_REACT__ENABLD: '1' });
  expect(told.code).toBe(1);
  expect(of(told, 'config').map(({ level, fix }) => [level, fix]).sort()).toEqual([['error', 'agent config unset react.max_round'], ['error', 'agent config unset react.max_rounds'], ['error', 'unset AGENT_REACT__ENABLD']]);
  expect(told.stdout).toMatch(/config\.yaml:2: react\.max_rounds/);
  expect(of(told, 'model')[0]?.detail).toContain(server.url);
  expect(told.stdout + told.stderr).not.toContain('sk-very-secret');
  for (const key of ['react.max_round', 'react.max_rounds']) expect(await place.agent(['config', 'unset', key])).toMatchObject({ code: 0 });
  expect(of(await examine(), 'config')).toMatchObject([{ level: 'ok' }]);
});

test('no YAML, a damaged lock file, a home that is a file', async () => {
  configure('a: [');
  mkdirSync(join(place.home, 'data'));
  writeFileSync(join(place.home, 'data', 'agent-plugins.lock'), '{');
  const told = await examine();
  expect(told.code).toBe(1);
  expect(of(told, 'config')).toMatchObject([{ level: 'error', detail: expect.stringMatching(/config\.yaml:1:\d+: not valid YAML/) as string }]);
  expect(of(told, 'plugins')).toMatchObject([{ level: 'error', detail: expect.stringContaining('agent-plugins.lock') as string }]);
  const file = join(place.root, 'file');
  writeFileSync(file, '');
  const homeless = await examine({ AGENT_HOME: file });
  expect(homeless.code).toBe(1);
  expect(homeless.findings.filter(({ level }) => level === 'error').map(({ what }) => what)).toEqual(expect.arrayContaining(['config folder', 'state folder']));
});

test('plugins: in quarantine, refused and turned off, each with its reason; what is broken keeps nothing else from being told', async () => {
  place.plugins({
    'bad.ts': "throw new Error('no luck');\n",
    'old/package.json': '{"agent":{"id":"old","engine":"^99.0.0"}}',
    'old/index.ts': '',
    'off.ts': "import { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'off' }, () => ({}));\n",
    'sick.ts': "import { definePlugin } from 'newt-agent';\nexport default definePlugin({ id: 'sick' }, () => ({ checks: { sick: { description: 'sick', run: () => { throw new Error('cannot look'); } } } }));\n",
  });
  configure('plugins: { disabled: [off] }\n');
  const told = await examine();
  expect(told.code).toBe(1);
  const about = (id: string) => of(told, 'plugin').find(({ detail }) => detail.startsWith(`${id} `));
  expect(about('bad')).toMatchObject({ level: 'error', detail: expect.stringMatching(/in quarantine: .*no luck.*bad\.ts:1/) as string, fix: 'agent plugin release bad' });
  expect(about('old')).toMatchObject({ level: 'error', detail: expect.stringContaining('needs newt-agent ^99.0.0') as string });
  expect(about('off')).toMatchObject({ level: 'info' });
  expect(told.findings).toContainEqual(expect.objectContaining({ plugin: 'sick', level: 'error', detail: expect.stringMatching(/check of plugin sick failed: .*cannot look/) as string }) as unknown);
});

test('an untrusted project: told, nothing of it runs, and --cwd names it', async () => {
  const marker = join(place.root, 'ran');
  place.write({ 'sub/.agent/plugins/foreign.cjs': `require('node:fs').writeFileSync(${JSON.stringify(marker)}, '');`, 'sub/.agent/config.yaml': 'model: a/b\nbogus: 1\n' });
  const told = await examine({}, ['--cwd', 'sub']);
  expect(told.code, told.stdout).toBe(0);
  expect(of(told, 'trust')).toMatchObject([{ level: 'warn', fix: expect.stringMatching(/agent trust grant --cwd .*sub/) as string }]);
  expect(of(told, 'config')[0]).toMatchObject({ level: 'warn', detail: expect.stringContaining('bogus') as string });
  expect(existsSync(marker)).toBe(false);
});

test('programs that lie in the workspace are not run', async () => {
  const marker = join(place.root, 'ran');
  for (const name of ['git', 'npm', 'rg', 'bwrap']) {
    place.write({ [`bin/${name}`]: `#!/bin/sh\ntouch ${marker}\n` });
    execFileSync('chmod', ['+x', join(place.workspace, 'bin', name)]);
  }
  const told = await examine({ PATH: `${join(place.workspace, 'bin')}:.` });
  expect(told.code).toBe(0);
  expect(of(told, 'git')).toMatchObject([{ level: 'warn', fix: expect.stringContaining('install git') as string }]);
  expect(existsSync(marker)).toBe(false);
});

test('help has examples, and a slip of the pen is understood', async () => {
  expect((await place.agent(['doctor', '--help'])).stdout).toContain('$ agent doctor');
  expect(await place.agent(['docter'])).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean doctor?') as string });
});
