/** What setting a plugin up and taking it down leaves behind, measured over many rounds. */
import { createHook } from 'node:async_hooks';
import { definePlugin } from '../public.ts';
import { openStage, type StageOptions } from './chaos-stage.ts';
import type { GivenPlugin } from './given-plugin.ts';

export interface Leaks {
  readonly rounds: number;
  /** `timers`, `process listeners: SIGINT`, `servers`, `globals` to how many each round leaves. */
  readonly perRound: ReadonlyMap<string, number>;
}

const baselineRounds = 4;
/** A round may leave something for a reason of its own; what is left in most rounds is a leak. */
const leakShare = 0.6;

/** @param until no round begins after it, in milliseconds of `performance.now()` */
export async function measureLeaks(given: GivenPlugin, options: StageOptions, rounds: number, until: number): Promise<Leaks> {
  const nothing = definePlugin({ id: 'nothing' }, () => ({}));
  const usual = await measure(nothing, options, baselineRounds, Infinity);
  const { perRound, rounds: done } = await measure(given, options, rounds, until);
  const kept = [...perRound].map(([what, count]) => [what, count - (usual.perRound.get(what) ?? 0)] as const).filter(([, count]) => count >= leakShare);
  return { rounds: done, perRound: new Map(kept) };
}

/** What keeps something open, by the names of `async_hooks`: it also tells those that do not keep the process alive. */
const handles: Readonly<Record<string, string>> = { Timeout: 'timers', TCPSERVERWRAP: 'servers', TCPWRAP: 'sockets', UDPWRAP: 'sockets', PIPESERVERWRAP: 'servers', PIPEWRAP: 'pipes', PROCESSWRAP: 'processes', FSEVENTWRAP: 'file watchers', STATWATCHER: 'file watchers', WORKER: 'workers' };

async function measure(given: GivenPlugin, options: StageOptions, rounds: number, until: number): Promise<Leaks> {
  const open = new Map<number, string>();
  const hook = createHook({
    init(id, type) {
      const name = handles[type];
      if (name !== undefined) open.set(id, name);
    },
    destroy: (id) => void open.delete(id),
  });
  const limit = process.getMaxListeners();
  // Too many listeners are what is looked for: no warning of Node's is needed.
  process.setMaxListeners(0);
  try {
    // What is made once (a module, a cache) is no leak.
    await round(given, options);
    const before = census();
    hook.enable();
    let done = 0;
    while (done < rounds && performance.now() < until) {
      await round(given, options);
      done += 1;
    }
    await settled();
    hook.disable();
    const after = census();
    for (const name of open.values()) after.set(name, (after.get(name) ?? 0) + 1);
    return { rounds: done, perRound: new Map([...after].map(([what, count]) => [what, (count - (before.get(what) ?? 0)) / Math.max(1, done)])) };
  } finally {
    hook.disable();
    process.setMaxListeners(limit);
  }
}

async function round(given: GivenPlugin, options: StageOptions): Promise<void> {
  const stage = await openStage(given, options, 'calm', true);
  await stage.dispose();
}

/** What there is now: listeners by event, globals. */
function census(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const event of process.eventNames()) counts.set(`process listeners: ${String(event)}`, process.listenerCount(event));
  counts.set('globals', Reflect.ownKeys(globalThis).length);
  return counts;
}

/** Handles are closed, and told of as destroyed, a moment after they were let go of. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
