/** The lives of plugins: who is started when, who waits for whom, and how they are taken down. */
import { activate, ActivationFailure, type ActivationHost, Refusal, Unmet } from './activate.ts';
import { KernelError } from './errors.ts';
import { type PluginRecord, transition } from './lifecycle.ts';
import { pendingPlace } from './heal/load-fault.ts';
import { setTimeout } from './heal/own-timers.ts';
import { isInterrupted } from './heal/interrupt.ts';
import type { Provenance } from './heal/provenance.ts';
import type { Registry } from './registry.ts';
import type { Supervisor } from './heal/supervisor.ts';

export interface LivesHost {
  readonly records: readonly PluginRecord[];
  readonly registry: Registry;
  readonly supervisor: Supervisor;
  readonly provenance: Provenance;
  readonly activation: ActivationHost;
  /** Built-in id to the id of the plugin that answers to it too. */
  readonly replaces: Readonly<Record<string, string>>;
  /** Hears of every wave of plugins that has come up. */
  readonly started: () => void;
  /** Ends the calls into a plugin that are still open. */
  readonly abandon: (record: PluginRecord) => void;
  /** Ends what a plugin left running in the process, and says how much there was. */
  readonly clear: (record: PluginRecord) => { readonly timers: number; readonly listeners: number } | undefined;
}

/** How long after the last load that ended the others are still waited for, in milliseconds. */
const straggleMs = 1_500;
/** How long plugins are waited for, all together, when the agent ends, in milliseconds. */
const endMs = 8_000;

export class Lives {
  readonly #host: LivesHost;
  readonly #awaited = new Map<string, PluginRecord[]>();
  readonly #ending = new Set<Promise<void>>();
  readonly #leaving = new Map<PluginRecord, Promise<void>>();
  /** Plugins that start because what they require has come. */
  readonly #late = new Set<Promise<void>>();

  constructor(host: LivesHost) {
    this.#host = host;
  }

  /** Notes the events a plugin waits for. */
  expect(record: PluginRecord, events: readonly string[]): void {
    for (const event of events) this.#awaited.set(event, [...(this.#awaited.get(event) ?? []), record]);
  }

  /** Starts who waits for `event`; undefined when nobody does. */
  wake(event: string): Promise<void> | undefined {
    const waiting = this.#awaited.get(event)?.filter((record) => record.state === 'resolved' && record !== this.#host.provenance.running());
    if (!waiting?.length) return undefined;
    // Who is starting already is waited for as well, but not for ever: it may be waiting for us.
    const starting = waiting.flatMap(({ activation }) => (activation ? [patiently(activation, straggleMs)] : []));
    return Promise.all([this.#startAll(waiting.filter(({ activation }) => !activation)), ...starting]).then(() => undefined);
  }

  /** Starts a plugin that was off. */
  async restart(record: PluginRecord, reason?: string): Promise<void> {
    // Its last life may still be going: what that lets go of must not be the next one's.
    await this.#leaving.get(record);
    transition(record, 'resolved', reason);
    record.activation = undefined;
    await this.#startAll([record]);
  }

  /** Resolves when nobody starts any more because somebody else has. */
  async settled(): Promise<void> {
    while (this.#late.size > 0) await Promise.all(this.#late);
  }

  takeDown(record: PluginRecord): void {
    track(this.#takeDown(record), this.#ending);
  }

  /** Takes all plugins down, last started first. */
  async end(): Promise<void> {
    const running = this.#host.records.filter((record) => record.scope).sort((a, b) => b.rank - a.rank);
    const patience = performance.now() + endMs;
    for (const record of running) {
      const gone = this.#takeDown(record);
      // Everybody is taken down; but what many of them keep waiting must not add up.
      if (performance.now() < patience) await gone;
      else track(gone, this.#late);
      if (record.running) transition(record, 'disposed');
    }
    for (const record of this.#host.records) transition(record, 'disposed');
    const left = Promise.all([...this.#ending, ...this.#late]);
    await Promise.race([left, new Promise((resolve) => setTimeout(resolve, Math.max(0, patience - performance.now())).unref())]);
  }

  /** A plugin whose service went falls back; one whose service came is started. */
  servicesChanged(): void {
    for (const record of this.#host.records) {
      const unmet = record.manifest.requires.services?.some((key) => !this.#host.registry.provides(key));
      if (unmet === undefined) continue;
      if (unmet && record.running) track(this.#fallBack(record), this.#ending);
      else if (!unmet && isWaiting(record)) this.#startLate([record]);
    }
  }

  /** Starts plugins side by side. What still hangs a while after the last one came up is given up. */
  #startAll(records: readonly PluginRecord[]): Promise<void> {
    const started = this.#host.provenance.leave(
      () =>
        new Promise<void>((resolve) => {
          const pending = new Set(records);
          let timer: NodeJS.Timeout | undefined;
          const giveUp = () => {
            for (const record of pending) this.#giveUp(record);
            resolve();
          };
          const wait = () => {
            clearTimeout(timer);
            if (pending.size === 0) resolve();
            else timer = setTimeout(giveUp, straggleMs);
          };
          for (const record of records) {
            void this.#activate(record).then(() => {
              pending.delete(record);
              wait();
            });
          }
          wait();
        }),
    );
    return started.then(() => this.#host.started());
  }

  #giveUp(record: PluginRecord): void {
    if (record.state !== 'resolved') return;
    if (!waits(record)) {
      this.#host.supervisor.fault(record, 'load', 'load', new KernelError('LOAD_TIMEOUT', { ms: straggleMs, place: pendingPlace(record.candidate.entry) }));
      return;
    }
    // Not its own fault: it may start when what it requires has come up.
    record.life += 1;
    record.activation = undefined;
  }

  /** Never rejects: whatever goes wrong becomes a state with a reason. */
  #activate(record: PluginRecord): Promise<void> {
    record.activation ??= this.#run(record);
    return record.activation;
  }

  async #run(record: PluginRecord): Promise<void> {
    if (record.state !== 'resolved') return;
    const { supervisor, activation } = this.#host;
    const life = ++record.life;
    const missing = await this.missingRequirement(record);
    if (record.life !== life) return;
    record.reason = missing === undefined ? undefined : `${waitsFor}${missing}`;
    if (missing !== undefined) {
      record.activation = undefined;
      return;
    }
    try {
      await activate(record, activation, () => record.state === 'resolved' && record.life === life);
      if (!record.running || record.life !== life) return;
      supervisor.revived(record);
      this.#wakeDependents(record);
    } catch (error) {
      if ((record.state !== 'resolved' && record.state !== 'activated') || record.life !== life || isInterrupted(error)) return;
      if (error instanceof Unmet) {
        record.reason = `${waitsFor}${error.missing}`;
        record.activation = undefined;
        return;
      }
      if (error instanceof Refusal) {
        transition(record, 'refused', error.message);
        this.#unload(record);
        return;
      }
      const { where, error: cause } = error instanceof ActivationFailure ? error : { where: 'setup' as const, error };
      supervisor.fault(record, where, where, cause);
    }
  }

  /** What a plugin requires and is not there, after starting whom it needs. */
  async missingRequirement(record: PluginRecord): Promise<string | undefined> {
    const { plugins = {}, services = [] } = record.manifest.requires;
    for (const id of Object.keys(plugins)) {
      const needed = this.#host.records.find((other) => this.#answersTo(other, id) && other.state !== 'refused');
      record.reason = `${waitsFor}the plugin ${id}`;
      if (needed) await this.#activate(needed);
      if (!needed?.running) return `the plugin ${id}`;
    }
    const service = services.find((key) => !this.#host.registry.provides(key));
    return service === undefined ? undefined : `the service ${service}`;
  }

  #answersTo(record: PluginRecord, id: string): boolean {
    return record.id === id || (Object.hasOwn(this.#host.replaces, id) && this.#host.replaces[id] === record.id);
  }

  #dependents(record: PluginRecord): PluginRecord[] {
    return this.#host.records.filter((other) => Object.keys(other.manifest.requires.plugins ?? {}).some((id) => this.#answersTo(record, id)));
  }

  /** Starts those that fell back, or never came up, because this one was not there. */
  #wakeDependents(record: PluginRecord): void {
    const waiting = this.#dependents(record).filter(isWaiting);
    if (waiting.length > 0) this.#startLate(waiting);
  }

  #startLate(records: readonly PluginRecord[]): void {
    track(this.#startAll(records), this.#late);
  }

  async #takeDown(record: PluginRecord): Promise<void> {
    const left = this.#leave(record);
    this.#leaving.set(record, left);
    await left;
    if (this.#leaving.get(record) === left) this.#leaving.delete(record);
  }

  async #leave(record: PluginRecord): Promise<void> {
    this.#host.abandon(record);
    for (const dependent of this.#dependents(record)) if (dependent.running) await this.#fallBack(dependent);
    await record.scope?.dispose();
    this.#unload(record);
  }

  async #fallBack(record: PluginRecord): Promise<void> {
    transition(record, 'resolved', `${waitsFor}what it requires`);
    await this.#takeDown(record);
    record.activation = undefined;
    this.servicesChanged(); // what it requires may have come back meanwhile
  }

  /** Forgets what the plugin registered, and ends what it left running. */
  #unload(record: PluginRecord): void {
    record.withdraw();
    record.scope = undefined;
    record.setup = undefined;
    record.slots = [];
    record.contributes = [];
    const left = this.#host.clear(record);
    if (left?.timers || left?.listeners) record.log.warn(`left ${left.timers} timers and ${left.listeners} process listeners behind; they were removed`);
  }
}

const waitsFor = 'waits for ';

function waits(record: PluginRecord): boolean {
  return record.reason?.startsWith(waitsFor) ?? false;
}

function isWaiting(record: PluginRecord): boolean {
  return record.state === 'resolved' && record.activation === undefined && waits(record);
}

function patiently(work: Promise<void>, ms: number): Promise<void> {
  return Promise.race([work, new Promise<void>((resolve) => setTimeout(resolve, ms).unref())]);
}

function track(work: Promise<void>, among: Set<Promise<void>>): void {
  const done = work.finally(() => among.delete(done));
  among.add(done);
}
