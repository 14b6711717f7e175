/** What plugins registered: hook points, contribution tables, services. One per kernel. */
import { type Clash, ContributionTable } from './contribution.ts';
import type { PointSpec } from './contribution-spec.ts';
import { KernelError } from './errors.ts';
import type { Fault } from './heal/fault.ts';
import type { GuardHost } from './heal/guard.ts';
import { HookPoint } from './hook-point.ts';
import { hookSlotKey, type HookSpec, type Order } from './hook-spec.ts';
import type { RecordedItem } from './lazy/contribution-index.ts';
import { pluginEvent } from './lazy/lazy-plugins.ts';
import type { PluginRecord } from './lifecycle.ts';
import { didYouMean } from './near.ts';
import type { Item } from './plugin.ts';
import { Slot, type SlotFunction } from './slot.ts';
import type { Supervisor } from './heal/supervisor.ts';
import { precedence } from './tier.ts';
import type { Trace } from './trace.ts';

/** A registration for a hook or a contribution point that nobody defined yet: plugins start side by side. */
interface Waiting {
  readonly record: PluginRecord;
  readonly kind: 'hook' | 'point';
  readonly name: string;
  readonly attach: () => void;
  /** Whether its plugin has been told that nobody defined it. */
  told?: boolean;
}

export interface RegistryHost extends GuardHost {
  readonly supervisor: Supervisor;
  /** Guards of `hook` that are declared and not there. */
  readonly absentGuards: (hook: string) => readonly Fault[];
  /** Starts plugins that wait for `event`; undefined when nobody does. */
  readonly wake: (event: string) => Promise<void> | undefined;
  readonly servicesChanged: () => void;
}

export class Registry {
  readonly #host: RegistryHost;
  readonly #hooks = new Map<string, HookPoint>();
  readonly #points = new Map<string, ContributionTable>();
  readonly #services = new Map<string, { record: PluginRecord | undefined; service: unknown }[]>();
  #waiting: Waiting[] = [];
  #trace: Trace | undefined;

  constructor(host: RegistryHost) {
    this.#host = host;
  }

  /** The first definition holds: a plugin cannot change what a hook means. @throws KernelError `CONTRACT` */
  defineHook(spec: HookSpec, definer?: PluginRecord): void {
    if (this.#hooks.has(spec?.name)) return;
    checkHook(spec, definer);
    if (spec.mode === 'sync' && (spec.kind === 'gate' || spec.kind === 'parallel')) {
      throw new KernelError('CONTRACT', { what: `hook ${spec.name} is a synchronous ${spec.kind}`, hint: `a ${spec.kind} is always asynchronous` });
    }
    const point = new HookPoint(spec, this.#host, this.#host.absentGuards);
    if (this.#trace) point.traceInto(this.#trace);
    this.#hooks.set(spec.name, point);
    this.#attach('hook', spec.name);
  }

  definePoint(spec: PointSpec<never>): void {
    if (this.#points.has(spec?.name)) return;
    if (typeof spec?.name !== 'string' || !(spec.itemName instanceof RegExp) || typeof spec.members !== 'object' || spec.members === null) {
      throw new KernelError('CONTRACT', { what: 'a contribution point is malformed', hint: 'make it with definePoint()' });
    }
    this.#points.set(spec.name, new ContributionTable(spec as unknown as PointSpec, this.#host));
    this.#attach('point', spec.name);
  }

  /** @throws KernelError `GATE_CAPABILITY` */
  tap(record: PluginRecord, hook: string, key: string, fn: SlotFunction, order: Order): () => void {
    return this.#whenDefined({ record, kind: 'hook', name: hook }, this.#hooks, (point) => {
      const gate = point.spec.kind === 'gate';
      if (gate && !record.manifest.capabilities.includes(`gate:${hook}`)) throw new KernelError('GATE_CAPABILITY', { plugin: record.id, hook });
      const slot = new Slot(record, key, this.#host.supervisor, fn, undefined, gate);
      this.#admit(record, slot, key);
      const remove = point.tap(slot, order, record.rank);
      return () => {
        remove();
        forget(record, [slot], key);
      };
    });
  }

  contribute(record: PluginRecord, point: string, name: string, item: unknown): () => void {
    return this.#whenDefined({ record, kind: 'point', name: point }, this.#points, (table) => {
      const { slots, remove } = table.add(record, name, item, this.#host.supervisor);
      record.contributes.push(`${point}/${name}`);
      for (const slot of slots) this.#admit(record, slot);
      return () => {
        remove();
        forget(record, slots, `${point}/${name}`);
      };
    });
  }

  /** Registers what an earlier start recorded of a plugin; `record.withdraw` takes it back. */
  announce(record: PluginRecord, items: readonly RecordedItem[], hooks: readonly string[]): void {
    const start = (): Promise<void> | undefined => this.#host.wake(pluginEvent(record));
    const missing = (where: string): Fault => this.#host.supervisor.absent(record, where, 'it was not called');
    const undo = items.map((item) => this.#whenDefined({ record, kind: 'point', name: item.point }, this.#points, (table) => table.announce(record, item, start, missing)));
    record.contributes = [...items.map(({ point, name }) => `${point}/${name}`), ...hooks.map(hookSlotKey)];
    record.withdraw = () => {
      for (const remove of undo) remove();
      record.contributes = [];
    };
  }

  /** What a plugin contributed under this name; undefined while nobody defined the point. */
  contributed(record: PluginRecord, point: string, name: string): { readonly spec: PointSpec; readonly item: object } | undefined {
    const table = this.#points.get(point);
    const item = table?.of(record, name);
    return table && item && { spec: table.spec, item };
  }

  /** Undefined while nobody defined the hook. */
  modeOf(hook: string): HookSpec['mode'] | undefined {
    return this.#hooks.get(hook)?.spec.mode;
  }

  /** Checks that there is such a point, without adding to it. */
  mention(record: PluginRecord, point: string): () => void {
    return this.#whenDefined({ record, kind: 'point', name: point }, this.#points, () => () => undefined);
  }

  /** Registers now, or when the hook or point is defined. */
  #whenDefined<T>(what: Omit<Waiting, 'attach'>, defined: ReadonlyMap<string, T>, register: (target: T) => () => void): () => void {
    const target = defined.get(what.name);
    if (target) return register(target);
    let remove = (): void => undefined;
    const waiting: Waiting = {
      ...what,
      attach: () => {
        const late = defined.get(what.name);
        if (late) remove = register(late);
      },
    };
    this.#waiting.push(waiting);
    return () => {
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      remove();
    };
  }

  #attach(kind: Waiting['kind'], name: string): void {
    const ready = this.#waiting.filter((one) => one.kind === kind && one.name === name);
    this.#waiting = this.#waiting.filter((one) => !ready.includes(one));
    for (const { record, attach } of ready) {
      try {
        attach();
      } catch (error) {
        // Whoever defines a point is not to blame for what waited for it.
        this.#host.supervisor.fault(record, 'setup', 'setup', error);
      }
    }
  }

  provide(record: PluginRecord | undefined, key: string, service: unknown): () => void {
    const entry = { record, service };
    const entries = this.#services.get(key) ?? [];
    // Who wins is told by tier and id, never by who came up first. What the host provides stands above all.
    this.#services.set(key, [...entries, entry].sort((a, b) => rankOf(a.record) - rankOf(b.record) || ((a.record?.id ?? '') < (b.record?.id ?? '') ? -1 : 1)));
    this.#host.servicesChanged();
    return () => {
      this.#services.set(key, (this.#services.get(key) ?? []).filter((other) => other !== entry));
      this.#host.servicesChanged();
    };
  }

  /**
   * What the host itself provides (the kernel's control, trust, configuration) is for the agent's own parts.
   *
   * @param user undefined for the host
   * @throws KernelError `NO_SERVICE`
   */
  use(key: string, user?: PluginRecord): unknown {
    const entry = this.#services.get(key)?.find(({ record }) => record !== undefined || user === undefined || user.tier === 'builtin');
    if (!entry) throw new KernelError('NO_SERVICE', { service: key });
    return entry.service;
  }

  provides(key: string): boolean {
    return (this.#services.get(key)?.length ?? 0) > 0;
  }

  /** Calls a hook, after whoever waits for it has been started. @throws KernelError `UNKNOWN_HOOK` */
  call(hook: string, payload: unknown, signal?: AbortSignal): unknown {
    // A hook whose tap calls it again, or two that call each other, would go on until the stack is full.
    if ((this.#host.provenance.frame()?.depth ?? 0) > maxDepth) throw new KernelError('CONTRACT', { what: `hook ${hook} is called inside of ${maxDepth} others`, hint: 'a tap must not call its own hook' });
    const waking = this.#host.wake(`hook:${hook}`);
    const point = this.hook(hook);
    return waking && point.spec.mode === 'async' ? waking.then(() => point.call(payload, signal)) : point.call(payload, signal);
  }

  hook(hook: string): HookPoint {
    const point = this.#hooks.get(hook);
    if (!point) throw new KernelError('UNKNOWN_HOOK', { hook, near: didYouMean(hook, this.#hooks.keys()) });
    return point;
  }

  endTrace(trace: Trace): void {
    if (this.#trace === trace) this.traceInto(undefined);
  }

  traceInto(trace: Trace | undefined): void {
    this.#trace = trace;
    for (const point of this.#hooks.values()) point.traceInto(trace);
  }

  hooks(): readonly HookPoint[] {
    return [...this.#hooks.values()];
  }

  items(point: string): ReadonlyMap<string, Item<unknown>> {
    return this.#table(point).items;
  }

  clashes(): readonly Clash[] {
    return [...this.#points.values()].flatMap((table) => table.clashes);
  }

  /** Registrations for what nobody defined, each once as an error for its plugin. */
  unknown(): { record: PluginRecord; error: KernelError }[] {
    const untold = this.#waiting.filter((one) => !one.told);
    for (const one of untold) one.told = true;
    return untold.map(({ record, kind, name }) => ({
      record,
      error: kind === 'hook' ? new KernelError('UNKNOWN_HOOK', { hook: name, near: didYouMean(name, this.#hooks.keys()) }) : new KernelError('UNKNOWN_POINT', { point: name, near: didYouMean(name, this.#points.keys()), known: [...this.#points.keys()].join(', ') }),
    }));
  }

  #table(point: string): ContributionTable {
    const table = this.#points.get(point);
    if (!table) throw new KernelError('UNKNOWN_POINT', { point, near: didYouMean(point, this.#points.keys()), known: [...this.#points.keys()].join(', ') });
    return table;
  }

  #admit(record: PluginRecord, slot: Slot, contributes?: string): void {
    record.slots.push(slot);
    if (contributes) record.contributes.push(contributes);
    this.#host.supervisor.admit(record, slot);
  }
}

/** Of several registrations of one name only one goes. */
function forget(record: PluginRecord, slots: readonly Slot[], contributed: string): void {
  const at = record.contributes.indexOf(contributed);
  if (at >= 0) record.contributes.splice(at, 1);
  record.slots = record.slots.filter((slot) => !slots.includes(slot));
}

function rankOf(record: PluginRecord | undefined): number {
  return record ? precedence.indexOf(record.tier) : -1;
}

const maxDepth = 100;

const kinds: readonly unknown[] = ['series', 'parallel', 'waterfall', 'bail', 'gate'];

/** @throws KernelError `CONTRACT` for a spec that is none, or that would not fail the way its kind must */
function checkHook(spec: HookSpec, definer: PluginRecord | undefined): void {
  const malformed = (what: string, hint = 'make it with defineHook()'): KernelError => new KernelError('CONTRACT', { what: `hook ${String(spec?.name)} ${what}`, hint });
  if (typeof spec?.name !== 'string' || !/^[a-z][\w-]*(\.[a-z][\w-]*)*$/i.test(spec.name)) throw malformed('has no name');
  if (!kinds.includes(spec.kind) || !['sync', 'async'].includes(spec.mode)) throw malformed('is of no known kind or mode');
  if (!(spec.deadline > 0)) throw malformed('has no deadline');
  if (spec.kind === 'gate' ? spec.onFault !== 'deny' : !['skip', 'abort'].includes(spec.onFault)) throw malformed(`cannot ${spec.onFault} on a fault`, 'a gate denies; everything else skips');
  if (spec.onFault === 'abort' && definer && definer.tier !== 'builtin') throw malformed('aborts on a fault', 'that is for the kernel itself: let it skip');
}
