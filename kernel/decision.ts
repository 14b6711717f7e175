/** What a gate answers. */
export type Verdict = 'allow' | 'ask' | 'deny';

export interface Decision {
  readonly verdict: Verdict;
  /** One sentence for whoever asked: why. */
  readonly reason?: string;
  /** The rule that would change the answer, in the form the configuration takes. */
  readonly rule?: string;
  /** The plugin that answered; set by the kernel. */
  readonly by?: string;
}

export function allow(reason?: string): Decision {
  return { verdict: 'allow', ...(reason !== undefined && { reason }) };
}

export function ask(reason: string, rule?: string): Decision {
  return { verdict: 'ask', reason, ...(rule !== undefined && { rule }) };
}

export function deny(reason: string, rule?: string): Decision {
  return { verdict: 'deny', reason, ...(rule !== undefined && { rule }) };
}

const strictness: Record<Verdict, number> = { allow: 1, ask: 2, deny: 3 };

/** deny > ask > allow > abstain; of two equal answers the earlier one is kept. */
export function stricter(kept: Decision | undefined, next: Decision): Decision {
  return kept && strictness[kept.verdict] >= strictness[next.verdict] ? kept : next;
}

export function isDecision(value: unknown): value is Decision {
  return typeof value === 'object' && value !== null && 'verdict' in value && typeof value.verdict === 'string' && Object.hasOwn(strictness, value.verdict);
}
