/** Health records: what a plugin did wrong, kept across runs under the digest of its content. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { writeAtomic } from '../atomic-write.ts';

export interface Quarantine {
  readonly cause: string;
  /** What would mend it, where the kernel knows. */
  readonly hint?: string;
  readonly at: number;
  /** Half-open probes made so far. */
  readonly probes: number;
  /** When the next one is due; undefined when there will be none. */
  readonly nextProbe: number | undefined;
}

export interface SlotHealth {
  /** Faults by fingerprint since the last 50 clean calls. */
  counts: Record<string, number>;
  /** Times of the latest faults. */
  recent: number[];
  clean: number;
  cause: string;
  quarantine?: Quarantine;
  /** The last one, after a probe that came through: a relapse does not begin the probes anew. */
  past?: Quarantine;
}

export interface Health {
  readonly id: string;
  /** The id a bare file gave itself when it was loaded. */
  told?: string;
  readonly digest: string;
  /** Counts for this run only. */
  readonly transient?: boolean;
  quarantine?: Quarantine;
  slots: Record<string, SlotHealth>;
}

const probeAfterMinutes = [1, 5, 30];

/** A new quarantine, or the next one after a probe that failed. */
export function quarantineFor({ cause, hint }: Pick<Quarantine, 'cause' | 'hint'>, now: number, previous?: Quarantine): Quarantine {
  const probes = previous ? previous.probes + 1 : 0;
  const minutes = probeAfterMinutes[probes];
  return { cause, ...(hint && { hint }), at: now, probes, nextProbe: minutes === undefined ? undefined : now + minutes * 60_000 };
}

/** One small file per plugin and content, replaced whole: two agents may write at once, and the later one wins. */
export class HealthStore {
  readonly #folder: string;
  /** What there was when it was first asked: most plugins have no record, and none is looked for one by one. */
  #names: ReadonlySet<string> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  load(id: string, digest: string): Health {
    const empty: Health = { id, digest, slots: {} };
    try {
      const file = this.#file(id, digest);
      if (!(this.#names ??= new Set(readdirSync(this.#folder))).has(basename(file))) return empty;
      const stored = JSON.parse(readFileSync(file, 'utf8')) as Partial<Health>;
      if (stored.digest !== digest || typeof stored.slots !== 'object' || stored.slots === null) return empty;
      const { quarantine, told, slots } = stored;
      const whole = (quarantine === undefined || isQuarantine(quarantine)) && Object.values(slots).every(isSlotHealth);
      return whole ? { ...empty, ...(quarantine && { quarantine }), ...(typeof told === 'string' && { told }), slots } : empty;
    } catch {
      return empty; // absent or damaged: a plugin without record is a healthy one
    }
  }

  /** @returns false when it could not be written (full or read-only disk): the run goes on without memory */
  save(health: Health): boolean {
    if (health.transient) return true;
    const file = this.#file(health.id, health.digest);
    try {
      if (!health.quarantine && Object.keys(health.slots).length === 0) {
        rmSync(file, { force: true });
        return true;
      }
      writeAtomic(file, JSON.stringify(health));
      return true;
    } catch {
      return false;
    }
  }

  #file(id: string, digest: string): string {
    return join(this.#folder, `${id}-${createHash('sha256').update(digest).digest('hex').slice(0, 16)}.json`);
  }
}

function isQuarantine(value: unknown): value is Quarantine {
  const { cause, hint, at, probes, nextProbe } = (value ?? {}) as Partial<Record<keyof Quarantine, unknown>>;
  return [typeof cause, typeof at, typeof probes].join() === 'string,number,number' && isOptional(hint, 'string') && isOptional(nextProbe, 'number');
}

function isSlotHealth(value: unknown): value is SlotHealth {
  const { counts, recent, clean, cause, quarantine, past } = (value ?? {}) as Partial<Record<keyof SlotHealth, unknown>>;
  const numbers = (list: unknown): boolean => typeof list === 'object' && list !== null && Object.values(list).every((one) => typeof one === 'number');
  return numbers(counts) && Array.isArray(recent) && numbers(recent) && typeof clean === 'number' && typeof cause === 'string' && [quarantine, past].every((one) => one === undefined || isQuarantine(one));
}

function isOptional(value: unknown, type: 'string' | 'number'): boolean {
  return value === undefined || typeof value === type;
}
