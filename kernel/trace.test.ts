import { expect, test } from 'vitest';
import { boot } from '../test/support/boot.ts';
import { defineHook } from './hook-spec.ts';

test('notes who ran, in order, and only while somebody traces', async () => {
  const spec = defineHook('toy.event' as never, 'series' as never);
  const tap = (id: string) => ({ id, setup: () => ({ hooks: { 'toy.event': () => undefined } }) });
  await using stage = await boot([{ id: 'definer', defines: { hooks: [spec] } }, tap('b'), tap('a')]);
  await stage.kernel.call('toy.event', {});
  const trace = stage.kernel.trace();
  await stage.kernel.call('toy.event', {});
  for (let i = 0; i < 300; i += 1) await stage.kernel.call('toy.event', {});
  expect(trace.entries().slice(0, 3).map(({ hook, plugin }) => [hook, plugin])).toEqual([['toy.event', 'a'], ['toy.event', 'b'], ['toy.event', 'a']]);
  expect(trace.entries('a')).toHaveLength(256);
  await trace.dispose();
  await stage.kernel.call('toy.event', {});
  expect(trace.entries('a')).toHaveLength(256);
});
