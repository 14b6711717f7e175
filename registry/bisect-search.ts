/**
 * The search of `agent plugin bisect`, without the running: which plugins are on in the next run, and what the runs so
 * far prove. It is a function of the runs, so whoever kept them goes on where he was.
 *
 * Binary search over the beginnings of the dependency order. A beginning of it holds whatever its members require, so
 * every run is closed under dependencies; and both ends of the interval were seen, not concluded: the plugin found is
 * one whose absence was good and whose presence was bad, with all others the same.
 */

export interface Searched {
  readonly id: string;
  /** Ids; who is not among those searched does not count. */
  readonly requires: readonly string[];
}

export type Verdict = 'good' | 'bad' | 'skip';

/** What is on: the first `through` plugins of the order, and those in `with` (by place) with what they require. */
export interface Probe {
  readonly through: number;
  readonly with: readonly number[];
}

export interface Run extends Probe {
  readonly verdict: Verdict;
}

export type Outcome =
  /** With everything on it is good. */
  | { readonly kind: 'good-with-all' }
  /** With everything off it is bad. */
  | { readonly kind: 'bad-with-none' }
  /** One of the runs that all else rests on could not tell. */
  | { readonly kind: 'cannot-tell'; readonly probe: Probe }
  /** One of these: the runs that would tell them apart were skipped. */
  | { readonly kind: 'range'; readonly places: readonly number[] }
  /** `alone`: whether it is bad without the others, too; undefined where no run has shown that. */
  | { readonly kind: 'found'; readonly place: number; readonly alone: boolean | undefined }
  /** Bad together. `enough` is false where these two are good without a third; undefined where that could not be told. */
  | { readonly kind: 'pair'; readonly place: number; readonly partner: number; readonly enough: boolean | undefined }
  /** It takes others too; which could not be told: one of these. */
  | { readonly kind: 'partner-range'; readonly place: number; readonly places: readonly number[] };

export type Step = { readonly run: Probe; readonly atMost: number } | { readonly end: Outcome };

/** Runs it takes at most to find one plugin of `amount`: ⌈log₂ n⌉ for the search, one with all, one with none. */
export function mostRuns(amount: number): number {
  return Math.ceil(Math.log2(Math.max(1, amount))) + 2;
}

/** What is required before who requires it; else as given. Members of a cycle come last, as given. */
export function dependencyOrder<T extends Searched>(plugins: readonly T[]): T[] {
  const ids = new Set(plugins.map(({ id }) => id));
  const placed = new Set<string>();
  const ordered: T[] = [];
  let left = [...plugins];
  while (left.length > 0) {
    const next = left.find(({ requires }) => requires.every((id) => placed.has(id) || !ids.has(id)));
    if (!next) return [...ordered, ...left];
    ordered.push(next);
    placed.add(next.id);
    left = left.filter((one) => one !== next);
  }
  return ordered;
}

/** Ids that are on. */
export function idsOn(order: readonly Searched[], { through, with: places }: Probe): Set<string> {
  const byId = new Map(order.map((plugin) => [plugin.id, plugin]));
  const on = new Set(order.slice(0, through).map(({ id }) => id));
  const add = (id: string): void => {
    const plugin = byId.get(id);
    if (!plugin || on.has(id)) return;
    on.add(id);
    plugin.requires.forEach(add);
  };
  for (const place of places) add(order[place]?.id ?? '');
  return on;
}

/**
 * The next run, or what all of them prove.
 * @param order see {@link dependencyOrder}
 * @param thorough whether to go beyond {@link mostRuns} to see if the fault takes a second plugin
 */
export function nextStep(order: readonly Searched[], runs: readonly Run[], thorough: boolean): Step {
  const amount = order.length;
  const verdictOf = (probe: Probe): Verdict | undefined => runs.find((run) => sameProbe(run, probe))?.verdict;
  const skipped = runs.filter(({ verdict }) => verdict === 'skip').length;
  // One that cannot tell costs itself, and what is gone around instead may halve unevenly: one more.
  const limit = mostRuns(amount) + 2 * skipped;
  const ask = (run: Probe, atMost = limit): Step => ({ run, atMost: Math.max(atMost, runs.length + 1) });

  const all: Probe = { through: amount, with: [] };
  const none: Probe = { through: 0, with: [] };
  for (const [probe, wanted, otherwise] of [[all, 'bad', 'good-with-all'], [none, 'good', 'bad-with-none']] as const) {
    const verdict = verdictOf(probe);
    if (verdict === undefined) return ask(probe);
    if (verdict === 'skip') return { end: { kind: 'cannot-tell', probe } };
    if (verdict !== wanted) return { end: { kind: otherwise } };
  }

  const first = narrow(0, amount, [], verdictOf);
  if ('next' in first) return ask(first.next);
  if (first.high - first.low > 1) return { end: { kind: 'range', places: between(first.low, first.high) } };

  const place = first.high - 1;
  const alone = idsOn(order, { through: 0, with: [place] });
  if (alone.size === first.high) return { end: { kind: 'found', place, alone: true } };
  const probe: Probe = { through: 0, with: [place] };
  const verdict = verdictOf(probe);
  if (verdict === undefined) {
    // Within what was promised it is looked at for nothing.
    if (runs.length < limit || thorough) return ask(probe, Math.max(limit, runs.length + 1));
    return { end: { kind: 'found', place, alone: undefined } };
  }
  if (verdict !== 'good') return { end: { kind: 'found', place, alone: verdict === 'bad' ? true : undefined } };

  // Good alone, bad with all before it: the same search for who it takes, with this one on in every run.
  const second = narrow(0, place, [place], verdictOf);
  const further = Math.ceil(Math.log2(Math.max(1, place))) + 1;
  if ('next' in second) return ask(second.next, limit + 1 + further);
  if (second.high - second.low > 1) return { end: { kind: 'partner-range', place, places: between(second.low, second.high) } };
  const partner = second.high - 1;
  const both: Probe = { through: 0, with: [place, partner] };
  const together = verdictOf(both);
  if (together === undefined) return ask(both, limit + 1 + further);
  return { end: { kind: 'pair', place, partner, enough: together === 'skip' ? undefined : together === 'bad' } };
}

/** Halves between `low` (good) and `high` (bad) as far as the runs go. What was skipped is gone around, the nearest first. */
function narrow(low: number, high: number, places: readonly number[], verdictOf: (probe: Probe) => Verdict | undefined): { readonly low: number; readonly high: number } | { readonly next: Probe } {
  while (high - low > 1) {
    const middle = (low + high) / 2;
    const inside = between(low, high).slice(1).sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle) || a - b);
    const told = inside.find((through) => verdictOf({ through, with: places }) !== 'skip');
    if (told === undefined) break;
    const verdict = verdictOf({ through: told, with: places });
    if (verdict === undefined) return { next: { through: told, with: places } };
    if (verdict === 'bad') high = told;
    else low = told;
  }
  return { low, high };
}

/** `low`, …, `high - 1` */
function between(low: number, high: number): number[] {
  return Array.from({ length: high - low }, (_, index) => low + index);
}

function sameProbe(a: Probe, b: Probe): boolean {
  return a.through === b.through && a.with.join() === b.with.join();
}
