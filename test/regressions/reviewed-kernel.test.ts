/** What a review of the kernel found and reproduced, each with what happened before. */
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { discoverFolder } from '../../kernel/discover.ts';
import { defineHook, definePoint, type HookSpec, type PointSpec } from '../../kernel/index.ts';
import { definePlugin } from '../../kernel/plugin.ts';
import { createKernel } from '../../kernel/kernel.ts';
import { homePaths } from '../../kernel/paths.ts';
import { boot, temporaryFolder } from '../support/boot.ts';

const hook = (name: string, kind: HookSpec['kind'] = 'series', options: object = {}) => defineHook(name as never, kind as never, options) as HookSpec;
const tools = definePoint('tools' as never, { members: { run: { kind: 'call' } } }) as unknown as PointSpec<never>;

test('a listener that throws ended the process', async () => {
  await using stage = await boot([
    { id: 'definer', defines: { hooks: [hook('toy.event')] } },
    { id: 'bad', setup: () => ({ hooks: { 'toy.event': () => { throw new Error('bad'); } } }) },
  ]);
  stage.kernel.onFault(() => {
    throw new Error('listener');
  });
  await stage.kernel.call('toy.event', {});
  expect(stage.plugin('bad').state).toBe('degraded');
});

test('every plugin could end the kernel through its control', async () => {
  let error: unknown;
  await using stage = await boot([
    { id: 'own', tier: 'builtin', setup: (p) => void expect(Object.keys(p.use({ key: 'kernel.control' }) as object)).not.toContain('dispose') },
    { id: 'foreign', setup: (p) => { try { p.use({ key: 'kernel.control' }); } catch (caught) { error = caught; } } },
  ]);
  expect(stage.plugin('own').state).toBe('activated');
  expect(error).toMatchObject({ code: 'NO_SERVICE' });
});

test('a plugin folder too large to digest kept the agent from starting', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'plugins', 'huge'), { recursive: true });
  writeFileSync(join(folder, 'plugins', 'huge', 'package.json'), '{ "agent": { "id": "huge", "main": "index.js" } }');
  writeFileSync(join(folder, 'plugins', 'huge', 'index.js'), '');
  writeFileSync(join(folder, 'plugins', 'huge', 'data'), '');
  truncateSync(join(folder, 'plugins', 'huge', 'data'), 201_000_000);
  const kernel = createKernel({ version: '1.0.0', paths: homePaths({ AGENT_HOME: join(folder, 'home') }), candidates: discoverFolder('global', join(folder, 'plugins')) });
  await kernel.start();
  expect(kernel.plugins()).toMatchObject([{ id: 'huge', state: 'refused' }]);
  await kernel.dispose();
});

test('the second of two callers did not wait for who was starting', async () => {
  await using stage = await boot([{ id: 'slow', facts: { activateOn: ['toy.now'] }, setup: async (p) => { await wait(50); p.provide({ key: 'toy.service' }, 'there'); } }]);
  const first = stage.kernel.fire('toy.now');
  await stage.kernel.fire('toy.now');
  expect(stage.kernel.use('toy.service')).toBe('there');
  await first;
});

test('a take-down that was still running wiped the next life', async () => {
  let disposed = 0;
  const setup = (p: { own(one: object): unknown }) => {
    p.own({ dispose: async () => { await wait(50); disposed += 1; } });
    return { hooks: { 'toy.event': () => undefined, 'toy.hang': () => new Promise(() => {}), 'toy.hang2': () => new Promise(() => {}) } };
  };
  const stage = await boot([{ id: 'definer', defines: { hooks: [hook('toy.event'), hook('toy.hang', 'series', { deadline: 30 }), hook('toy.hang2', 'series', { deadline: 30 })] } }, { id: 'twice', setup: setup as never }]);
  await stage.kernel.call('toy.hang', {});
  await stage.kernel.call('toy.hang2', {});
  expect(stage.plugin('twice').state).toBe('quarantined');
  await stage.kernel.release('twice');
  expect(stage.plugin('twice')).toMatchObject({ state: 'activated', contributes: ['hook toy.event', 'hook toy.hang', 'hook toy.hang2'] });
  await stage.end();
  expect(disposed).toBe(2);
});

test.each([
  ['a gate that fails open', { ...hook('toy.gate', 'gate'), onFault: 'skip' }],
  ['a hook without a kind', { name: 'toy.odd' }],
  ['a hook that aborts', hook('toy.abort', 'series', { onFault: 'abort' })],
])('a plugin could define %s', async (_, spec) => {
  await using stage = await boot([{ id: 'definer', defines: { hooks: [spec as HookSpec] } }]);
  expect(stage.plugin('definer').state).toBe('quarantined');
});

test('a misspelt hook of a plugin that starts late was never told of', async () => {
  await using stage = await boot([{ id: 'definer', defines: { hooks: [hook('toy.event')] } }, { id: 'late', facts: { activateOn: ['toy.now'] }, setup: () => ({ hooks: { 'toy.evnt': () => undefined } }) }]);
  await stage.kernel.fire('toy.now');
  expect(stage.faults.map(({ message }) => message)).toEqual([expect.stringContaining('did you mean "toy.event"?')]);
});

test('what a bare file requires was ignored', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'plugins'));
  writeFileSync(join(folder, 'plugins', 'needy.ts'), "import { definePlugin } from 'newt-agent';\nexport default definePlugin({ requires: { plugins: { nowhere: '*' } } }, () => ({}));\n");
  const kernel = createKernel({ version: '1.0.0', paths: homePaths({ AGENT_HOME: join(folder, 'home') }), candidates: discoverFolder('global', join(folder, 'plugins')), virtualModules: async () => ({ 'newt-agent': { definePlugin } }) });
  await kernel.start();
  expect(kernel.plugins()).toMatchObject([{ id: 'needy', state: 'resolved', reason: 'waits for the plugin nowhere' }]);
  await kernel.dispose();
});

test('a built-in gave way to a replacement that is refused itself', async () => {
  await using stage = await boot([{ id: 'files', tier: 'builtin' }, { id: 'mine', facts: { engine: '>=99' } }], { replaces: { files: 'mine' } });
  expect([stage.plugin('files').state, stage.plugin('mine').state]).toEqual(['activated', 'refused']);
});

test('an item that is an instance lost what lies on its class', async () => {
  class Hammer {
    get description() {
      return 'hits';
    }
    run() {
      return this.description;
    }
  }
  await using stage = await boot([{ id: 'definer', defines: { points: [tools] } }, { id: 'smith', setup: () => ({ tools: { hammer: new Hammer() } }) }]);
  const item = stage.kernel.items('tools').get('hammer')?.item as unknown as { description: string; run(): Promise<string> };
  expect(item.description).toBe('hits');
  expect(await item.run()).toBe('hits');
});

test('which of two services is used was a matter of time', async () => {
  await using stage = await boot([
    { id: 'weak', tier: 'npm', setup: (p) => void p.provide({ key: 'toy.service' }, 'weak') },
    { id: 'strong', tier: 'project', setup: async (p) => { await wait(20); p.provide({ key: 'toy.service' }, 'strong'); } },
  ]);
  expect(stage.kernel.use('toy.service')).toBe('strong');
});

test('a plugin that threw null at load was blamed for our own TypeError', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'plugins'));
  writeFileSync(join(folder, 'plugins', 'nothing.ts'), 'throw null;\n');
  const kernel = createKernel({ version: '1.0.0', paths: homePaths({ AGENT_HOME: join(folder, 'home') }), candidates: discoverFolder('global', join(folder, 'plugins')) });
  await kernel.start();
  expect(kernel.plugins()[0]?.reason).toContain('threw null');
  await kernel.dispose();
});
