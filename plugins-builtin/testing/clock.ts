/** Time that stands still until a test moves it: what `p.now` and `p.every` go by. */
import type { Disposable } from '../public.ts';

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Lets `ms` milliseconds pass. Every turn of `p.every` that falls due runs at its time, and is waited for.
   * @throws Error above 100,000 turns
   */
  tick(ms: number): Promise<void>;
}

export interface TurningClock extends Clock {
  /** @param failed hears of what a turn throws */
  every(ms: number, turn: () => void | Promise<void>, failed: (error: unknown) => void): Disposable;
}

interface Turning {
  readonly ms: number;
  readonly run: () => Promise<void>;
  due: number;
}

const maxTurns = 100_000;
/** Real milliseconds after which the next turn does not wait for one that is still busy. */
const turnPatience = 1_000;

/** @param start milliseconds since the epoch */
export function stoppedClock(start: number): TurningClock {
  let now = start;
  const turning = new Set<Turning>();
  return {
    now: () => now,
    async tick(ms) {
      const until = now + ms;
      for (let turns = 0; ; turns += 1) {
        const next = [...turning].reduce<Turning | undefined>((first, one) => (one.due <= until && (!first || one.due < first.due) ? one : first), undefined);
        if (!next) break;
        if (turns >= maxTurns) throw new Error(`more than ${maxTurns} turns of p.every within ${ms} ms: tick less at a time`);
        now = Math.max(now, next.due);
        next.due += next.ms;
        await atMost(turnPatience, next.run());
      }
      now = until;
    },
    every(given, turn, failed) {
      const ms = Math.max(1, given);
      let busy = false;
      const run = async (): Promise<void> => {
        // As with the real one: a turn is skipped while the last one still runs.
        if (busy) return;
        busy = true;
        try {
          await turn();
        } catch (error) {
          failed(error);
        } finally {
          busy = false;
        }
      };
      const entry: Turning = { ms, run, due: now + ms };
      turning.add(entry);
      return { dispose: () => void turning.delete(entry) };
    },
  };
}

async function atMost(ms: number, work: Promise<void>): Promise<void> {
  let late: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise<void>((resolve) => (late = setTimeout(resolve, ms)))]);
  clearTimeout(late);
}
