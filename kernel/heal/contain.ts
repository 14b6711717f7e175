/**
 * Process-wide containment: errors nobody catches, attempts to end the process, timers and console
 * output of plugins. Patches are undone when the kernel is disposed.
 */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import { format, promisify } from 'node:util';
import { KernelError } from '../errors.ts';
import type { FaultKind } from '../fault.ts';
import { faultKind } from './guard.ts';
import type { PluginRecord } from '../lifecycle.ts';
import type { LogLevel } from '../log.ts';
import { setImmediate } from './own-timers.ts';
import type { Frame, Provenance } from '../provenance.ts';
import { disposable, type Disposable } from '../scope.ts';

export interface ContainmentHost {
  readonly provenance: Provenance;
  readonly fault: (owner: PluginRecord | undefined, where: string, kind: FaultKind, error: unknown) => void;
  /** Whether a slot's guard already told of this very error. */
  readonly known: (error: unknown) => boolean;
}

export interface Containment extends Disposable {
  /** Ends what a plugin left behind, and says how much there was. */
  clear(record: PluginRecord): { readonly timers: number; readonly listeners: number };
}

export function containProcess(host: ContainmentHost): Containment {
  const ownerOf = (error?: unknown) => host.provenance.ownerOf(error) as PluginRecord | undefined;
  const undo: (() => void)[] = [];

  const tell = (owner: PluginRecord | undefined, where: string, kind: FaultKind, error: unknown) => {
    if (!host.known(error)) host.fault(owner, where, faultKind(kind, error), error);
  };
  const uncaught = (where: string) => (error: unknown) => tell(ownerOf(error), where, 'stray', error);
  undo.push(listen('uncaughtException', uncaught('stray error')), listen('unhandledRejection', uncaught('unhandled rejection')));
  // The throw that refuses an exit is told by the guard it passes; a plugin that swallows it is told of here.
  undo.push(...refuseExit(ownerOf, (owner, error) => void setImmediate(tell, owner, 'process', 'exit', error)));
  undo.push(...redirectConsole(ownerOf), redirectOutput(host.provenance));
  const tracked = trackTimers(host.provenance, (owner, error) => tell(owner, 'timer', 'stray', error));
  const listeners = trackListeners(host.provenance, (owner, error) => tell(owner, 'process listener', 'stray', error));
  undo.push(...tracked.undo, ...listeners.undo);
  syncBuiltinESMExports();

  return {
    clear: (record) => ({ timers: tracked.clear(record), listeners: listeners.clear(record) }),
    dispose: disposable(() => {
      for (const step of undo.reverse()) step();
      syncBuiltinESMExports();
    }).dispose,
  };
}

type Owner = (error?: unknown) => PluginRecord | undefined;

function listen(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): () => void {
  process.on(event, listener);
  return () => process.off(event, listener);
}

/** Puts `replacement` in the place of a member, and answers how to put the original back. */
function patch<T extends object, K extends keyof T>(target: T, key: K, replacement: T[K]): () => void {
  const original = target[key];
  target[key] = replacement;
  return () => {
    if (target[key] === replacement) target[key] = original;
  };
}

function foreign(owner: PluginRecord | undefined): owner is PluginRecord {
  return owner !== undefined && owner.tier !== 'builtin';
}

function refuseExit(ownerOf: Owner, refused: (owner: PluginRecord, error: KernelError) => void): (() => void)[] {
  const refuse = (call: string): void => {
    const owner = ownerOf();
    if (!foreign(owner)) return;
    const error = new KernelError('EXIT', { call });
    refused(owner, error);
    throw error;
  };
  const { exit, abort, kill } = process;
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
      // 0 and the negative of our own id address our process group.
      if (signal !== 0 && [process.pid, -process.pid, 0].includes(pid)) refuse(`process.kill(${pid}, ${signal ?? 'SIGTERM'})`);
      return kill.call(process, pid, signal);
    }),
  ];
}

const consoleLevels = { debug: 'debug', dir: 'info', dirxml: 'info', error: 'error', info: 'info', log: 'info', table: 'info', trace: 'debug', warn: 'warn' } as const satisfies Partial<Record<keyof Console, LogLevel>>;

/** Standard output belongs to the agent: a plugin's console goes to its log, and everybody else's to standard error. */
function redirectConsole(ownerOf: Owner): (() => void)[] {
  return (Object.entries(consoleLevels) as [keyof typeof consoleLevels, LogLevel][]).map(([method, level]) =>
    patch(console, method, (...args: unknown[]) => {
      const owner = ownerOf();
      if (owner) owner.log[level](format(...args));
      else process.stderr.write(`${format(...args)}\n`);
    }),
  );
}

/**
 * What a plugin writes to standard output by itself goes to its log as well. Only the very caller counts: the
 * agent shows things while a plugin is running, too.
 */
function redirectOutput(provenance: Provenance): () => void {
  const { stdout } = process;
  const write = stdout.write.bind(stdout) as (...args: unknown[]) => boolean;
  const replacement = (...args: unknown[]): boolean => {
    const owner = provenance.callerOf(replacement) as PluginRecord | undefined;
    if (!foreign(owner)) return write(...args);
    const [chunk] = args;
    owner.log.info(chunk instanceof Uint8Array ? Buffer.from(chunk).toString() : String(chunk));
    const done = args.at(-1);
    if (typeof done === 'function') process.nextTick(done as () => void);
    return true;
  };
  return patch(stdout, 'write', replacement as typeof stdout.write);
}

type Stray = (owner: PluginRecord, error: unknown) => void;
type Callback = (...args: unknown[]) => unknown;

/** The plugin that is running, unless it is one of the agent's own parts. */
function runningPlugin(provenance: Provenance): PluginRecord | undefined {
  const owner = provenance.running() as PluginRecord | undefined;
  return foreign(owner) ? owner : undefined;
}

/** `callback` as code of its plugin, whoever calls it: what it throws or leaves behind is told to be the plugin's. */
function owned(provenance: Provenance, owner: PluginRecord, stray: Stray, callback: Callback): Callback {
  // No outer entry: that is over, and a timer that starts the next one would grow a chain.
  const frame: Frame = { owner, outer: undefined, deadline: undefined, held: 0 };
  return function (this: unknown, ...args) {
    try {
      return provenance.enter(frame, () => callback.apply(this, args), undefined, undefined, undefined);
    } catch (error) {
      stray(owner, error);
      return undefined;
    }
  };
}

/**
 * Remembers which plugin listens to the process, so that the listeners can go with it. What they throw is
 * caught: thrown while an uncaught error is being told, it would end the process.
 */
function trackListeners(provenance: Provenance, stray: Stray) {
  type Listener = Callback & { listener?: Callback };
  const byOwner = new Map<PluginRecord, Map<Listener, string>>();
  const { on, prependListener } = process;
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
        if (once) process.off(event, guarded);
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
      process.off(event, listener);
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
  return { undo, clear: (record: PluginRecord) => clear(record) };
}

type TimerHandle = NodeJS.Timeout | NodeJS.Immediate;

/** Remembers which plugin started which timer, catches what its callback throws, and can clear them all. */
function trackTimers(provenance: Provenance, stray: Stray) {
  const byOwner = new Map<PluginRecord, Set<TimerHandle>>();
  const ownerOfTimer = new WeakMap<TimerHandle, Set<TimerHandle>>();
  type Start = (callback: Callback, ...rest: unknown[]) => TimerHandle;

  const tracking = (start: Start, repeats: boolean): Start => (callback, ...rest) => {
    const owner = runningPlugin(provenance);
    if (!owner || typeof callback !== 'function') return start(callback, ...rest);
    const set = byOwner.get(owner) ?? new Set();
    byOwner.set(owner, set);
    const run = owned(provenance, owner, stray, callback);
    const timer = start(function (this: unknown, ...args) {
      if (!repeats) set.delete(timer);
      run.apply(this, args);
    }, ...rest);
    set.add(timer);
    ownerOfTimer.set(timer, set);
    return timer;
  };
  const forgetting = (stop: (timer: never) => void) => (timer: never): void => {
    if (typeof timer === 'object' && timer !== null) ownerOfTimer.get(timer)?.delete(timer);
    stop(timer);
  };

  const undo: (() => void)[] = [];
  for (const target of [globalThis, timers] as (typeof globalThis)[]) {
    for (const name of ['setTimeout', 'setInterval', 'setImmediate'] as const) {
      const original = target[name];
      const replacement = tracking(original as unknown as Start, name === 'setInterval') as unknown as typeof original;
      const promised: unknown = Reflect.get(original, promisify.custom);
      if (promised) Object.defineProperty(replacement, promisify.custom, { value: promised, enumerable: true });
      undo.push(patch(target, name, replacement as never));
    }
    for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate'] as const) {
      undo.push(patch(target, name, forgetting(target[name] as (timer: never) => void) as never));
    }
  }

  const clear = (record: PluginRecord): number => {
    const set = byOwner.get(record);
    byOwner.delete(record);
    for (const timer of set ?? []) {
      clearTimeout(timer as NodeJS.Timeout);
      clearImmediate(timer as NodeJS.Immediate);
    }
    return set?.size ?? 0;
  };
  return { undo, clear };
}
