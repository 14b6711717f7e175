/**
 * Hook points: the live tapable hook behind a spec. tapable is known to this file only. The kernel owns
 * the tap list and builds a fresh hook when it changes, since tapable cannot remove a tap.
 */
import tapable from 'tapable';
import type { Decision } from './decision.ts';
import { type AsyncGuard, denial, guardAsync, guardSync, type GuardHost, type HookRun, stretch, type SyncGuard } from './heal/guard.ts';
import { stricter } from './decision.ts';
import type { Fault } from './heal/fault.ts';
import type { HookSpec, Order } from './hook-spec.ts';
import { freezeJson } from './json.ts';
import { type Ordered, type OrderFault, sortTaps } from './order.ts';
import type { Slot } from './slot.ts';
import type { Trace } from './trace.ts';

export interface TapEntry extends Ordered {
  readonly slot: Slot;
}

interface Interceptable {
  intercept(interceptor: { tap(tap: { readonly name: string }): void }): void;
}
interface SyncForm extends Interceptable {
  call(payload: unknown, run: HookRun): unknown;
}
interface AsyncForm extends Interceptable {
  callAsync(payload: unknown, run: HookRun, done: (error: Error | null, value?: unknown) => void): void;
  promise(payload: unknown, run: HookRun): Promise<unknown>;
}

/** Who should guard a gate and cannot: each one denies. */
export type AbsentGuards = (hook: string) => readonly Fault[];

export class HookPoint {
  readonly spec: HookSpec;
  readonly #host: GuardHost;
  readonly #absent: AbsentGuards;
  #taps: readonly TapEntry[] = [];
  #trace: Trace | undefined;
  #isTapped = false;
  /** True from a change of the taps to the next call: a plugin may add many at once. */
  #isStale = false;
  /** Answers a call that nobody taps; undefined where that is the payload itself. */
  readonly #empty: (() => unknown) | undefined;
  #sync: SyncForm | undefined;
  #async: AsyncForm | undefined;
  #order: { sorted: readonly TapEntry[]; faults: readonly OrderFault[] } = { sorted: [], faults: [] };

  constructor(spec: HookSpec, host: GuardHost, absent: AbsentGuards) {
    this.spec = spec;
    this.#host = host;
    this.#absent = absent;
    this.#empty = spec.kind === 'waterfall' ? undefined : spec.kind === 'gate' ? () => this.#verdict(undefined) : () => undefined;
  }

  /** The taps in the order they run, each with its reasons. */
  get taps(): readonly TapEntry[] {
    this.#refresh();
    return this.#order.sorted;
  }

  get orderFaults(): readonly OrderFault[] {
    this.#refresh();
    return this.#order.faults;
  }

  /** @returns removes the tap */
  tap(slot: Slot, order: Order, rank: number): () => void {
    const entry: TapEntry = {
      slot,
      plugin: slot.owner.id,
      tier: slot.owner.tier,
      // The built-in answer is the default one: whoever else answers a `bail` comes first.
      stage: order.stage ?? (this.spec.kind === 'bail' && slot.owner.tier === 'builtin' ? 'post' : 'normal'),
      before: order.before ?? [],
      after: order.after ?? [],
      rank,
    };
    this.#change([...this.#taps, entry]);
    return () => this.#change(this.#taps.filter((other) => other !== entry));
  }

  /** Notes every tap that runs in `trace`; undefined stops it. */
  traceInto(trace: Trace | undefined): void {
    this.#trace = trace;
    this.#change(this.#taps);
  }

  /**
   * Runs the taps. A hook without taps costs one property test.
   * @returns the value for a synchronous hook, else a promise or, where nobody taps, the value itself
   */
  call(payload: unknown, signal?: AbortSignal): unknown {
    if (!this.#isTapped) return this.#empty ? this.#empty() : payload;
    if (this.#isStale) this.#refresh();
    if (this.#sync) return this.#callSync(this.#sync, payload);
    return this.#async ? this.#callAsync(this.#async, payload, signal) : undefined;
  }

  #callSync(form: SyncForm, payload: unknown): unknown {
    const { provenance } = this.#host;
    const outer = provenance.current;
    try {
      return form.call(freezeJson(payload), { signal: undefined, decision: undefined });
    } finally {
      provenance.current = outer;
    }
  }

  #callAsync(form: AsyncForm, payload: unknown, signal: AbortSignal | undefined): Promise<unknown> {
    const { provenance } = this.#host;
    const run: HookRun = { signal, decision: undefined };
    const outer = provenance.current;
    const done = this.spec.hard && this.#host.interrupter?.armed ? this.#callHard(form, freezeJson(payload), run) : form.promise(freezeJson(payload), run);
    provenance.current = outer;
    return this.spec.kind === 'gate' ? done.then(() => this.#verdict(run.decision)) : done;
  }

  /** With a promise from outside of the stretch: one that is made within is lost when it is interrupted. */
  #callHard(form: AsyncForm, payload: unknown, run: HookRun): Promise<unknown> {
    return new Promise((resolve, reject) => {
      stretch(this.#host, this.spec, run, () => form.callAsync(payload, run, (error, value) => (error ? reject(error) : resolve(value))));
    });
  }

  #verdict(decision: Decision | undefined): Decision {
    let answer = decision;
    for (const fault of this.#absent(this.spec.name)) answer = stricter(answer, denial(fault));
    return answer ?? this.spec.fallback ?? { verdict: 'deny' };
  }

  #change(taps: readonly TapEntry[]): void {
    this.#taps = taps;
    this.#isTapped = taps.length > 0;
    this.#isStale = true;
  }

  #refresh(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#order = sortTaps(this.spec.name, this.#taps);
    this.#sync = this.#async = undefined;
    if (!this.#isTapped) return;
    if (this.spec.mode === 'sync') {
      const form = syncHook(this.spec.kind);
      this.#watch(form);
      for (const { slot } of this.#order.sorted) form.tap(slot.owner.id, guardSync(this.#host, slot, this.spec));
      this.#sync = form;
    } else {
      const form = asyncHook(this.spec.kind);
      this.#watch(form);
      for (const [index, { slot }] of this.#order.sorted.entries()) {
        if (index > 0 && index % stretchTaps === 0) form.tapAsync('breath', this.#breath);
        form.tapAsync(slot.owner.id, guardAsync(this.#host, slot, this.spec));
      }
      this.#async = form;
    }
  }

  // Taps that answer at once run inside of each other: the stack has to be let go of now and then.
  readonly #breath: AsyncGuard = (_payload, run, done) => {
    queueMicrotask(() => {
      stretch(this.#host, this.spec, run, () => done(null));
      this.#host.provenance.current = undefined;
    });
  };

  // An interceptor costs a recompilation and a call per tap: there is one only while somebody traces.
  #watch(form: Interceptable): void {
    const trace = this.#trace;
    if (trace) form.intercept({ tap: ({ name }) => trace.add(this.spec.name, name) });
  }
}

/** Taps of one hook that may run in one stretch of the stack. */
const stretchTaps = 250;

const args: ['payload', 'run'] = ['payload', 'run'];

function syncHook(kind: HookSpec['kind']): SyncForm & { tap(name: string, fn: SyncGuard): void } {
  switch (kind) {
    case 'waterfall':
      return new tapable.SyncWaterfallHook<[unknown, HookRun]>(args);
    case 'bail':
      return new tapable.SyncBailHook<[unknown, HookRun], unknown>(args);
    default:
      return new tapable.SyncHook<[unknown, HookRun]>(args) as unknown as SyncForm & { tap(name: string, fn: SyncGuard): void };
  }
}

function asyncHook(kind: HookSpec['kind']): AsyncForm & { tapAsync(name: string, fn: AsyncGuard): void } {
  type Form = AsyncForm & { tapAsync(name: string, fn: AsyncGuard): void };
  switch (kind) {
    case 'waterfall':
      return new tapable.AsyncSeriesWaterfallHook<[unknown, HookRun]>(args) as unknown as Form;
    case 'bail':
      return new tapable.AsyncSeriesBailHook<[unknown, HookRun], unknown>(args) as unknown as Form;
    case 'parallel':
      return new tapable.AsyncParallelHook<[unknown, HookRun]>(args) as unknown as Form;
    default:
      return new tapable.AsyncSeriesHook<[unknown, HookRun]>(args) as unknown as Form;
  }
}
