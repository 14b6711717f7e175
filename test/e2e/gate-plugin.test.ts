/**
 * B27: a guard that cannot guard. A plugin that states `gate:tool.gate` in its package.json and then fails,
 * in whatever way, blocks every tool, says so, and says how to turn it off. It never fails open.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createPlace, type Finished, type Place } from '../support/agent-process.ts';
import { type ModelServer, startModelServer } from '../support/model-server.ts';

let place: Place;
let server: ModelServer;

beforeEach(async () => {
  // Two rounds of tools and an answer, over and over.
  server = await startModelServer((_, n) =>
    n % 3 === 2
      ? { text: 'done' }
      : { toolCalls: [{ name: 'read_file', arguments: { path: 'a.txt' } }, { name: 'run_command', arguments: { command: 'touch ran' } }, { name: 'write_file', arguments: { path: 'written', content: 'x' } }] },
  );
  place = createPlace(server.url);
  place.write({ 'a.txt': 'the content\n' });
});
afterEach(async () => {
  await server.close();
  place.remove();
});

const manifest = (stated: object = {}): string => JSON.stringify({ name: 'agent-plugin-guard', version: '1.0.0', type: 'module', agent: { id: 'guard', capabilities: ['gate:tool.gate'], ...stated } });
const guard = (tap: string): string => `import { definePlugin, deny } from 'newt-agent';\nexport default definePlugin({ id: 'guard', capabilities: ['gate:tool.gate'] }, () => ({ hooks: { 'tool.gate': ${tap} } }));\n`;

const brokenGuards: readonly { readonly title: string; readonly files: Readonly<Record<string, string>>; readonly cause: string }[] = [
  { title: 'throws at load', files: { 'guard/package.json': manifest(), 'guard/index.ts': "throw new Error('no rules');\n" }, cause: 'no rules' },
  { title: 'has a syntax error', files: { 'guard/package.json': manifest(), 'guard/index.ts': 'export default {{;\n' }, cause: 'index.ts:1' },
  { title: 'imports a missing package', files: { 'guard/package.json': manifest(), 'guard/index.ts': "import 'a-package-nobody-installed';\n" }, cause: 'a-package-nobody-installed' },
  { title: 'never loads', files: { 'guard/package.json': manifest(), 'guard/index.ts': 'await new Promise(() => {});\n' }, cause: 'did not finish loading' },
  { title: 'throws in setup', files: { 'guard/package.json': manifest(), 'guard/index.ts': "import { definePlugin } from 'newt-agent';\nexport default definePlugin({}, () => { throw new Error('no setup'); });\n" }, cause: 'no setup' },
  { title: 'throws when asked', files: { 'guard/package.json': manifest(), 'guard/index.ts': guard("() => { throw new Error('no opinion'); }") }, cause: 'no opinion' },
  { title: 'never answers when asked', files: { 'guard/package.json': manifest(), 'guard/index.ts': guard('() => new Promise(() => {})') }, cause: 'did not settle' },
  { title: 'answers something that is no decision', files: { 'guard/package.json': manifest(), 'guard/index.ts': guard("() => 'allow'") }, cause: 'no decision' },
  { title: 'has a manifest with an unknown key', files: { 'guard/package.json': manifest({ capabilitys: [] }), 'guard/index.ts': guard('() => undefined') }, cause: 'did you mean "capabilities"?' },
  { title: 'does not fit this version', files: { 'guard/package.json': manifest({ engine: '>=99' }), 'guard/index.ts': guard('() => undefined') }, cause: 'needs newt-agent >=99' },
  { title: 'has lost its module', files: { 'guard/package.json': manifest({ main: 'gone.ts' }) }, cause: 'gone.ts' },
  { title: 'needs a plugin that is not there', files: { 'guard/package.json': manifest({ requires: { plugins: { absent: '*' } } }), 'guard/index.ts': guard('() => undefined') }, cause: 'needs the plugin absent' },
];

/** What the tools of the last run answered. */
const texts = (): string[] => place.events().flatMap((event) => (event.type === 'tool.result' ? [event.data.text] : []));
const ran = (): boolean => existsSync(join(place.workspace, 'ran')) || existsSync(join(place.workspace, 'written'));

function expectBlocked(done: Finished, cause: string): void {
  expect(done, done.stderr).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(ran()).toBe(false);
  expect(texts()).toHaveLength(6);
  for (const text of texts()) expect(text).toMatch(/^Not allowed: .*guard.*plugins\.disabled/s);
  const said = done.stderr.split('\n').filter((line) => line.includes('guard') && line.includes(cause));
  expect(said.length, done.stderr).toBeGreaterThan(0);
}

describe('a broken guard blocks all tools, loudly', () => {
  test.each(brokenGuards)('one that $title', async ({ files, cause }) => {
    place.plugins(files);
    expectBlocked(await place.agent(['run', '--yes', 'go']), cause);
    const second = await place.agent(['run', '--yes', 'go']);
    expectBlocked(second, cause);
    expect(second.ms).toBeLessThan(12_000);
  });
});

test('what the denial says works: turned off, it blocks no more', async () => {
  place.plugins({ 'guard/package.json': manifest(), 'guard/index.ts': "throw new Error('no rules');\n" });
  const blocked = await place.agent(['run', '--yes', 'go']);
  expectBlocked(blocked, 'no rules');
  const [, advice = ''] = /agent (config set plugins\.disabled '[^']*')/.exec(texts().join('\n')) ?? [];
  const set = await place.agent(advice.replaceAll("'", '').split(' '));
  expect(set, `${advice}: ${set.stderr}`).toMatchObject({ code: 0 });
  const free = await place.agent(['run', '--yes', 'go']);
  expect(free).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(ran()).toBe(true);
  expect(free.stderr).not.toContain('guard');
});

test.each([
  ['no JSON', `${manifest()},`],
  ['empty', ''],
  ['of another shape', '{ "agent": [] }'],
])('a manifest that is %s may have spoken of any gate: nothing is done until it is settled', async (_, text) => {
  place.plugins({ 'guard/package.json': text, 'guard/index.ts': guard("() => deny('mine')") });
  const blocked = await place.agent(['run', '--yes', 'go']);
  expect(blocked).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/guard\/package\.json.*plugins\.disabled '\["guard"\]'/s) });
  await place.agent(['config', 'set', 'plugins.disabled', '["guard"]']);
  expect(await place.agent(['run', '--yes', 'go'])).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(ran()).toBe(true);
});

test('plugins.disabled as a list of YAML unblocks as well', async () => {
  place.plugins({ 'guard/package.json': manifest(), 'guard/index.ts': "throw new Error('no rules');\n" });
  expect(await place.agent(['config', 'set', 'plugins.disabled', '["guard"]'])).toMatchObject({ code: 0 });
  await place.agent(['run', '--yes', 'go']);
  expect(ran()).toBe(true);
});

test('a working guard decides, and the rest goes on', async () => {
  place.plugins({ 'guard/package.json': manifest(), 'guard/index.ts': guard("(use) => (use.effect === 'exec' ? deny('no commands today') : undefined)") });
  const done = await place.agent(['run', '--yes', 'go']);
  expect(done.code).toBe(0);
  expect(existsSync(join(place.workspace, 'ran'))).toBe(false);
  expect(existsSync(join(place.workspace, 'written'))).toBe(true);
  expect(JSON.stringify(place.events())).toContain('no commands today');
});

test('a guard without the capability in its package.json is refused, and said to be', async () => {
  place.plugins({ 'sly/package.json': JSON.stringify({ version: '1.0.0', agent: { id: 'sly' } }), 'sly/index.ts': guard("() => deny('mine')").replaceAll("'guard'", "'sly'") });
  const done = await place.agent(['run', '--yes', 'go']);
  expect(done.code).toBe(0);
  expect(done.stderr).toContain('plugin sly taps the gate tool.gate without the capability "gate:tool.gate"');
  expect(ran()).toBe(true);
});
