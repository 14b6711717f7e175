/** What the patches of containment are made of: putting a function in another's place, and telling whose code calls it. */
import type { PluginRecord } from '../lifecycle.ts';
import type { Frame, Provenance } from './provenance.ts';

/** Answers who is to blame for what happens now, or for `error`. */
export type Owner = (error?: unknown) => PluginRecord | undefined;
export type Stray = (owner: PluginRecord, error: unknown) => void;
export type Callback = (...args: unknown[]) => unknown;

/** The plugin that is running, unless it is one of the agent's own parts. */
export function runningPlugin(provenance: Provenance): PluginRecord | undefined {
  const owner = provenance.running() as PluginRecord | undefined;
  return foreign(owner) ? owner : undefined;
}

/** `callback` as code of its plugin, whoever calls it: what it throws or leaves behind is told to be the plugin's. */
export function owned(provenance: Provenance, owner: PluginRecord, stray: Stray, callback: Callback): Callback {
  // No outer entry: that is over, and a timer that starts the next one would grow a chain.
  const frame: Frame = { owner, outer: undefined, depth: 0, deadline: undefined, held: 0 };
  return function (this: unknown, ...args) {
    try {
      return provenance.enter(frame, () => callback.apply(this, args), undefined, undefined, undefined);
    } catch (error) {
      stray(owner, error);
      return undefined;
    }
  };
}

/** Puts `replacement` in the place of a member, and answers how to put the original back. */
export function patch<T extends object, K extends keyof T>(target: T, key: K, replacement: T[K]): () => void {
  const original = target[key];
  target[key] = replacement;
  return () => {
    if (target[key] === replacement) target[key] = original;
  };
}

/** Whether `owner` is a plugin that does not come with the agent. */
export function foreign(owner: PluginRecord | undefined): owner is PluginRecord {
  return owner !== undefined && owner.tier !== 'builtin';
}
