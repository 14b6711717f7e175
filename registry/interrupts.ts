/** Ctrl-C while something is installed: it stops where nothing is half done, and what was staged is taken away. */
import { constants } from 'node:os';
import { type Command, decidesOnSignal } from 'newt-agent';

type Run = NonNullable<Command['run']>;

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A command's `run` that is cancelled by a signal, and answers the code a shell expects then. A second signal ends the process. */
export function interruptible(run: Run): Run {
  return async (invocation, call) => {
    const controller = new AbortController();
    const signal = AbortSignal.any([...(call.signal ? [call.signal] : []), controller.signal]);
    let code: number | undefined;
    const listeners = names.map((name) => [
      name,
      decidesOnSignal((): void => {
        if (code !== undefined) process.exit(code);
        code = 128 + constants.signals[name];
        controller.abort();
      }),
    ] as const);
    for (const [name, listener] of listeners) process.on(name, listener);
    try {
      return await run(invocation, { ...call, signal });
    } catch (error) {
      call.io.progress?.(undefined);
      if (!signal.aborted) throw error;
      call.io.say('Cancelled: nothing was changed.');
      return code ?? 130;
    } finally {
      for (const [name, listener] of listeners) process.off(name, listener);
    }
  };
}
