/** The total order of taps, and the reasons for it. Never the file system's, never that of loading. */
import { KernelError } from './errors.ts';
import type { Stage } from './hook-spec.ts';
import { runOrder, type Tier } from './tier.ts';

export interface Ordered {
  readonly plugin: string;
  readonly tier: Tier;
  readonly stage: Stage;
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Depth in the dependency order: what is required comes before what requires it. */
  readonly rank: number;
}

export interface OrderFault {
  readonly plugin: string;
  readonly error: KernelError;
}

const stages: readonly Stage[] = ['pre', 'normal', 'post'];

/**
 * Stage, then `before`/`after`, then dependency order, tier and id. Kahn's algorithm with the tap that
 * is first by the later criteria taken each time, so the result is the same for every input order.
 *
 * A `before`/`after` that names nobody is reported and ignored. The constraints among the members of a
 * cycle are reported and dropped: the order stays total, and keeps all others.
 */
export function sortTaps<T extends Ordered>(hook: string, taps: readonly T[]): { sorted: T[]; faults: OrderFault[] } {
  const faults: OrderFault[] = [];
  const present = new Set(taps.map((tap) => tap.plugin));
  const sorted: T[] = [];
  for (const stage of stages) {
    sorted.push(...sortStage(hook, taps.filter((tap) => tap.stage === stage).sort(compare), faults));
  }
  for (const tap of taps) {
    for (const [word, ids] of [['before', tap.before], ['after', tap.after]] as const) {
      for (const id of ids) {
        if (present.has(id)) continue;
        faults.push({ plugin: tap.plugin, error: new KernelError('CONTRACT', { what: `${word}: "${id}" names no plugin that taps ${hook}`, hint: 'check the id; the constraint is ignored' }) });
      }
    }
  }
  return { sorted, faults };
}

function sortStage<T extends Ordered>(hook: string, taps: T[], faults: OrderFault[]): T[] {
  if (taps.every((tap) => tap.before.length + tap.after.length === 0)) return taps;
  const waitsFor = new Map<T, Set<T>>(taps.map((tap) => [tap, new Set<T>()]));
  for (const tap of taps) {
    for (const other of taps) {
      if (other === tap) continue;
      if (tap.before.includes(other.plugin)) waitsFor.get(other)?.add(tap);
      if (tap.after.includes(other.plugin)) waitsFor.get(tap)?.add(other);
    }
  }
  const sorted: T[] = [];
  while (waitsFor.size > 0) {
    const next = [...waitsFor].find(([, blockers]) => blockers.size === 0)?.[0];
    if (!next) {
      const cycle = cycleIn(waitsFor);
      const error = new KernelError('CYCLE', { what: hook, cycle: cycle.map((tap) => tap.plugin).join(' → ') });
      faults.push(...cycle.map((tap) => ({ plugin: tap.plugin, error })));
      for (const tap of cycle) for (const other of cycle) waitsFor.get(tap)?.delete(other);
      continue;
    }
    waitsFor.delete(next);
    for (const blockers of waitsFor.values()) blockers.delete(next);
    sorted.push(next);
  }
  return sorted;
}

/** A cycle of a graph in which everybody waits for somebody: following anyone leads into one. */
function cycleIn<T>(waitsFor: ReadonlyMap<T, ReadonlySet<T>>): T[] {
  const path: T[] = [];
  let [tap] = waitsFor.keys();
  while (tap !== undefined && !path.includes(tap)) {
    path.push(tap);
    [tap] = waitsFor.get(tap) ?? [];
  }
  return path.slice(path.indexOf(tap as T)).reverse();
}

function compare(a: Ordered, b: Ordered): number {
  return a.rank - b.rank || runOrder.indexOf(a.tier) - runOrder.indexOf(b.tier) || (a.plugin < b.plugin ? -1 : a.plugin > b.plugin ? 1 : 0);
}

/** Why `tap` stands where it stands, in the order the criteria count. */
export function explainPlace(tap: Ordered): string {
  const reasons = [`stage ${tap.stage}`];
  if (tap.before.length) reasons.push(`before ${tap.before.join(', ')}`);
  if (tap.after.length) reasons.push(`after ${tap.after.join(', ')}`);
  if (tap.rank > 0) reasons.push(`dependency depth ${tap.rank}`);
  reasons.push(`tier ${tap.tier}`, `id ${tap.plugin}`);
  return reasons.join(', ');
}
