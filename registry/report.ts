/** How the commands of this plugin fail: as news for the person, never as faults of this plugin. */
import { type Command, configurationError, type ErrorCode, isKernelError, OperationalError } from 'newt-agent';

type Run = NonNullable<Command['run']>;

/** Errors that the person resolves by typing or writing something else. */
const configurationErrors: ReadonlySet<ErrorCode> = new Set(['CONFIG_INVALID', 'CONFIG_UNREADABLE', 'UNKNOWN_HOOK', 'UNKNOWN_PLUGIN']);

export { configurationError as refused };

/** What was asked for could not be done: exit code 1. */
export function failed(problem: string, hint?: string): OperationalError {
  return new OperationalError(problem, hint === undefined ? {} : { hint });
}

/** A command's `run` whose kernel errors are news. */
export function reporting(run: Run): Run {
  return async (invocation, call) => {
    try {
      return await run(invocation, call);
    } catch (error) {
      if (!isKernelError(error)) throw diskProblem(error);
      throw (configurationErrors.has(error.code) ? configurationError : failed)(error.message, error.hint);
    }
  };
}

/** A failure of the disk, as news; anything else as it is. @param place what could not be written, where that is known */
export function diskProblem(error: unknown, place?: string): unknown {
  const { code, syscall, path, message } = error as NodeJS.ErrnoException;
  if (!(error instanceof Error) || typeof syscall !== 'string') return error;
  const where = place ?? path;
  if (code === 'ENOSPC' || code === 'EDQUOT') return failed(`the disk${where === undefined ? '' : ` of ${where}`} is full: nothing was changed`, 'make room there, then try again');
  return failed(where === undefined ? message : `${where} cannot be written: ${message}`, 'check the folder and its permissions; nothing was changed');
}
