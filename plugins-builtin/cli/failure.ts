/** A failure as a person reads it: what is wrong, then what to do. */
import { type CommandIO, FaultError, faultLine, isKernelError, isOperational, printable } from 'newt-agent';
import { isTerminal } from './terminal.ts';

/** Where failures are told. */
type Ear = Pick<CommandIO, 'say' | 'style'>;

export const exitCodes = { failed: 1, usage: 2 } as const;

/** Says what went wrong on standard error. */
export function sayFailure(io: Ear, problem: string, fix?: string): void {
  const { red, dim } = isTerminal(io) ? io.remarkStyle : io.style;
  io.say(`${red('agent:')} ${printable(problem).trimEnd()}`);
  if (fix) io.say(dim(`  ${printable(fix)}`));
}

/**
 * Says `error` and answers the exit code it means.
 * @throws what is neither a failure of the world, nor of the configuration, nor a fault of another plugin
 */
export function sayError(io: Ear, error: unknown): number {
  if (isKernelError(error)) {
    sayFailure(io, error.message, error.hint);
    return exitCodes.usage;
  }
  if (isOperational(error)) {
    const { hint, kind } = error.details;
    // Many messages end with their fix already, or list several.
    const told = typeof hint !== 'string' || error.message.includes(hint) || error.message.includes('\n');
    sayFailure(io, error.message, told ? undefined : hint);
    return kind === 'configuration' ? exitCodes.usage : exitCodes.failed;
  }
  if (error instanceof FaultError) {
    sayFailure(io, faultLine(error.fault));
    return exitCodes.failed;
  }
  throw error;
}
