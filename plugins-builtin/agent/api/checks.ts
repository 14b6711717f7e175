/** Checks: what `agent doctor` asks of each plugin about what it owns. */
import { definePoint } from '../../../kernel/index.ts';
import type { Call } from '../../../kernel/index.ts';

/** `error`: a person has to do something. `warn`: it works, but not as it could. `info`: good to know. */
export type Level = 'ok' | 'info' | 'warn' | 'error';

/** Plain text, shown on one line each; never with a secret in it. */
export interface Finding {
  readonly level: Level;
  /** What was looked at, in a word or two: `git`, `config`. */
  readonly what: string;
  /** What was found. */
  readonly detail: string;
  /** What to do: a command line where there is one. */
  readonly fix?: string;
}

export interface CheckPlace {
  /** Absolute folder that the person asks about. */
  readonly cwd: string;
}

/** Looks, and changes nothing. What it throws is told as its failure. */
export interface Check {
  /** What it looks at, shown while it works: `the model`. */
  readonly description: string;
  /** Seconds it may take; default 5. */
  readonly deadline?: number;
  run(place: CheckPlace, call: Call): readonly Finding[] | Promise<readonly Finding[]>;
}

declare module '../../../kernel/index.ts' {
  interface ContributionMap {
    checks: Check;
  }
}

const usualDeadline = 5;
const longestDeadline = 30;
const levels: readonly unknown[] = ['ok', 'info', 'warn', 'error'] satisfies readonly Level[];

/** Plugins that contribute one and are not started anyway name the activation event `checks`. */
export const checksPoint = definePoint('checks', {
  check: (item) => (typeof item.description === 'string' && item.description ? undefined : 'needs a description'),
  members: {
    run: { kind: 'call', deadline: (item) => Math.min(item.deadline ?? usualDeadline, longestDeadline) * 1_000, check: (value) => Array.isArray(value) && value.every(isFinding) },
  },
});

function isFinding(value: unknown): value is Finding {
  if (typeof value !== 'object' || value === null) return false;
  const { level, what, detail, fix } = value as Readonly<Record<string, unknown>>;
  return levels.includes(level) && typeof what === 'string' && typeof detail === 'string' && (fix === undefined || typeof fix === 'string');
}
