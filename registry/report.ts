/** How the commands of this plugin fail: one line that says what is wrong, one that says what to do. */
import { type Command, type CommandIO, type ErrorCode, isKernelError, oneLine } from 'newt-agent';

type Run = NonNullable<Command['run']>;

/** Errors that the person resolves by typing or writing something else. */
const usageErrors: ReadonlySet<ErrorCode> = new Set(['CONFIG_INVALID', 'CONFIG_UNREADABLE', 'MANIFEST', 'UNKNOWN_HOOK', 'UNKNOWN_PLUGIN']);

/** Ends a command before it did anything, with the exit code 2. */
export class Refused extends Error {
  readonly hint: string | undefined;
  constructor(problem: string, hint?: string) {
    super(problem);
    this.hint = hint;
  }
}

/** Says that the command was used, or something is configured, wrongly. @returns the exit code 2 */
export function refuse(io: CommandIO, problem: string, hint?: string): 2 {
  sayProblem(io, problem, hint);
  return 2;
}

/** Says that what was asked for could not be done. @returns the exit code 1 */
export function fail(io: CommandIO, problem: string, hint?: string): 1 {
  sayProblem(io, problem, hint);
  return 1;
}

/**
 * A command's `run` whose refusals and kernel errors are told to the person: thrown on, they would count
 * as faults of this plugin.
 */
export function reporting(run: Run): Run {
  return async (invocation, call) => {
    try {
      return await run(invocation, call);
    } catch (error) {
      if (error instanceof Refused) return refuse(call.io, error.message, error.hint);
      if (!isKernelError(error)) throw error;
      return (usageErrors.has(error.code) ? refuse : fail)(call.io, error.message, error.hint);
    }
  };
}

function sayProblem(io: CommandIO, problem: string, hint?: string): void {
  io.say(`${io.style.red('error:')} ${oneLine(problem, 1_000)}`);
  if (hint) io.say(`  ${io.style.cyan('hint:')} ${hint}`);
}
