import { describe, expect, test } from 'vitest';
import { type Manifest, PluginRecord } from './lifecycle.ts';
import { complete } from './manifest.ts';
import { type ResolveOptions, resolvePlugins } from './resolve.ts';
import type { Tier } from './tier.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

function plugin(id: string, tier: Tier = 'global', facts: Partial<Manifest> = {}, path = `/${tier}/${id}`): PluginRecord {
  return new PluginRecord({ tier, path, entry: `${path}/index.js`, manifest: { ...complete({}, id), ...facts }, bare: false }, silent);
}

function resolve(records: PluginRecord[], options: Partial<ResolveOptions> = {}): PluginRecord[] {
  resolvePlugins(records, { version: '1.2.3', disabled: [], replaces: {}, untrusted: undefined, ...options });
  return records;
}

const told = (records: PluginRecord[]) => records.map(({ id, tier, state, reason }) => [`${tier} ${id}`, state, reason]);
const requires = (plugins: Record<string, string>): Partial<Manifest> => ({ requires: { plugins } });

describe('one id', () => {
  test('the higher tier shadows the others, whatever the order', () => {
    const tiers: readonly Tier[] = ['npm', 'global', 'project', 'builtin'];
    for (let strongest = 4; strongest > 1; strongest--) {
      const records = resolve(tiers.slice(0, strongest).map((tier) => plugin('one', tier)));
      expect(records.map(({ state }) => state)).toEqual([...Array<string>(strongest - 1).fill('refused'), 'resolved']);
      const holder = tiers[strongest - 1];
      expect(records[0]?.reason).toBe(holder === 'builtin' ? 'shadowed by the built-in plugin one' : `shadowed by the ${holder} plugin at /${holder}/one`);
      expect(records[0]?.excused).toBe(true);
    }
  });

  test('within a tier the first path holds', () => {
    const [first, second] = resolve([plugin('one', 'global', {}, '/g/a'), plugin('one', 'global', {}, '/g/b')]);
    expect(first?.state).toBe('resolved');
    expect(second).toMatchObject({ state: 'refused', reason: 'duplicate id: "one" is already taken by /g/a. To fix it: give one of the two another id' });
  });

  test('what is refused does not shadow', () => {
    const [strong, weak] = resolve([plugin('one', 'project', { engine: '^9.0.0' }), plugin('one', 'npm')]);
    expect(strong?.state).toBe('refused');
    expect(weak?.state).toBe('resolved');
  });
});

describe('an engine', () => {
  test.for([
    ['*', true],
    ['^1.0.0', true],
    ['>=1 <2', true],
    ['1.x', true],
    ['^2.0.0', false],
    ['<1.2.3', false],
  ] as const)('"%s" fits 1.2.3: %s', ([engine, fits]) => {
    const [one] = resolve([plugin('one', 'global', { engine })]);
    expect(one?.state).toBe(fits ? 'resolved' : 'refused');
    if (!fits) expect(one?.reason).toMatch(/needs newt-agent .*, this is 1\.2\.3\. To fix it: /);
  });

  test('that is no range is refused', () => {
    expect(told(resolve([plugin('one', 'global', { engine: 'newest' })]))).toEqual([['global one', 'refused', 'engine "newest" is not a version range']]);
  });

  test('fits a version before its release', () => {
    expect(resolve([plugin('one', 'global', { engine: '>=1.0.0' })], { version: '2.0.0-rc.1' })[0]?.state).toBe('resolved');
  });
});

describe('requirements', () => {
  test('what is required comes first', () => {
    const [top, middle, bottom] = resolve([plugin('top', 'global', requires({ middle: '*' })), plugin('middle', 'global', requires({ bottom: '^1.0.0' })), plugin('bottom', 'npm', { version: '1.5.0' })]);
    expect([top?.rank, middle?.rank, bottom?.rank]).toEqual([2, 1, 0]);
  });

  test('what is missing takes its dependents along', () => {
    const records = resolve([plugin('top', 'global', requires({ middle: '*' })), plugin('middle', 'global', requires({ bottom: '*' })), plugin('other')]);
    expect(told(records)).toEqual([
      ['global top', 'refused', expect.stringContaining('needs the plugin middle')],
      ['global middle', 'refused', expect.stringContaining('needs the plugin bottom')],
      ['global other', 'resolved', undefined],
    ]);
    // It was not the person who turned it off: a guard among them must deny.
    expect(records[0]?.excused).toBe(false);
  });

  test('a version that does not fit is told with both', () => {
    expect(told(resolve([plugin('top', 'global', requires({ bottom: '^2.0.0' })), plugin('bottom', 'global', { version: '1.5.0' })]))).toEqual([
      ['global top', 'refused', 'needs bottom ^2.0.0, found 1.5.0'],
      ['global bottom', 'resolved', undefined],
    ]);
  });

  test('a cycle refuses its members and who needs them', () => {
    const records = resolve([plugin('one', 'global', requires({ two: '*' })), plugin('two', 'global', requires({ one: '*' })), plugin('three', 'global', requires({ one: '*' })), plugin('self', 'global', requires({ self: '*' })), plugin('four')]);
    expect(records.map(({ state }) => state)).toEqual(['refused', 'refused', 'refused', 'refused', 'resolved']);
    expect(records[0]?.reason).toBe('its required plugins form a cycle');
  });
});

describe('the configuration', () => {
  test('turns plugins off in every tier, which excuses them', () => {
    const records = resolve([plugin('one', 'builtin'), plugin('one', 'global'), plugin('two')], { disabled: ['one'] });
    expect(records.map(({ state, excused }) => [state, excused])).toEqual([['refused', true], ['refused', true], ['resolved', false]]);
    expect(records[0]?.reason).toBe('turned off by plugins.disabled in the configuration');
  });

  test('replaces a built-in: the replacement answers to both ids', () => {
    const [old, replacement, dependent] = resolve([plugin('old', 'builtin'), plugin('new', 'global', { version: '2.0.0' }), plugin('user', 'global', requires({ old: '^2.0.0' }))], { replaces: { old: 'new' } });
    expect(old).toMatchObject({ state: 'refused', reason: 'replaced by new (plugins.replaces)', excused: true });
    expect(replacement?.state).toBe('resolved');
    expect(dependent).toMatchObject({ state: 'resolved', rank: 1 });
  });

  test('replaces built-ins only', () => {
    expect(resolve([plugin('old', 'global'), plugin('new', 'global')], { replaces: { old: 'new' } }).map(({ state }) => state)).toEqual(['resolved', 'resolved']);
  });
});

test('an untrusted project runs nothing, which excuses it, and shadows nothing', () => {
  const records = resolve([plugin('one', 'project'), plugin('one', 'global')], { untrusted: 'this project is not trusted' });
  expect(told(records)).toEqual([['project one', 'refused', 'this project is not trusted'], ['global one', 'resolved', undefined]]);
  expect(records[0]?.excused).toBe(true);
});

test('what was found to be unusable is told with its fix, and is no excuse', () => {
  const record = new PluginRecord({ ...plugin('one').candidate, problem: { reason: 'broken', hint: 'mend it' } }, silent);
  expect(told(resolve([record]))).toEqual([['global one', 'refused', 'broken. To fix it: mend it']]);
  expect(record.excused).toBe(false);
});
