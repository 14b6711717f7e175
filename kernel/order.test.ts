import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Stage } from './hook-spec.ts';
import { explainPlace, type Ordered, sortTaps } from './order.ts';
import { runOrder } from './tier.ts';

const stages: readonly Stage[] = ['pre', 'normal', 'post'];
const ids = ['a', 'b', 'c', 'd', 'e', 'f'];

function tap(plugin: string, more: Partial<Ordered> = {}): Ordered {
  return { plugin, tier: 'global', stage: 'normal', before: [], after: [], rank: 0, ...more };
}

const names = (taps: readonly Ordered[]): string[] => taps.map(({ plugin }) => plugin);
const sorted = (...taps: Ordered[]): string[] => names(sortTaps('try.it', taps).sorted);

const anyTaps = fc
  .uniqueArray(fc.constantFrom(...ids), { minLength: 1 })
  .chain((present) =>
    fc.tuple(
      ...present.map((plugin) =>
        fc.record({
          plugin: fc.constant(plugin),
          tier: fc.constantFrom(...runOrder),
          stage: fc.constantFrom(...stages),
          before: fc.uniqueArray(fc.constantFrom(...ids.filter((id) => id !== plugin)), { maxLength: 2 }),
          after: fc.uniqueArray(fc.constantFrom(...ids.filter((id) => id !== plugin)), { maxLength: 2 }),
          rank: fc.integer({ min: 0, max: 3 }),
        }),
      ),
    ),
  );

/** The pairs that must stand in this order. */
function constraints(taps: readonly Ordered[]): [first: string, second: string][] {
  return taps.flatMap((one) =>
    taps.flatMap((other) => [
      ...(one.before.includes(other.plugin) && one.stage === other.stage ? [[one.plugin, other.plugin] as [string, string]] : []),
      ...(one.after.includes(other.plugin) && one.stage === other.stage ? [[other.plugin, one.plugin] as [string, string]] : []),
    ]),
  );
}

/** The plugins that reach themselves. */
function inCycles(pairs: readonly [string, string][]): Set<string> {
  const reach = (from: string, seen: Set<string>): Set<string> => {
    for (const [first, second] of pairs) {
      if (first !== from || seen.has(second)) continue;
      seen.add(second);
      reach(second, seen);
    }
    return seen;
  };
  return new Set(ids.filter((id) => reach(id, new Set()).has(id)));
}

describe('for every set of taps', () => {
  test('the order is total, and the same whatever the order they came in', () => {
    fc.assert(
      fc.property(anyTaps.chain((taps) => fc.tuple(fc.constant(taps), fc.shuffledSubarray([...taps], { minLength: taps.length }))), ([taps, shuffled]) => {
        const one = sortTaps('try.it', taps);
        expect(names(one.sorted).sort()).toEqual(names(taps).sort());
        expect(names(sortTaps('try.it', shuffled).sorted)).toEqual(names(one.sorted));
      }),
    );
  });

  test('stages hold always, and every constraint that is in no cycle', () => {
    fc.assert(
      fc.property(anyTaps, (taps) => {
        const order = sortTaps('try.it', taps).sorted;
        const at = new Map(order.map(({ plugin }, index) => [plugin, index]));
        for (let index = 1; index < order.length; index++) {
          expect(stages.indexOf(order[index - 1]?.stage ?? 'pre')).toBeLessThanOrEqual(stages.indexOf(order[index]?.stage ?? 'post'));
        }
        const pairs = constraints(taps);
        const cyclic = inCycles(pairs);
        for (const [first, second] of pairs) {
          if (!cyclic.has(first) || !cyclic.has(second)) expect(at.get(first)).toBeLessThan(at.get(second) ?? -1);
        }
      }),
    );
  });

  test('exactly the plugins of cycles and of unknown ids are told', () => {
    fc.assert(
      fc.property(anyTaps, (taps) => {
        const { faults } = sortTaps('try.it', taps);
        const present = new Set(names(taps));
        const told = (code: string) => new Set(faults.filter(({ error }) => error.code === code).map(({ plugin }) => plugin));
        const cyclic = inCycles(constraints(taps));
        for (const plugin of told('CYCLE')) expect(cyclic).toContain(plugin);
        expect(told('CYCLE').size > 0).toBe(cyclic.size > 0);
        expect(told('CONTRACT')).toEqual(new Set(taps.filter(({ before, after }) => [...before, ...after].some((id) => !present.has(id))).map(({ plugin }) => plugin)));
      }),
    );
  });
});

test('all else being equal: dependency depth, then tier, then id', () => {
  expect(sorted(tap('b'), tap('a'))).toEqual(['a', 'b']);
  expect(sorted(tap('a', { rank: 1 }), tap('b'))).toEqual(['b', 'a']);
  expect(sorted(tap('a', { tier: 'project' }), tap('b', { tier: 'global' }), tap('c', { tier: 'npm' }), tap('d', { tier: 'builtin' }))).toEqual(['d', 'c', 'b', 'a']);
});

test('before and after come before all that, but not before the stage', () => {
  expect(sorted(tap('a', { rank: 1, tier: 'project', before: ['b'] }), tap('b'))).toEqual(['a', 'b']);
  expect(sorted(tap('a', { after: ['b'] }), tap('b'))).toEqual(['b', 'a']);
  expect(sorted(tap('a', { stage: 'post', before: ['b'] }), tap('b'))).toEqual(['b', 'a']);
});

test('a cycle is told with its members, and does not drop the constraints of those behind it', () => {
  const { sorted: order, faults } = sortTaps('try.it', [tap('x', { before: ['y'] }), tap('y', { before: ['x'] }), tap('a', { after: ['y'] })]);
  expect(names(order)).toEqual(['x', 'y', 'a']);
  expect(names(faults as never)).toEqual(['x', 'y']);
  expect(faults[0]?.error.message).toMatch(/try\.it is a cycle: (x → y|y → x)/);
});

test('two taps of one plugin keep the order they were registered in', () => {
  const [first, second] = [tap('a'), tap('a')];
  expect(sortTaps('try.it', [first, second]).sorted).toEqual([first, second]);
  expect(sortTaps('try.it', [first, second]).sorted[0]).toBe(first);
});

test('the place of a tap is explained', () => {
  expect(explainPlace(tap('a', { stage: 'pre', before: ['b'], after: ['c', 'd'], rank: 2 }))).toBe('stage pre, before b, after c, d, dependency depth 2, tier global, id a');
});
