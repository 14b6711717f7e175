/** The search over random dependency graphs, with an oracle that knows. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dependencyOrder, idsOn, mostRuns, nextStep, type Outcome, type Run, type Searched, type Verdict } from './bisect-search.ts';

/** Plugins that require any of those made before them, given in any order. */
const graphs = fc.integer({ min: 1, max: 90 }).chain((amount) =>
  fc.tuple(fc.array(fc.array(fc.nat({ max: 1_000 }), { maxLength: 3 }), { minLength: amount, maxLength: amount }), fc.shuffledSubarray(Array.from({ length: amount }, (_, at) => at), { minLength: amount })),
).map(([wishes, shown]) => {
  const plugins = wishes.map((wish, at): Searched => ({ id: `p${at}`, requires: at === 0 ? [] : [...new Set(wish.map((one) => `p${one % at}`)), ...(wish.length === 3 ? ['elsewhere'] : [])] }));
  return shown.map((at) => plugins[at] as Searched);
});

interface Played {
  readonly order: Searched[];
  readonly outcome: Outcome;
  readonly runs: Run[];
}

function play(plugins: readonly Searched[], oracle: (on: ReadonlySet<string>) => Verdict, thorough = false): Played {
  const order = dependencyOrder(plugins);
  const runs: Run[] = [];
  for (;;) {
    const step = nextStep(order, runs, thorough);
    if ('end' in step) return { order, outcome: step.end, runs };
    expect(step.atMost).toBeGreaterThan(runs.length);
    const on = idsOn(order, step.run);
    for (const { id, requires } of order) if (on.has(id)) for (const one of requires) if (one !== 'elsewhere') expect(on).toContain(one);
    expect(runs.some((run) => run.through === step.run.through && run.with.join() === step.run.with.join())).toBe(false);
    runs.push({ ...step.run, verdict: oracle(on) });
  }
}

const idOf = ({ order }: Played, place: number): string => order[place]?.id ?? '';

describe('one bad plugin', () => {
  test('is found in ⌈log₂ n⌉ + 2 runs at most, whatever the graph; every run is closed under dependencies', () => {
    fc.assert(
      fc.property(graphs, fc.nat(), (plugins, pick) => {
        const bad = plugins[pick % plugins.length]?.id ?? '';
        const played = play(plugins, (on) => (on.has(bad) ? 'bad' : 'good'));
        expect(played.outcome).toMatchObject({ kind: 'found' });
        if (played.outcome.kind !== 'found') return;
        expect(idOf(played, played.outcome.place)).toBe(bad);
        expect(played.outcome.alone).not.toBe(false);
        expect(played.runs.length).toBeLessThanOrEqual(mostRuns(plugins.length));
      }),
    );
  });

  test('64 plugins take 8 runs', () => {
    expect(mostRuns(64)).toBe(8);
    expect(mostRuns(1)).toBe(2);
    const plugins = Array.from({ length: 64 }, (_, at): Searched => ({ id: `p${at}`, requires: [] }));
    for (let at = 0; at < 64; at += 1) expect(play(plugins, (on) => (on.has(`p${at}`) ? 'bad' : 'good')).runs.length).toBeLessThanOrEqual(8);
  });

  // Two each, not one: a run that goes around it may halve unevenly (found by this property, seed 1033435233).
  test('runs that cannot tell cost two more each at most, and what they leave open is named', () => {
    fc.assert(
      fc.property(graphs, fc.nat(), fc.func(fc.integer({ min: 0, max: 4 })), (plugins, pick, mood) => {
        const bad = plugins[pick % plugins.length]?.id ?? '';
        const played = play(plugins, (on) => (on.size > 0 && on.size < plugins.length && mood([...on].sort().join()) === 0 ? 'skip' : on.has(bad) ? 'bad' : 'good'));
        const { outcome, runs } = played;
        expect(runs.length).toBeLessThanOrEqual(mostRuns(plugins.length) + 2 * runs.filter(({ verdict }) => verdict === 'skip').length);
        if (outcome.kind === 'found') expect(idOf(played, outcome.place)).toBe(bad);
        else expect(outcome.kind === 'range' ? outcome.places.map((place) => idOf(played, place)) : []).toContain(bad);
      }),
    );
  });
});

describe('a fault that takes two', () => {
  test('asked for, both are found, whatever they require', () => {
    fc.assert(
      fc.property(graphs.filter((plugins) => plugins.length > 1), fc.nat(), fc.nat(), (plugins, one, other) => {
        const [a, b] = [plugins[one % plugins.length]?.id ?? '', plugins[other % plugins.length]?.id ?? ''];
        const played = play(plugins, (on) => (on.has(a) && on.has(b) ? 'bad' : 'good'), true);
        const { outcome, order } = played;
        const requiresOther = (id: string, needed: string): boolean => idsOn(order, { through: 0, with: [order.findIndex((plugin) => plugin.id === id)] }).has(needed);
        if (a === b || requiresOther(a, b) || requiresOther(b, a)) expect(outcome).toMatchObject({ kind: 'found', alone: true });
        else {
          expect(outcome).toMatchObject({ kind: 'pair', enough: true });
          if (outcome.kind === 'pair') expect([idOf(played, outcome.place), idOf(played, outcome.partner)].sort()).toEqual([a, b].sort());
        }
        expect(played.runs.length).toBeLessThanOrEqual(2 * mostRuns(plugins.length) + 1);
      }),
    );
  });

  test('three are told from two', () => {
    const plugins = Array.from({ length: 10 }, (_, at): Searched => ({ id: `p${at}`, requires: [] }));
    expect(play(plugins, (on) => (['p1', 'p4', 'p8'].every((id) => on.has(id)) ? 'bad' : 'good'), true).outcome).toMatchObject({ kind: 'pair', enough: false });
  });
});

test('not the plugins: good with all, bad with none, or nobody can tell', () => {
  const plugins = Array.from({ length: 10 }, (_, at): Searched => ({ id: `p${at}`, requires: [] }));
  expect(play(plugins, () => 'good')).toMatchObject({ outcome: { kind: 'good-with-all' }, runs: { length: 1 } });
  expect(play(plugins, () => 'bad')).toMatchObject({ outcome: { kind: 'bad-with-none' }, runs: { length: 2 } });
  expect(play(plugins, () => 'skip')).toMatchObject({ outcome: { kind: 'cannot-tell' }, runs: { length: 1 } });
});

test('a cycle keeps nobody from being searched', () => {
  const order = dependencyOrder([{ id: 'a', requires: ['b'] }, { id: 'b', requires: ['a'] }, { id: 'c', requires: [] }]);
  expect(order.map(({ id }) => id)).toEqual(['c', 'a', 'b']);
});
