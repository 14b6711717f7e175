/** What is known of the plugins to search, and how they are named to a run. */
import type { PluginInfo } from 'newt-agent';
import { expect, test } from 'vitest';
import { disabledFor, searchedPlugins, withTold } from './bisect-plugins.ts';
import { safeModeReason } from './safe-mode.ts';

const info = (id: string, more: Partial<PluginInfo> = {}): PluginInfo => ({ id, version: '1.0.0', tier: 'global', state: 'refused', path: `/plugins/${id}.ts`, contributes: [], capabilities: [], requires: [], reason: safeModeReason, excused: true, config: undefined, ...more });
const idsOf = (plugins: readonly { readonly id: string }[]): string[] => plugins.map(({ id }) => id);

test('searched is what would run, or should and cannot; not what is off, untrusted, shadowed or built in', () => {
  const plugins = [
    info('z', { requires: ['b'] }),
    info('b'),
    info('off', { reason: 'turned off by plugins.disabled in the configuration' }),
    info('broken', { excused: false, reason: 'no index.ts' }),
    info('b', { tier: 'npm', path: '/elsewhere' }),
    info('cli', { tier: 'builtin', state: 'activated', reason: undefined, excused: false }),
  ];
  expect(idsOf(searchedPlugins({ plugins: () => plugins }))).toEqual(['b', 'broken', 'z']);
});

test('what another agent learned of their code counts: ids and requirements; what it does not say stays', () => {
  const plugins = searchedPlugins({ plugins: () => [info('a'), info('b'), info('c')] });
  const told = withTold(plugins, JSON.stringify([{ id: 'named', path: '/plugins/a.ts', requires: ['c'] }, { id: 'c', path: '/plugins/c.ts', requires: [] }, { id: 'cli', path: 'built in', requires: [] }]));
  expect(told).toMatchObject([{ id: 'b' }, { id: 'c' }, { id: 'named', alias: 'a', requires: ['c'] }]);
  expect(idsOf(withTold(plugins, 'agent: it died'))).toEqual(['a', 'b', 'c']);
});

test('a run is told both names of what is off, and no name of what is on; what was off stays off', () => {
  const plugins = [{ id: 'named', alias: 'b' }, { id: 'b2', alias: 'named2' }, { id: 'c' }].map((one) => ({ tier: 'global' as const, path: '', version: '', requires: [], ...one }));
  expect(disabledFor(plugins, new Set(['c']), ['old', 'b'])).toEqual(['old', 'b', 'named', 'b2', 'named2']);
  expect(disabledFor([...plugins, { tier: 'global', path: '', version: '', requires: [], id: 'x', alias: 'c' }], new Set(['c']), [])).not.toContain('c');
  expect(disabledFor(plugins, new Set(['named', 'b2', 'c']), [])).toEqual([]);
});
