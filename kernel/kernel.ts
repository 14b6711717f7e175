/** The kernel: puts the parts together and runs the life of its plugins. */
import { join } from 'node:path';
import type { z } from 'zod';
import { Refusal } from './activate.ts';
import { type Containment, containProcess } from './heal/contain.ts';
import type { KernelControl, PluginInfo } from './control.ts';
import { hookSlotKey } from './hook-spec.ts';
import { controlOf, kernelControl } from './control.ts';
import { mayGuard } from './heal/damaged-guard.ts';
import { Sweeper } from './heal/deadline.ts';
import { digestPlugin } from './trust/digest.ts';
import { KernelError } from './errors.ts';
import { describeError, type Fault } from './heal/fault.ts';
import { HealthStore } from './heal/health.ts';
import { type Candidate, type Manifest, PluginRecord, transition } from './lifecycle.ts';
import { Lives } from './lives.ts';
import { LazyPlugins, pluginEvent } from './lazy/lazy-plugins.ts';
import { createLoader } from './load.ts';
import { PluginLog } from './log.ts';
import { didYouMean } from './near.ts';
import { explainPlace } from './order.ts';
import { type HomePaths, realPath } from './paths.ts';
import { pausing } from './heal/pausing.ts';
import { Provenance } from './heal/provenance.ts';
import { Registry } from './registry.ts';
import { engineProblem, resolvePlugins } from './resolve.ts';
import type { Disposable } from './scope.ts';
import { Supervisor } from './heal/supervisor.ts';
import { Trace } from './trace.ts';
import { blameItem, blameStalls, whoContributes } from './heal/blame.ts';
import { FaultDesk } from './heal/fault-desk.ts';
import type { FaultRecord } from './heal/fault-journal.ts';
import { type Patience, lastWord, wasBlamed, Watchdog } from './heal/watchdog.ts';

export interface KernelOptions {
  readonly version: string;
  readonly paths: HomePaths;
  readonly candidates: readonly Candidate[];
  readonly disabled?: readonly string[];
  readonly replaces?: Readonly<Record<string, string>>;
  /** Why the project tier does not run; undefined when it is trusted. */
  readonly untrusted?: string;
  /** Whether the project is still as it was trusted; asked before each of its plugins is loaded. */
  readonly trusted?: () => boolean;
  /** Lines to tell the person at the start, beside those about plugins. */
  readonly notices?: readonly string[];
  /** A plugin's part of the configuration, unchecked. */
  readonly configOf?: (plugin: { readonly id: string; readonly tier: Candidate['tier'] }, schema: z.ZodType | undefined) => unknown;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Modules that plugins share with the host, by specifier. */
  readonly virtualModules?: () => Promise<Readonly<Record<string, unknown>>>;
  /** Whether to answer for the whole process: uncaught errors, exits, timers, console. */
  readonly contain?: boolean;
  /** How long plugin code may keep the agent waiting; only where `contain` is on. */
  readonly patience?: Patience;
  /** Told when the watchdog has to end the process: what the person can do. */
  readonly advice?: string;
  readonly now?: () => number;
  readonly random?: () => number;
}

export function createKernel(options: KernelOptions): Kernel {
  return new Kernel(options);
}

export class Kernel implements KernelControl, Disposable {
  readonly paths: HomePaths;
  readonly version: string;
  readonly #options: KernelOptions;
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #provenance = new Provenance();
  readonly #sweeper = new Sweeper(() => performance.now());
  readonly #watchdog: Watchdog;
  readonly #supervisor: Supervisor;
  readonly #registry: Registry;
  readonly #lives: Lives;
  readonly #lazy: LazyPlugins;
  readonly #records: PluginRecord[] = [];
  readonly #desk: FaultDesk;
  #containment: Containment | undefined;
  #isUp = false;
  #probing = false;

  constructor(options: KernelOptions) {
    this.#options = options;
    this.paths = options.paths;
    this.version = options.version;
    this.#now = options.now ?? Date.now;
    this.#startedAt = this.#now();
    this.#desk = new FaultDesk(options.paths.state, this.#records);
    this.#watchdog = new Watchdog({ records: join(options.paths.state, 'stalls'), patience: options.patience, advice: options.advice, running: () => this.#runningFolder() });
    this.#supervisor = new Supervisor({
      provenance: this.#provenance,
      health: new HealthStore(join(options.paths.state, 'health')),
      now: this.#now,
      report: (fault) => this.#desk.report(fault),
      takeDown: (record) => this.#lives.takeDown(record),
    });
    this.#registry = new Registry({
      provenance: this.#provenance,
      sweeper: this.#sweeper,
      interrupter: this.#watchdog.interrupter,
      supervisor: this.#supervisor,
      absentGuards: (hook) => this.#absentGuards(hook),
      wake: (event) => this.#lives.wake(event),
      servicesChanged: () => this.#lives.servicesChanged(),
    });
    this.#lives = new Lives({
      records: this.#records,
      registry: this.#registry,
      supervisor: this.#supervisor,
      provenance: this.#provenance,
      replaces: options.replaces ?? {},
      started: () => {
        if (this.#isUp) this.#tellUnknown();
      },
      abandon: (record) => this.#sweeper.abandon(record),
      clear: (record) => this.#containment?.clear(record),
      activation: {
        registry: this.#registry,
        provenance: this.#provenance,
        load: createLoader({ cache: join(options.paths.cache, 'transpiled'), virtualModules: options.virtualModules ?? (async () => ({})) }, this.#interruptible),
        admit: (record, manifest) => this.#admit(record, manifest),
        configOf: (record, schema) => options.configOf?.(record, schema),
        contextHost: (record) => ({
          now: this.#now,
          random: options.random ?? Math.random,
          env: options.env ?? process.env,
          stateFile: join(options.paths.state, 'plugins', `${record.id}.json`),
          stray: (error) => this.#supervisor.fault(record, 'timer', 'stray', error),
        }),
        fault: (record, where, kind, error) => void this.#supervisor.fault(record, where, kind, error),
        missing: (record) => this.#lives.missingRequirement(record),
        ran: (record, where) => this.#containment?.checkGlobals(record, where),
        interruptible: this.#interruptible,
        withdrawn: ({ tier, candidate }) => (tier === 'project' && options.trusted?.() === false ? 'the project has changed since it was trusted' : candidate.changed?.()),
        fire: (event) => this.fire(event),
      },
    });
    this.#lazy = new LazyPlugins({
      file: join(options.paths.cache, 'contributions.json'),
      version: options.version,
      registry: this.#registry,
      configOf: (record) => options.configOf?.(record, undefined),
      admit: (record, manifest) => this.#admit(record, manifest),
      isBusy: (record) => this.#containment?.isBusy(record) ?? false,
    });
    this.#registry.provide(undefined, kernelControl.key, controlOf(this));
  }

  /** Resolves all plugins and starts those that want to start with the agent. */
  async start(): Promise<void> {
    const options = this.#options;
    if (options.contain) {
      this.#containment = containProcess({
        provenance: this.#provenance,
        fault: (owner, where, kind, error) => void this.#supervisor.fault(owner, where, kind, error),
        known: (error) => this.#supervisor.known(error),
      });
    }
    // What the agent's own plugins define is settled before anybody else runs: the first definition holds.
    for (const { defines } of options.candidates) {
      for (const spec of defines?.hooks ?? []) this.#registry.defineHook(spec);
      for (const spec of defines?.points ?? []) this.#registry.definePoint(spec);
    }
    for (const candidate of options.candidates) this.#records.push(this.#record(candidate));
    resolvePlugins(this.#records, {
      version: options.version,
      disabled: options.disabled ?? [],
      replaces: options.replaces ?? {},
      untrusted: options.untrusted,
    });
    for (const record of this.#records) if (record.state === 'resolved') this.#recall(record);
    blameStalls(this.#watchdog.records, this.#records, this.#supervisor);
    await this.fire('onStartup');
    await this.#lives.settled();
    this.#lazy.remember(this.#records);
    this.#isUp = true;
    this.#tellUnknown();
    this.#reportOrder();
  }

  /** Starts the plugins that wait for an activation event. */
  async fire(event: string): Promise<void> {
    await this.#lives.wake(event);
  }

  call(hook: string, payload: unknown, signal?: AbortSignal): unknown {
    return this.#registry.call(hook, payload, signal);
  }

  items(point: string) {
    return this.#registry.items(point);
  }

  use(key: string): unknown {
    return this.#registry.use(key);
  }

  provide(key: string, service: unknown): void {
    this.#registry.provide(undefined, key, service);
  }

  plugins(): PluginInfo[] {
    return this.#records.map((record) => ({
      id: record.id,
      version: record.manifest.version,
      tier: record.tier,
      state: record.state,
      path: record.candidate.path,
      contributes: [...record.contributes].sort(),
      capabilities: record.manifest.capabilities,
      requires: Object.keys(record.manifest.requires.plugins ?? {}),
      reason: this.#reasonOf(record),
      excused: record.excused,
      config: record.definition?.static.config,
    }));
  }

  faults(): readonly Fault[] {
    return this.#desk.faults;
  }

  onFault(listener: (fault: Fault) => void): Disposable {
    return this.#desk.listen(listener);
  }

  notices(): string[] {
    const lines = [...(this.#options.notices ?? []), ...this.#supervisor.notices(this.#records, this.#startedAt)];
    for (const clash of this.#registry.clashes()) lines.push(`plugin ${clash.plugin}: its ${clash.point} item "${clash.name}" is called "${clash.renamed}": ${clash.winner} has that name`);
    return lines;
  }

  why(hook: string) {
    const point = this.#registry.hook(hook);
    return point.taps.map((tap) => ({ plugin: tap.plugin, tier: tap.tier, open: tap.slot.open, reason: explainPlace(tap) }));
  }

  hooks() {
    return this.#registry.hooks().map(({ spec }) => ({ name: spec.name, kind: spec.kind }));
  }

  trace(): Trace & Disposable {
    const trace = new Trace();
    this.#registry.traceInto(trace);
    return Object.assign(trace, { dispose: () => this.#registry.endTrace(trace) });
  }

  async release(id: string): Promise<PluginInfo> {
    const record = this.#find(id);
    this.#supervisor.pardon(record);
    if (record.state === 'quarantined') await this.#lives.restart(record);
    const info = this.plugins().find((plugin) => plugin.id === record.id && plugin.path === record.candidate.path);
    return info as PluginInfo;
  }

  faultHistory(id?: string): readonly FaultRecord[] {
    return this.#desk.journal.read(id);
  }

  async blame(point: string, item: string, { how, pid }: Parameters<KernelControl['blame']>[2]): Promise<void> {
    if (pid !== undefined && wasBlamed(this.#watchdog.records, pid)) return;
    // What is only announced has no slots yet that a fault could be counted against.
    for (const record of whoContributes(point, item, this.#records)) if (record.state === 'resolved') await this.fire(pluginEvent(record));
    const word = pid === undefined ? undefined : lastWord(this.#watchdog.records, pid);
    blameItem(point, item, word ?? how, this.#records, this.#supervisor);
  }

  async probe(): Promise<void> {
    if (this.#probing) return;
    this.#probing = true;
    try {
      const record = this.#supervisor.dueProbe(this.#records);
      if (record) await this.#lives.restart(record, 'on probation');
    } finally {
      this.#probing = false;
    }
  }

  pausing<T>(ask: () => Promise<T>): Promise<T> {
    return pausing(this.#provenance, this.#sweeper, ask);
  }

  /** Takes all plugins down, last started first, and gives the process back. */
  async dispose(): Promise<void> {
    this.#watchdog.leaving();
    this.#supervisor.flush();
    this.#desk.journal.flush();
    this.#lazy.remember(this.#records);
    await this.#lives.end();
    this.#sweeper.stop();
    this.#watchdog.dispose();
    this.#containment?.dispose();
  }

  #record(candidate: Candidate): PluginRecord {
    const log = new PluginLog(join(this.#options.paths.state, 'logs', `${candidate.manifest.id.replace(/[^\w-]/g, '_')}.log`), this.#now, (message) => {
      this.#supervisor.fault(record, 'log', 'flood', new Error(message));
    });
    const record: PluginRecord = new PluginRecord(candidate, log);
    if (candidate.tier !== 'builtin') {
      this.#provenance.addFolder({ path: folderOf(record), owner: record });
    }
    return record;
  }

  /** Looks up what this content did in earlier runs. */
  #recall(record: PluginRecord): void {
    const { candidate } = record;
    try {
      record.digest = candidate.digest ?? (candidate.tier === 'builtin' ? `builtin ${this.#options.version}` : digestPlugin(candidate.entry, candidate.bare ? undefined : candidate.path));
    } catch (error) {
      // What cannot be told apart from another content has no past, and gets no future.
      transition(record, 'refused', describeError(error));
      return;
    }
    const { quarantine, told, slots } = this.#supervisor.recall(record);
    if (quarantine && record.tier !== 'builtin') {
      transition(record, 'quarantined', quarantine.cause);
      // The id the person was told it by, which its code would say.
      if (candidate.bare && told !== undefined) record.manifest = { ...record.manifest, id: told };
    }
    try {
      // Whose past is not clean is looked at from the start.
      const isClean = record.state === 'resolved' && Object.keys(slots).length === 0;
      this.#lives.expect(record, this.#lazy.announce(record, isClean));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      transition(record, 'refused', error.message);
    }
  }

  readonly #interruptible = <T>(record: PluginRecord, fn: () => T): T => {
    if (record.tier === 'builtin') return fn();
    this.#watch(record);
    return this.#watchdog.interruptible(fn, folderOf(record));
  };

  #runningFolder(): string | undefined {
    const owner = this.#provenance.running();
    return owner instanceof PluginRecord && owner.tier !== 'builtin' ? folderOf(owner) : undefined;
  }

  #watch(record: PluginRecord): void {
    if (this.#options.contain) this.#watchdog.over({ path: folderOf(record), id: record.id });
  }

  /** A bare file has told who it is: the checks that had to wait. */
  #admit(record: PluginRecord, manifest: Manifest): void {
    record.manifest = manifest;
    if (record.activation) this.#watch(record);
    const other = this.#records.find((one) => one !== record && one.id === manifest.id && one.state !== 'refused');
    if (other) throw new Refusal(new KernelError('DUPLICATE_ID', { id: manifest.id, other: other.candidate.path }).message);
    if ((this.#options.disabled ?? []).includes(manifest.id)) {
      record.excused = true;
      throw new Refusal('turned off by plugins.disabled in the configuration');
    }
    const problem = engineProblem(manifest, this.#options.version);
    if (problem) throw new Refusal(problem);
    if (manifest.capabilities.some((capability) => capability.startsWith('gate:'))) {
      throw new Refusal('a bare file cannot guard: a gate must be known before any code runs. To fix it: make it a folder with a package.json');
    }
  }

  #absentGuards(hook: string): readonly Fault[] {
    return this.#records.filter((record) => !record.running && !record.excused && mayGuard(record.manifest.capabilities, hook)).map((record) => this.#supervisor.absent(record, hookSlotKey(hook)));
  }

  /** Tells plugins of what they registered for and nobody defined; while the agent starts it may still come. */
  #tellUnknown(): void {
    for (const { record, error } of this.#registry.unknown()) this.#supervisor.fault(record, 'setup', 'contract', error);
  }

  #reportOrder(): void {
    for (const point of this.#registry.hooks()) {
      for (const { plugin, error } of point.orderFaults) {
        const record = this.#records.find((one) => one.id === plugin && one.running);
        if (record) record.log.warn(`${point.spec.name}: ${error.message}. ${error.hint}`);
      }
    }
  }

  #reasonOf(record: PluginRecord): string | undefined {
    if (record.state === 'degraded') return this.#supervisor.reasons(record).join('; ') || record.reason;
    return record.reason;
  }

  #find(id: string): PluginRecord {
    const record = this.#records.find((one) => one.id === id && one.state !== 'refused') ?? this.#records.find((one) => one.id === id);
    if (!record) throw new KernelError('UNKNOWN_PLUGIN', { id, near: didYouMean(id, this.#records.map((one) => one.id)) });
    return record;
  }
}

function folderOf({ candidate: { path, digest } }: PluginRecord): string {
  return digest === undefined ? (realPath(path) ?? path) : path;
}
