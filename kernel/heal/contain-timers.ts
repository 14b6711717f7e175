/** Timers of plugins: each is told to be its plugin's, guarded, and gone with it. */
import timers from 'node:timers';
import { promisify } from 'node:util';
import type { PluginRecord } from '../lifecycle.ts';
import type { Provenance } from './provenance.ts';
import { type Callback, owned, patch, runningPlugin, type Stray } from './contain-patch.ts';

type TimerHandle = NodeJS.Timeout | NodeJS.Immediate;

/** Remembers which plugin started which timer, catches what its callback throws, and can clear them all. */
export function trackTimers(provenance: Provenance, stray: Stray) {
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
  const count = (record: PluginRecord): number => byOwner.get(record)?.size ?? 0;
  return { undo, clear, count };
}
