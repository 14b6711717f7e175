/** Ctrl-C and its kin: the first cancels, the second quits. */
import { constants } from 'node:os';
import { decidesOnSignal, type Disposable, disposable } from 'newt-agent';

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface Interrupts extends Disposable {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** 128 and the number of the first signal, as shells count; undefined while there was none. */
  readonly code: number | undefined;
}

/**
 * Listens until it is disposed.
 * @param onFirst the person asked to stop
 * @param onSecond they insist; gets the exit code
 */
export function listenForInterrupts(onFirst: () => void, onSecond: (code: number) => void): Interrupts {
  const controller = new AbortController();
  let code: number | undefined;
  // The name is not taken from whoever emits the event: it may be anybody.
  const listeners = names.map((name) => {
    const onSignal = decidesOnSignal((): void => {
      if (code !== undefined) return onSecond(code);
      code = 128 + constants.signals[name];
      onFirst();
      controller.abort();
    });
    return [name, onSignal] as const;
  });
  for (const [name, onSignal] of listeners) process.on(name, onSignal);
  const { dispose } = disposable(() => {
    for (const [name, onSignal] of listeners) process.off(name, onSignal);
  });
  return {
    signal: controller.signal,
    get code() {
      return code;
    },
    dispose,
  };
}
