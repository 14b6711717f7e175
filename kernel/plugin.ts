/** The plugin as its author writes it. */
import type { z } from 'zod';
import type { Call } from './call.ts';
import type { ContributionMap, PointName, PointSpec } from './contribution-spec.ts';
import type { Disposable } from './scope.ts';
import type { HookMap, HookName, HookSpec, Order, Outcome, PayloadOf, Tap } from './hook-spec.ts';
import type { Json } from './json.ts';
import type { Logger } from './log.ts';
import type { ServiceRef } from './service.ts';
import type { Tier } from './tier.ts';

export interface ExecOptions {
  readonly cwd?: string;
  readonly input?: string;
  readonly signal?: AbortSignal;
  /** Milliseconds; default 60,000. */
  readonly timeout?: number;
  /**
   * Environment variables to add. Without, a program has those of the agent that do not look like secrets by
   * their name, and those that the plugin's `env:NAME` capabilities name.
   */
  readonly env?: Readonly<Record<string, string>>;
}

/** Reading needs no capability; `write`, `append`, `remove` and `makeDirectory` need `fs:write`. */
export interface PluginFiles {
  read(path: string): Promise<string>;
  readBytes(path: string): Promise<Uint8Array>;
  list(path: string): Promise<string[]>;
  exists(path: string): Promise<boolean>;
  write(path: string, data: string | Uint8Array): Promise<void>;
  append(path: string, data: string): Promise<void>;
  remove(path: string): Promise<void>;
  makeDirectory(path: string): Promise<void>;
}

/** JSON values kept for the plugin across runs. */
export interface PluginState {
  get<T extends Json>(key: string): T | undefined;
  set(key: string, value: Json): void;
  delete(key: string): void;
}

/** One item of a contribution point, as its readers see it: its callable members are guarded and answer promises. */
export interface Item<T> {
  readonly name: string;
  readonly plugin: string;
  readonly tier: Tier;
  readonly item: Guarded<T>;
}

/** Guarded members answer promises, and take whatever the domain adds to the call as a plain object. */
export type Guarded<T> = {
  readonly [Key in keyof T]: NonNullable<T[Key]> extends (input: infer Input, ...rest: infer Rest) => infer Result
    ? ((input: Input, context?: CallContext<Rest>) => Promise<Awaited<Result>>) | Extract<T[Key], undefined>
    : T[Key];
};

/** What a caller adds to the call of a member: everything its type has beyond {@link Call}, and a signal. */
type CallContext<Rest> = Rest extends readonly [infer C, ...unknown[]] ? Omit<C, keyof Call> & { readonly signal?: AbortSignal } : { readonly signal?: AbortSignal };

type MaybePromise<H> = H extends { readonly mode: 'sync' } ? Outcome<H> : Outcome<H> | Promise<Outcome<H>>;

/** `p`: everything a plugin can do. What its capabilities do not name is refused. */
export interface PluginContext<Config = unknown> {
  readonly id: string;
  readonly config: Config;
  readonly log: Logger;
  readonly state: PluginState;
  /**
   * Runs a program without a shell and answers its standard output; a non-zero exit is an `OperationalError`. It is
   * over when the program exits: what it left running is not waited for, and ends with the plugin, or with the agent
   * however that ends. Needs `exec`.
   */
  exec(file: string, args?: readonly string[], options?: ExecOptions): Promise<string>;
  /**
   * `fetch`, with every failure an `OperationalError`. Needs `net`. An answer must begin within 5 minutes, and without
   * a signal of the caller's be complete by then; with the plugin it ends too.
   */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  readonly fs: PluginFiles;
  /** An environment variable; needs `env:NAME`. */
  env(name: string): string | undefined;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Uniform in [0, 1). */
  random(): number;
  /** Ties a disposable to the plugin's life. */
  own<D extends Disposable>(disposable: D): D;
  /** A timer that dies with the plugin. It skips a turn while the last one still runs. */
  every(ms: number, run: () => void | Promise<void>): Disposable;
  tap<Name extends HookName>(hook: Name, tap: Tap<HookMap[Name]>): Disposable;
  contribute<Name extends PointName>(point: Name, name: string, item: ContributionMap[Name]): Disposable;
  /** Calls a hook. `signal` reaches every tap. */
  call<Name extends HookName>(hook: Name, payload: PayloadOf<HookMap[Name]>, signal?: AbortSignal): MaybePromise<HookMap[Name]>;
  /** The items of a contribution point, guarded, by name. Activates whoever waits for the point. */
  items<Name extends PointName>(point: Name): ReadonlyMap<string, Item<ContributionMap[Name]>>;
  /** Starts the plugins that wait for `event`. */
  activate(event: string): Promise<void>;
  provide<Service>(ref: ServiceRef<Service>, service: Service): Disposable;
  /** @throws KernelError `NO_SERVICE` */
  use<Service>(ref: ServiceRef<Service>): Service;
}

/** What `setup` returns: contributions by point, and hooks. */
export type Contributions = {
  readonly [Point in PointName]?: Readonly<Record<string, ContributionMap[Point]>>;
} & {
  readonly hooks?: { readonly [Name in HookName]?: Tap<HookMap[Name]> };
};

export interface Requirements {
  /** Plugin id to semver range. */
  readonly plugins?: Readonly<Record<string, string>>;
  /** Keys of service refs. */
  readonly services?: readonly string[];
}

/** The static half of a plugin, known before `setup` runs; also the manifest of a bare file. */
export interface PluginStatic<Schema extends z.ZodType = z.ZodType> {
  readonly id?: string;
  readonly version?: string;
  /** Semver range of newt-agent; default `*`. */
  readonly engine?: string;
  readonly config?: Schema;
  readonly requires?: Requirements;
  /**
   * When its code is loaded. Default: when something it contributes is called, where nothing in its source could make its
   * setup answer another time otherwise (Node's modules, `process`, `Date`, …) and its setup does nothing but answer; else
   * `onStartup`. `onDemand` says that setup only answers, whatever the source looks like. Or `hook:NAME`, `onProcess` (before a program of a plugin runs), or an event that another plugin fires. */
  readonly activateOn?: readonly string[];
  /** `exec`, `net`, `fs:write`, `env:NAME`, `gate:HOOK`. A declaration people consent to, not a sandbox. */
  readonly capabilities?: readonly string[];
  readonly defines?: { readonly hooks?: readonly HookSpec[]; readonly points?: readonly PointSpec<never>[] };
}

export type Setup<Config> = (p: PluginContext<Config>) => Contributions | void | Promise<Contributions | void>;

export interface PluginDefinition {
  readonly static: PluginStatic;
  readonly setup: Setup<never>;
}

const brand = Symbol.for('newt.plugin');

/** Declares a plugin. `setup` runs once per activation; what it returns appears all at once, or not at all. */
export function definePlugin<Schema extends z.ZodType = z.ZodType<Record<string, never>>>(
  definition: PluginStatic<Schema>,
  setup: Setup<z.output<Schema>>,
): PluginDefinition {
  return Object.defineProperty({ static: definition, setup: setup as Setup<never> }, brand, { value: 1 });
}

export function isPluginDefinition(value: unknown): value is PluginDefinition {
  return typeof value === 'object' && value !== null && brand in value;
}

export type { Call, Order };
