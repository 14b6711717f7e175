import { expect, test } from 'vitest';
import { boot, type Inline, stopwatch, until } from '../test/support/boot.ts';
import type { PluginContext } from './plugin.ts';
import { processGuardian } from './process-guardian.ts';

/** Starts a guardian plugin and one that runs programs. */
async function stage(setup: Inline['setup']) {
  const contexts: PluginContext[] = [];
  const at = await boot([
    { id: 'guard', tier: 'builtin', facts: { activateOn: ['onProcess'] }, ...(setup && { setup }) },
    { id: 'user', facts: { capabilities: ['exec'] }, setup: (p) => void contexts.push(p) },
  ]);
  const [p] = contexts;
  if (!p) throw new Error('not set up');
  return { at, p };
}

test('hears of every program, from its start until nobody of its group is left', async () => {
  const guarded: number[] = [];
  const freed: number[] = [];
  const { at, p } = await stage((guard) => {
    guard.provide(processGuardian, { guard: (group) => (guarded.push(group), { dispose: () => void freed.push(group) }) });
  });
  await using _ = at;
  expect(at.plugin('guard').state).toBe('resolved');

  const pid = Number(await p.exec('sh', ['-c', 'echo $$']));
  expect(at.plugin('guard').state).toBe('activated');
  expect(guarded).toEqual([pid]);
  await until(() => freed.includes(pid));

  const leader = Number(await p.exec('sh', ['-c', 'sleep 60 & echo $$']));
  await p.exec('true');
  expect(guarded).toContain(leader);
  expect(freed).not.toContain(leader);
  process.kill(-leader, 'SIGKILL');
  // It is looked at whenever a program ends.
  for (const time = stopwatch(); !freed.includes(leader) && time() < 10_000; ) await p.exec('true');
  expect(freed).toContain(leader);
});

test.each<[string, Inline['setup']]>([
  ['is not there', () => undefined],
  ['does not come up', () => { throw new Error('broken'); }],
  ['throws', (guard) => void guard.provide(processGuardian, { guard: () => { throw new Error('broken'); } })],
  ['throws at the end', (guard) => void guard.provide(processGuardian, { guard: () => ({ dispose: () => { throw new Error('broken'); } }) })],
  ['rejects at the end', (guard) => void guard.provide(processGuardian, { guard: () => ({ dispose: () => Promise.reject(new Error('broken')) }) })],
])('one that %s does not keep a program from running', async (_how, setup) => {
  const { at, p } = await stage(setup);
  await using _ = at;
  expect(await p.exec('echo', ['one'])).toBe('one\n');
  expect(await p.exec('echo', ['two'])).toBe('two\n');
});
