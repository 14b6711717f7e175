/** The process as plugins see it: they cannot end it, move it, or take its listeners away. */
import { readFileSync } from 'node:fs';
import { KernelError } from '../errors.ts';
import type { PluginRecord } from '../lifecycle.ts';
import type { Provenance } from './provenance.ts';
import { type Callback, foreign, owned, type Owner, patch, runningPlugin, type Stray } from './contain-patch.ts';

/** Ending the process, or moving it to another folder, is not for a plugin to do: the call throws, and `refused` is told. */
export function refuseProcessControl(ownerOf: Owner, refused: (owner: PluginRecord, error: KernelError) => void): (() => void)[] {
  const refuse = (call: string, code: 'EXIT' | 'PROCESS' = 'EXIT'): void => {
    const owner = ownerOf();
    if (!foreign(owner)) return;
    const error = new KernelError(code, { call });
    refused(owner, error);
    throw error;
  };
  const { exit, abort, kill, chdir, setUncaughtExceptionCaptureCallback } = process;
  const inner = process as unknown as { reallyExit(code?: number): never; _kill(pid: number, signal: number): number };
  const { _kill } = inner;
  const reallyExit = inner.reallyExit.bind(process);
  return [
    patch(process, 'exit', (code?: number | string | null): never => {
      refuse(`process.exit(${code ?? ''})`);
      return exit(code);
    }),
    patch(process, 'abort', (): never => {
      refuse('process.abort()');
      return abort();
    }),
    patch(process, 'kill', (pid: number, signal?: string | number): true => {
      // Made a number once: what Node makes of an object is its own affair every time.
      const target = Number(pid);
      if (signal !== 0 && isOurs(target)) refuse(`process.kill(${target}, ${signal ?? 'SIGTERM'})`);
      return kill.call(process, target, signal);
    }),
    // process.kill itself ends here, with the agent's own word for it.
    patch(inner, '_kill', (pid: number, signal: number): number => {
      const [target, number] = [Number(pid), Number(signal)];
      if (number !== 0 && isOurs(target)) refuse(`process.kill(${target}, ${number})`);
      return _kill.call(process, target, number);
    }),
    // process.exit itself ends here, with the agent's own word for it.
    patch(inner, 'reallyExit', (code?: number): never => {
      refuse(`process.reallyExit(${code ?? ''})`);
      return reallyExit(code);
    }),
    patch(process, 'chdir', (folder: string): void => {
      refuse('process.chdir()', 'PROCESS');
      chdir.call(process, folder);
    }),
    patch(process, 'setUncaughtExceptionCaptureCallback', (callback: ((error: Error) => void) | null): void => {
      refuse('process.setUncaughtExceptionCaptureCallback()', 'PROCESS');
      setUncaughtExceptionCaptureCallback.call(process, callback);
    }),
  ];
}

/** Whether a signal to `pid` reaches this process: by its id, by that of its group, by 0 (the own group) and -1 (everybody). */
function isOurs(pid: number): boolean {
  return [process.pid, -process.pid, 0, -1, -ownGroup()].includes(Math.trunc(pid) + 0);
}

/** The id of the process group, where the system tells it; else our own, as if we led it. */
function ownGroup(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
  } catch {
    return process.pid;
  }
}

/** What the agent lives by: who hears of these, and that they are true, is not for a plugin to change. */
const vital = /^(?:uncaughtException|unhandledRejection|SIG[A-Z0-9]+)$/;

/** An event of the process that a plugin makes up is refused. Only the very caller counts: what is true comes from Node. */
export function refuseEvents(provenance: Provenance, refused: (owner: PluginRecord, error: KernelError) => void): () => void {
  const emit = process.emit.bind(process) as Callback;
  const guarded: Callback = (...args) => {
    const owner = vital.test(String(args[0])) ? (provenance.callerOf(guarded) as PluginRecord | undefined) : undefined;
    if (!foreign(owner)) return emit(...args);
    const error = new KernelError('PROCESS', { call: `process.emit('${String(args[0])}')` });
    refused(owner, error);
    throw error;
  };
  return patch(process, 'emit', guarded as never);
}

/**
 * Remembers which plugin listens to the process, so that the listeners can go with it. What they throw is
 * caught: thrown while an uncaught error is being told, it would end the process.
 */
export function trackListeners(provenance: Provenance, stray: Stray) {
  type Listener = Callback & { listener?: Callback };
  const byOwner = new Map<PluginRecord, Map<Listener, string>>();
  const { off, on, prependListener } = process;
  const methods = [['on', on], ['addListener', on], ['prependListener', prependListener], ['once', on], ['prependOnceListener', prependListener]] as const;
  const undo = methods.map(([method, add]) => {
    const original = process[method] as (event: string, listener: Callback) => NodeJS.Process;
    const once = method.toLowerCase().includes('once');
    const replacement = (event: string, listener: Callback): NodeJS.Process => {
      const owner = runningPlugin(provenance);
      if (!owner || typeof listener !== 'function') return original.call(process, event, listener);
      const run = owned(provenance, owner, stray, listener);
      const known = byOwner.get(owner) ?? new Map<Listener, string>();
      byOwner.set(owner, known);
      const guarded: Listener = function (this: unknown, ...args) {
        if (once) off.call(process, event, guarded);
        return run.apply(this, args);
      };
      guarded.listener = listener; // by which `off` finds it
      known.set(guarded, event);
      return (add as typeof original).call(process, event, guarded);
    };
    return patch(process, method, replacement as never);
  });
  const clear = (record: PluginRecord, only?: unknown): number => {
    const known = byOwner.get(record);
    const listeners = [...(known ?? [])].filter(([listener, event]) => (only ?? event) === event && process.rawListeners(event).includes(listener));
    for (const [listener, event] of listeners) {
      off.call(process, event, listener);
      known?.delete(listener);
    }
    return listeners.length;
  };
  // The agent listens as well, and lives by it: a plugin takes away what it added, and nothing else.
  const { removeAllListeners } = process;
  const removeOwn = (...events: [event?: string]): NodeJS.Process => {
    const owner = runningPlugin(provenance);
    if (!owner) return removeAllListeners.apply(process, events as []);
    clear(owner, events[0]);
    return process;
  };
  undo.push(patch(process, 'removeAllListeners', removeOwn as never));
  for (const method of ['off', 'removeListener'] as const) {
    const remove = (event: string, listener: Callback): NodeJS.Process => {
      const owner = vital.test(event) ? runningPlugin(provenance) : undefined;
      const isOwn = [...((owner && byOwner.get(owner)?.keys()) ?? [])].some((one) => one === listener || one.listener === listener);
      return owner && !isOwn ? process : (off.call(process, event, listener) as NodeJS.Process);
    };
    undo.push(patch(process, method, remove as never));
  }
  return { undo, clear: (record: PluginRecord) => clear(record), count: (record: PluginRecord) => byOwner.get(record)?.size ?? 0 };
}
