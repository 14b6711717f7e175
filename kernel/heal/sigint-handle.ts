/**
 * Node's handle for SIGINT, kept across entries that take the signal for themselves.
 *
 * While `vm` breaks a script on SIGINT it holds the signal, and afterwards gives it back to the system, not to libuv:
 * that is why Node takes all listeners off before and puts them back behind. But a signal that came before, and was not
 * yet told, is lost with the handle it came to. (Seen: one Ctrl-C of twenty.) Here the listeners stay, and the same
 * handle is started again: it tells what it has still to tell.
 */
import { createHook } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { constants } from 'node:os';

interface SignalHandle {
  stop(): number;
  start(signal: number): number;
}

const { on, removeAllListeners } = EventEmitter.prototype;
const none = (): number => 0;

// There is one per process, as there is one signal.
let handle: SignalHandle | undefined;

/**
 * Notes the handle that `listen` makes Node make: by adding the first listener for SIGINT. Whoever starts a process does
 * this first of all: noted later, a signal that came before is lost.
 */
export function noteSigintHandle(listen: () => void): void {
  const made: SignalHandle[] = [];
  // Node shows it to async hooks alone.
  const hook = createHook({
    init: (_id, type, _trigger, resource) => {
      if (type === 'SIGNALWRAP') made.push(resource as SignalHandle);
    },
  });
  hook.enable();
  listen();
  hook.disable();
  // It does not tell whose it is: of several there is no choice.
  handle = made.length === 1 ? made[0] : undefined;
}

/** Runs what breaks on SIGINT; the listeners stay. */
export function lendSigint(run: () => void): void {
  const isHeard = process.listenerCount('SIGINT') > 0;
  if (isHeard && !handle) renew();
  if (!isHeard || !handle) return run();
  // Else `vm` would do what is told above.
  Object.defineProperty(process, 'listenerCount', { value: none, configurable: true });
  try {
    run();
  } finally {
    handle.stop();
    const failed = handle.start(constants.signals.SIGINT) !== 0;
    Reflect.deleteProperty(process, 'listenerCount');
    // All listeners had gone meanwhile, and others come: it is another handle now.
    if (failed) renew();
  }
}

function renew(): void {
  const listeners = process.rawListeners('SIGINT');
  removeAllListeners.call(process, 'SIGINT');
  handle = undefined;
  noteSigintHandle(() => {
    for (const listener of listeners) on.call(process, 'SIGINT', listener as () => void);
  });
}
