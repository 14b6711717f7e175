/**
 * Activation: load, setup and commit of one plugin, as a transaction: what it registers appears all at
 * once when `setup` is through, or not at all.
 */
import type { z } from 'zod';
import { KernelError } from './errors.ts';
import type { FaultKind } from './heal/fault.ts';
import { type HookMap, hookSlotKey, type Order, type PayloadOf, type Tap } from './hook-spec.ts';
import { isInterrupted } from './heal/interrupt.ts';
import { watchUse } from './lazy/setup-use.ts';
import { createContext, type ContextHost, type Registrar } from './context.ts';
import { type Manifest, type PluginRecord, transition } from './lifecycle.ts';
import { complete, idPattern } from './manifest.ts';
import type { Contributions, Item, PluginDefinition } from './plugin.ts';
import type { Provenance } from './heal/provenance.ts';
import type { Registry } from './registry.ts';
import { disposable, type Disposable, Scope } from './scope.ts';
import type { ServiceRef } from './service.ts';
import type { SlotFunction } from './slot.ts';

export interface ActivationHost {
  readonly registry: Registry;
  readonly provenance: Provenance;
  readonly load: (record: PluginRecord) => Promise<PluginDefinition>;
  /** Accepts the facts a bare file told when it was loaded. @throws KernelError when it must be refused */
  readonly admit: (record: PluginRecord, manifest: Manifest) => void;
  /** The plugin's part of the configuration, unchecked. */
  readonly configOf: (record: PluginRecord, schema: z.ZodType | undefined) => unknown;
  readonly contextHost: (record: PluginRecord) => ContextHost;
  readonly fault: (record: PluginRecord, where: string, kind: FaultKind, error: unknown) => void;
  /** What the plugin requires and is not there. */
  readonly missing: (record: PluginRecord) => Promise<string | undefined>;
  /** Hears of every stretch of its code that has just run. */
  readonly ran: (record: PluginRecord, where: string) => void;
  /** Why the plugin must not run after all, looked at again right before it is loaded. */
  readonly withdrawn: (record: PluginRecord) => string | undefined;
  readonly fire: (event: string) => Promise<void>;
  /** Runs code of a plugin so that it is interrupted when it does not come back. @throws KernelError `HANG` */
  readonly interruptible: <T>(record: PluginRecord, fn: () => T) => T;
}

const disposeDeadline = 2_000;

/** Thrown where a bare file turns out to require what is not there yet. */
export class Unmet extends Error {
  readonly missing: string;
  constructor(missing: string) {
    super(`requires ${missing}`);
    this.missing = missing;
  }
}

/** Thrown where a plugin is turned away rather than at fault: it becomes `refused`. */
export class Refusal extends Error {}

export async function activate(record: PluginRecord, host: ActivationHost, alive: () => boolean): Promise<void> {
  const withdrawn = host.withdrawn(record);
  if (withdrawn !== undefined) throw new Refusal(withdrawn);
  const definition = await loadDefinition(record, host);
  if (!alive()) return;
  record.definition = definition;
  if (record.candidate.bare) {
    host.admit(record, toldBy(definition, record));
    const missing = await host.missing(record);
    if (missing !== undefined) throw new Unmet(missing);
    if (!alive()) return;
  }
  const { defines } = definition.static;
  for (const spec of defines?.hooks ?? []) host.registry.defineHook(spec, record);
  for (const spec of defines?.points ?? []) host.registry.definePoint(spec);

  const config = checkedConfig(record, definition, host);
  const scope = new Scope(disposeDeadline, (error, timedOut) => host.fault(record, 'dispose', 'dispose', timedOut ? new KernelError('TIMEOUT', { ms: disposeDeadline }) : error), (dispose) => host.interruptible(record, dispose));
  record.scope = scope;
  const { registrar, commit } = createRegistrar(record, scope, host);
  const context = createContext(record, config, registrar, host.contextHost(record));
  let acted = false;
  try {
    const returned = ((await enter(host, record, 'setup', definition.setup as unknown as SlotFunction, record.tier === 'builtin' ? context : watchUse(context, () => (acted = true)))) ?? {}) as Contributions;
    if (!alive()) return void (await scope.dispose());
    // Nothing can be asked for in between: what was announced goes, what is there comes.
    record.withdraw();
    commit(returned);
    record.setup = { ...namesOf(returned), acted };
  } catch (error) {
    await scope.dispose();
    // One that was given up may have been started again since, under a scope of its own.
    if (record.scope === scope) record.scope = undefined;
    throw error;
  }
}

function loadDefinition(record: PluginRecord, host: ActivationHost): Promise<PluginDefinition> {
  return enter(host, record, 'load', () => host.load(record)) as Promise<PluginDefinition>;
}

/** Runs a plugin's own code so that what it leaves behind is known to be its own, and says where it failed. */
async function enter(host: ActivationHost, record: PluginRecord, where: 'load' | 'setup', fn: SlotFunction, argument?: unknown): Promise<unknown> {
  const { provenance } = host;
  const outer = provenance.current;
  provenance.current = record;
  let answer: unknown;
  try {
    const run = (): unknown => provenance.enter(provenance.newFrame(record), fn, undefined, argument, undefined);
    // Loading enters by itself where it comes to the plugin's code, which is later.
    answer = where === 'load' ? run() : host.interruptible(record, run);
  } catch (error) {
    throw isInterrupted(error) ? error : new ActivationFailure(where, error);
  } finally {
    provenance.current = outer;
    host.ran(record, where);
  }
  try {
    return await answer;
  } catch (error) {
    throw isInterrupted(error) ? error : new ActivationFailure(where, error);
  }
}

/** Carries what plugin code threw to whoever started the activation. */
export class ActivationFailure extends Error {
  readonly where: 'load' | 'setup';
  readonly error: unknown;
  constructor(where: 'load' | 'setup', error: unknown) {
    super(`${where} failed`);
    this.where = where;
    this.error = error;
  }
}

function toldBy(definition: PluginDefinition, record: PluginRecord): Manifest {
  const manifest = complete({ ...definition.static, id: definition.static.id ?? record.id }, record.id);
  if (!idPattern.test(manifest.id)) throw new ActivationFailure('load', new KernelError('ID', { id: manifest.id }));
  return manifest;
}

function checkedConfig(record: PluginRecord, definition: PluginDefinition, host: ActivationHost): unknown {
  const schema = definition.static.config;
  const given = host.configOf(record, schema);
  if (!schema) return given ?? {};
  const checked = schema.safeParse(given ?? {});
  if (checked.success) return checked.data;
  const issue = checked.error.issues[0];
  const key = ['plugins', 'config', record.id, ...(issue?.path ?? [])].join('.');
  throw new Refusal(`${key}: ${issue?.message ?? 'invalid'}. To fix it: agent config set ${key} <value>`);
}

function checkedReturn(returned: Contributions): Contributions {
  const found = Array.isArray(returned) ? 'an array' : typeof returned === 'object' ? undefined : `a ${typeof returned}`;
  if (found === undefined) return returned;
  throw new ActivationFailure('setup', new KernelError('CONTRACT', { what: `setup returned ${found}`, hint: 'return contributions by point, and hooks: { formats: { … }, hooks: { … } }' }));
}

/** @throws KernelError `CONTRACT` for what nobody could dispose of */
function disposableOf(owned: unknown): Disposable {
  const methods = (owned ?? {}) as { dispose?: unknown; [Symbol.dispose]?: unknown; [Symbol.asyncDispose]?: unknown };
  if (typeof methods.dispose === 'function') return owned as Disposable;
  const dispose = methods[Symbol.asyncDispose] ?? methods[Symbol.dispose];
  if (typeof dispose === 'function') return disposable(() => (dispose as () => void | Promise<void>).call(owned));
  throw new KernelError('CONTRACT', { what: 'p.own was given nothing that can be disposed of', hint: 'give { dispose() { … } }, or an object with Symbol.dispose' });
}

function namesOf({ hooks = {}, ...points }: Contributions): Pick<NonNullable<PluginRecord['setup']>, 'items' | 'hooks'> {
  return { items: Object.entries(points as Record<string, object | undefined>).flatMap(([point, items]) => Object.keys(items ?? {}).map((name) => [point, name] as const)), hooks: Object.keys(hooks) };
}

/** The registering half of `p`. Before the commit everything is only noted. */
function createRegistrar(record: PluginRecord, scope: Scope, host: ActivationHost): { registrar: Registrar; commit: (returned: Contributions) => void } {
  const { registry } = host;
  let noted: { act: () => Disposable; cancelled: boolean }[] | undefined = [];

  const register = (act: () => () => void): Disposable => {
    const perform = () => scope.own(disposable(act()));
    if (!noted) return perform();
    const entry = { act: perform, cancelled: false };
    noted.push(entry);
    let live: Disposable | undefined;
    entry.act = () => (live = perform());
    return disposable(() => {
      entry.cancelled = true;
      return live?.dispose();
    });
  };
  const tap = (hook: string, given: Tap<unknown>): Disposable =>
    register(() => {
      const { run, ...order } = typeof given === 'object' && given !== null ? (given as Order & { run: unknown }) : { run: given as unknown };
      if (typeof run !== 'function') throw new KernelError('CONTRACT', { what: `hook ${hook} is ${typeof run}, not a function`, hint: 'give a function, or { run, stage, before, after }' });
      return registry.tap(record, hook, hookSlotKey(hook), run as SlotFunction, order);
    });
  const contribute = (point: string, name: string, item: unknown): Disposable => register(() => registry.contribute(record, point, name, item));

  const registrar: Registrar = {
    tap: tap as Registrar['tap'],
    contribute: contribute as Registrar['contribute'],
    provide: <S>(ref: ServiceRef<S>, service: S) => register(() => registry.provide(record, ref.key, service)),
    use: <S>(ref: ServiceRef<S>) => registry.use(ref.key, record) as S,
    own: (owned) => (scope.own(disposableOf(owned)), owned),
    activate: host.fire,
    items: ((point: string) => registry.items(point)) as <P extends string>(point: P) => ReadonlyMap<string, Item<never>>,
    call: ((hook: string, payload: PayloadOf<HookMap[never]>, signal?: AbortSignal) => registry.call(hook, payload, signal)) as Registrar['call'],
  };

  const commit = (returned: Contributions): void => {
    const { hooks = {}, ...points } = checkedReturn(returned);
    for (const [point, items] of Object.entries(points as Record<string, unknown>)) {
      const named = Object.entries((items ?? {}) as object);
      // A point without items may still be a misspelt one.
      if (named.length === 0) register(() => registry.mention(record, point));
      for (const [name, item] of named) contribute(point, name, item);
    }
    for (const [hook, given] of Object.entries(hooks)) tap(hook, given as Tap<unknown>);
    const entries = noted ?? [];
    noted = undefined;
    // Only now is it running: what its slots did before may degrade it at once.
    transition(record, 'activated');
    try {
      for (const entry of entries) if (!entry.cancelled) entry.act();
    } catch (error) {
      throw new ActivationFailure('setup', error);
    }
  };
  return { registrar, commit };
}
