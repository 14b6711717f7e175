/** What chaos found, for a program and for a person. */

/** One thing that is wrong with a plugin. */
export interface ChaosProblem {
  /** `tools/hello.run`, `hook prompt.build`, `setup`, `timer`. */
  readonly where: string;
  /** What it did: `threw TypeError: …`, `did not settle within 300 ms`. */
  readonly what: string;
  /** What it was asked when it did. */
  readonly when: string;
  /** What a person would be told; empty where they would not be told at all. */
  readonly told: string;
}

export interface ChaosReport {
  readonly ok: boolean;
  readonly plugin: string;
  readonly problems: readonly ChaosProblem[];
  /** What is no problem, and worth knowing: what was not tried, and why. */
  readonly remarks: readonly string[];
  /** What was tried: taps, members of contributions, turns of `p.every`. */
  readonly callables: readonly string[];
  readonly calls: number;
  /** How often it was set up and taken down. */
  readonly rounds: number;
  /** Milliseconds altogether. */
  readonly ms: number;
  toString(): string;
}

export function reportOf(facts: Omit<ChaosReport, 'ok' | 'toString'>): ChaosReport {
  const ok = facts.problems.length === 0;
  return { ...facts, ok, toString: () => lines(facts, ok).join('\n') };
}

function lines({ plugin, problems, remarks, callables, calls, rounds, ms }: Omit<ChaosReport, 'ok' | 'toString'>, ok: boolean): string[] {
  const tried = `${count(calls, 'call')} of ${count(callables.length, 'part')}, ${count(rounds, 'round')} of setup and end, ${(ms / 1_000).toFixed(1)} s`;
  return [
    `${plugin}: ${ok ? 'holds in chaos' : count(problems.length, 'problem')} (${tried})`,
    ...problems.flatMap(({ where, what, when, told }) => [`✗ ${where}: ${what}`, ...(when ? [`    ${when}`] : []), ...(told ? [`    a person sees: ${told}`] : [])]),
    ...remarks.map((remark) => `- ${remark}`),
  ];
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}
