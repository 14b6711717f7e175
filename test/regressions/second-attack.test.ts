/** What a second round of attacks on the kernel reproduced, each with what happened before. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { defineHook, type HookSpec } from '../../kernel/index.ts';
import { createPlace } from '../support/agent-process.ts';
import { boot } from '../support/boot.ts';
import { startModelServer } from '../support/model-server.ts';

const hook = (name: string, kind: HookSpec['kind'] = 'series', options: object = {}) => defineHook(name as never, kind as never, options) as HookSpec;

test('a part of the agent that had failed was off in every later run', async () => {
  const plugins = (tier: 'builtin' | 'global') => [
    { id: 'definer', defines: { hooks: [hook('toy.event')] } },
    { id: 'part', tier, setup: () => ({ hooks: { 'toy.event': () => { throw new Error('bad'); } } }) },
  ];
  const later = async (tier: 'builtin' | 'global') => {
    const first = await boot(plugins(tier));
    for (let call = 0; call < 20; call += 1) await first.kernel.call('toy.event', {});
    expect(first.plugin('part').state).not.toBe('activated');
    await first.end();
    await using second = await boot(plugins(tier), { folder: first.folder });
    return second.plugin('part').state;
  };
  expect(await later('builtin')).toBe('activated');
  // The same record of a plugin is kept, or this test could not fail.
  expect(await later('global')).not.toBe('activated');
});

test('who waited for a plugin that was taken down waited for its deadline', async () => {
  const hangs = () => new Promise(() => {});
  await using stage = await boot([
    { id: 'definer', defines: { hooks: [hook('toy.event', 'series', { deadline: 60_000 }), hook('toy.hang', 'series', { deadline: 30 }), hook('toy.hang2', 'series', { deadline: 30 })] } },
    { id: 'hangs', setup: () => ({ hooks: { 'toy.event': hangs, 'toy.hang': hangs, 'toy.hang2': hangs } }) },
  ]);
  const open = Promise.resolve(stage.kernel.call('toy.event', {})).then(() => 'ended');
  await stage.kernel.call('toy.hang', {});
  await stage.kernel.call('toy.hang2', {});
  expect(stage.plugin('hangs').state).toBe('quarantined');
  expect(await Promise.race([open, wait(5_000).then(() => 'still open')])).toBe('ended');
});

test('thousands of taps that answer at once filled the stack', async () => {
  let calls = 0;
  const taps = (tier: 'global') => Array.from({ length: 3_000 }, (_, index) => ({ id: `tap-${index}`, tier, setup: () => ({ hooks: { 'toy.event': () => { calls += 1; } } }) }));
  await using stage = await boot([{ id: 'definer', defines: { hooks: [hook('toy.event')] } }, ...taps('global')]);
  await stage.kernel.call('toy.event', {});
  expect(calls).toBe(3_000);
  expect(stage.faults).toEqual([]);
});

test('a tap that calls its own hook never ended', async () => {
  let calls = 0;
  await using stage = await boot([
    { id: 'definer', defines: { hooks: [hook('toy.event', 'series', { deadline: 60_000 })] } },
    { id: 'again', setup: () => ({ hooks: { 'toy.event': async () => { calls += 1; await stage.kernel.call('toy.event', {}); } } }) },
  ]);
  await stage.kernel.call('toy.event', {});
  expect(calls).toBeLessThan(150);
  expect(stage.faults[0]?.message).toContain('hook toy.event is called inside of 100 others');
});

test('what had failed before filled the screen at every later start', async () => {
  const server = await startModelServer([{ text: 'one' }, { text: 'two' }]);
  const place = createPlace(server.url);
  try {
    place.plugins(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`p${index}.ts`, `throw new Error('bad ${index}');\n`])));
    await place.agent(['run', 'hi']);
    const { code, stdout, stderr } = await place.agent(['run', 'hi']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'two\n' });
    expect(stderr.split('\n').filter((line) => line.includes('is off since'))).toHaveLength(20);
    expect(stderr).toContain('and 10 more: agent plugin list');
  } finally {
    await server.close();
    place.remove();
  }
});
