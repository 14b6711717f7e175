/** Failures that several parts tell in the same way. */
import { OperationalError } from '../../../kernel/index.ts';

/** Something was typed, or is configured, wrongly, and nothing was done: exit code 2. */
export function configurationError(problem: string, hint?: string, options?: ErrorOptions): OperationalError {
  return new OperationalError(problem, { kind: 'configuration', ...(hint !== undefined && { hint }) }, options);
}
