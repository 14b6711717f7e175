/** What a run took. */
import type { Event } from 'newt-agent';
import { duration } from './tool-line.ts';

interface RunTotals {
  count(event: Event): void;
  /** `3 rounds · 1.2k tokens in · 300 out · 4.1 s`; the tokens where the server told them. */
  summary(): string;
}

export function countTotals(): RunTotals {
  let started: number | undefined;
  let latest = 0;
  let rounds = 0;
  let input: number | undefined;
  let output: number | undefined;
  return {
    count(event) {
      if (event.type === 'user') started ??= event.t;
      if (event.type === 'request') rounds = Math.max(rounds, event.data.round);
      if (event.type === 'usage') {
        input = sum(input, event.data.inputTokens);
        output = sum(output, event.data.outputTokens);
      }
      latest = event.t;
    },
    summary() {
      const parts = [
        `${rounds} ${rounds === 1 ? 'round' : 'rounds'}`,
        input === undefined ? '' : `${short(input)} tokens in`,
        output === undefined ? '' : `${short(output)}${input === undefined ? ' tokens' : ''} out`,
        started === undefined ? '' : duration(latest - started),
      ];
      return parts.filter(Boolean).join(' · ');
    },
  };
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return b === undefined ? a : (a ?? 0) + b;
}

/** `950`, `1.2k`, `3.4M` */
export function short(count: number): string {
  if (count < 1_000) return String(count);
  return count < 999_950 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}
