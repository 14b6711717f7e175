/** What the kernel tells and does for whoever administers it; the service `kernel.control`. */
import type { z } from 'zod';
import type { Fault } from './heal/fault.ts';
import type { FaultRecord } from './heal/fault-journal.ts';
import type { PluginState } from './lifecycle.ts';
import type { HomePaths } from './paths.ts';
import type { Disposable } from './scope.ts';
import { defineService } from './service.ts';
import type { Tier } from './tier.ts';
import type { Trace } from './trace.ts';
import type { Trust } from './trust/trust.ts';

export interface PluginInfo {
  readonly id: string;
  readonly version: string;
  readonly tier: Tier;
  readonly state: PluginState;
  readonly path: string;
  /** `formats/html`, `hook page.transform`, … */
  readonly contributes: readonly string[];
  /** What it stated, as far as that is known: of a plugin of one module, once its code is loaded. */
  readonly capabilities: readonly string[];
  /** Ids of the plugins it needs. */
  readonly requires: readonly string[];
  /** Why it is degraded, quarantined or refused. */
  readonly reason: string | undefined;
  /** Its absence is known and accepted: off, untrusted, shadowed, replaced. */
  readonly excused: boolean;
  /** The zod schema of its settings, once its code is loaded. */
  readonly config: z.ZodType | undefined;
}

export interface TapInfo {
  readonly plugin: string;
  readonly tier: Tier;
  /** False while its slot is quarantined. */
  readonly open: boolean;
  /** Why it stands where it stands. */
  readonly reason: string;
}

export interface KernelControl {
  /** Where this user's files of the agent lie. */
  readonly paths: HomePaths;
  readonly version: string;
  plugins(): PluginInfo[];
  /** The latest faults of this run, each told once. */
  faults(): readonly Fault[];
  /** What went wrong in a plugin over all runs, newest first; without an id what nobody could be blamed for. */
  faultHistory(id?: string): readonly FaultRecord[];
  onFault(listener: (fault: Fault) => void): Disposable;
  /** One line for each plugin that is not as the person would expect: refused, renamed, or off since an earlier run. */
  notices(): string[];
  hooks(): { readonly name: string; readonly kind: string }[];
  /** The taps of a hook in the order they run. @throws KernelError `UNKNOWN_HOOK` */
  why(hook: string): TapInfo[];
  /** Forgets what a plugin did and starts it again. @throws KernelError `UNKNOWN_PLUGIN` */
  release(id: string): Promise<PluginInfo>;
  /**
   * Counts the end of an earlier process against what it was running: the item of a contribution point.
   * @param end what is known of that end, and which process it was; where neither tells, it may as well have been killed
   */
  blame(point: string, item: string, end: { readonly how?: string | undefined; readonly pid?: number | undefined }): Promise<void>;
  /** Gives one quarantined plugin or slot whose time has come another try. Not before the first real work is on its way. */
  probe(): Promise<void>;
  /** Notes every tap that runs from now on, until the trace is disposed. */
  trace(): Trace & Disposable;
  /** Runs `ask` with every deadline of the calls it is inside of stopped: a person may take their time. */
  pausing<T>(ask: () => Promise<T>): Promise<T>;
}

export const kernelControl = defineService<KernelControl>('kernel.control');

/** What plugins get to see of the kernel: these methods, and nothing to change them by. */
export function controlOf(kernel: KernelControl): KernelControl {
  return Object.freeze<KernelControl>({
    paths: kernel.paths,
    version: kernel.version,
    plugins: () => kernel.plugins(),
    faults: () => [...kernel.faults()],
    faultHistory: (id) => kernel.faultHistory(id),
    onFault: (listener) => kernel.onFault(listener),
    notices: () => kernel.notices(),
    hooks: () => kernel.hooks(),
    why: (hook) => kernel.why(hook),
    release: (id) => kernel.release(id),
    blame: (point, item, end) => kernel.blame(point, item, end),
    probe: () => kernel.probe(),
    trace: () => kernel.trace(),
    pausing: (ask) => kernel.pausing(ask),
  });
}

/** Trust in the project at hand; the service `kernel.trust`. */
export interface TrustControl {
  readonly trust: Trust;
  /** Real path of the project's `.agent` folder; undefined where there is none. */
  readonly folder: string | undefined;
}

export const trustControl = defineService<TrustControl>('kernel.trust');
