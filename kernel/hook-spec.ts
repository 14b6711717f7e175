/** Hook specs: the typed declaration of a hook, from which the kernel builds its hook point. */
import type { Call } from './call.ts';
import type { Decision } from './decision.ts';
import type { Frozen } from './json.ts';

export type HookKind = 'series' | 'parallel' | 'waterfall' | 'bail' | 'gate';
export type HookMode = 'sync' | 'async';

/** Type-level description of one hook, the value type of {@link HookMap}. */
export interface Hook<Kind extends HookKind, Payload, Result = void, Mode extends HookMode = 'async'> {
  readonly kind: Kind;
  readonly payload: Payload;
  readonly result: Result;
  readonly mode: Mode;
}

/** All hooks by name. Whoever defines a hook adds it here by declaration merging, so that its taps are typed. */
export interface HookMap {}

export type HookName = keyof HookMap & string;

/** What happens when a tap fails: go on as if it were absent, deny (gates), or let the error through (kernel only). */
export type FaultPolicy = 'skip' | 'deny' | 'abort';

export interface HookSpec<H = AnyHook> {
  readonly name: string;
  readonly kind: HookKind;
  readonly mode: HookMode;
  readonly onFault: FaultPolicy;
  /** Milliseconds an asynchronous tap may take before its caller goes on without it. */
  readonly deadline: number;
  /** True when `value` is what a tap of this hook may return (`waterfall`, `bail`). */
  readonly check?: (value: unknown) => boolean;
  /** Gates: the answer when no tap decides. */
  readonly fallback?: Decision;
  /** Calls of third-party taps can be interrupted when they do not come back, at 55–80 µs for a stretch of them. Default: all hooks but synchronous ones. */
  readonly hard?: boolean;
  /** Phantom member that carries the type. */
  readonly type?: H;
}

export type AnyHook = Hook<HookKind, unknown, unknown, HookMode>;

type Settled<Mode, T> = Mode extends 'sync' ? T : T | Promise<T>;

type Returned<H> = H extends Hook<infer Kind, infer Payload, infer Result, infer Mode>
  ? Kind extends 'waterfall'
    ? Settled<Mode, Frozen<Payload>>
    : Kind extends 'bail'
      ? Settled<Mode, Result | undefined>
      : Kind extends 'gate'
        ? Settled<Mode, Decision | undefined | void>
        : // `void` alone would let a promise pass.
          Settled<Mode, void | undefined>
  : never;

/** The function a plugin writes for hook `H`. */
export type Handler<H> = H extends Hook<HookKind, infer Payload, unknown, HookMode>
  ? (payload: Frozen<Payload>, call: Call) => Returned<H>
  : never;

/** What calling hook `H` answers. */
export type Outcome<H> = H extends Hook<infer Kind, infer Payload, infer Result, HookMode>
  ? Kind extends 'waterfall'
    ? Frozen<Payload>
    : Kind extends 'bail'
      ? Result | undefined
      : Kind extends 'gate'
        ? Decision
        : void
  : never;

export type PayloadOf<H> = H extends Hook<HookKind, infer Payload, unknown, HookMode> ? Payload : never;

export type Stage = 'pre' | 'normal' | 'post';

/** Where a tap stands among the taps of its hook. `before` and `after` name plugin ids. */
export interface Order {
  readonly stage?: Stage;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

/** A handler, or a handler with its place in the order. */
export type Tap<H> = Handler<H> | (Order & { readonly run: Handler<H> });

type SpecOptions = Partial<Pick<HookSpec, 'deadline' | 'check' | 'fallback' | 'onFault' | 'mode' | 'hard'>>;

const defaultDeadline = 5_000;

/**
 * Declares a hook that is in {@link HookMap}.
 *
 * @param kind `series` and `parallel` only tell; `waterfall` hands a value on; `bail` stops at the first
 *   answer; `gate` asks everybody, and the strictest answer holds.
 */
export function defineHook<Name extends HookName>(
  name: Name,
  kind: HookMap[Name] extends AnyHook ? HookMap[Name]['kind'] : never,
  options: SpecOptions = {},
): HookSpec<HookMap[Name]> {
  const gate = kind === 'gate';
  return {
    name,
    kind,
    mode: options.mode ?? 'async',
    onFault: options.onFault ?? (gate ? 'deny' : 'skip'),
    deadline: options.deadline ?? defaultDeadline,
    hard: options.hard ?? options.mode !== 'sync',
    ...(options.check && { check: options.check }),
    ...(gate && { fallback: options.fallback ?? { verdict: 'deny', reason: `nothing allowed it (${name})` } }),
  };
}

/** What a fault of `hook` is called in messages and health records. */
export function hookSlotKey(hook: string): string {
  return `hook ${hook}`;
}

