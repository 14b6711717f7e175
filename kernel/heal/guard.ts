/**
 * Layer 1, the guard: one wrapper per slot, made once at registration, so that whatever a plugin does
 * (throw, reject, never settle, answer with the wrong type) its caller gets the policy value.
 *
 * The shape is for speed: fixed arity, no closure, promise, Proxy or timer per call. `test/bench` holds
 * it to a few nanoseconds per synchronous tap.
 */
import { SlotCall } from '../call.ts';
import type { MemberSpec } from '../contribution-spec.ts';
import type { Sweeper } from './deadline.ts';
import { type Decision, isDecision, stricter } from '../decision.ts';
import { isKernelError, KernelError } from '../errors.ts';
import { type Fault, FaultError, type FaultKind, isOperational, OperationalError } from './fault.ts';
import type { HookSpec } from '../hook-spec.ts';
import { freezeJson } from '../json.ts';
import { type Frame, type Provenance, putUnder } from './provenance.ts';
import type { Slot } from '../slot.ts';
import { type CallOutcome, hangError, type Interrupted, type Interrupter, isInterrupted, type Running } from './interrupt.ts';

/** What guards need of their kernel. */
export interface GuardHost {
  readonly provenance: Provenance;
  readonly sweeper: Sweeper;
  /** Absent where nothing watches for hangs. */
  readonly interrupter?: Interrupter;
}

/** What travels beside a payload through one call of a hook point. */
export interface HookRun {
  readonly signal: AbortSignal | undefined;
  /** Gates: the strictest answer so far. */
  decision: Decision | undefined;
  /** The third-party tap being called, and how to go on behind it. */
  at?: { readonly running: Running; readonly goOn: (outcome: CallOutcome | { readonly fault: Fault | null }) => void } | undefined;
}

type Done = (error: Error | null, value?: unknown) => void;
export type SyncGuard = (payload: unknown, run: HookRun) => unknown;
export type AsyncGuard = (payload: unknown, run: HookRun, done: Done) => void;

/** Guard of a tap of a synchronous hook. */
export function guardSync(host: GuardHost, slot: Slot, spec: HookSpec): SyncGuard {
  const { provenance } = host;
  const { owner } = slot;
  const call = new SlotCall(owner.log);
  if (spec.kind === 'series') {
    return (payload, run) => {
      if (!slot.open) return void skip(spec, slot.closedBy, payload, run);
      const { fn } = slot;
      provenance.current = owner;
      try {
        const answer = fn(payload, call);
        if (answer !== undefined) refuseThenable(slot, answer);
        if (slot.watched) slot.observer.clean(slot);
      } catch (error) {
        skip(spec, failed(slot, 'threw', error), payload, run);
      }
    };
  }
  return (payload, run) => {
    if (!slot.open) return skip(spec, slot.closedBy, payload, run);
    const { fn } = slot;
    provenance.current = owner;
    try {
      const answer = fn(payload, call);
      refuseThenable(slot, answer);
      return accept(spec, slot, answer, payload, run);
    } catch (error) {
      return skip(spec, failed(slot, 'threw', error), payload, run);
    }
  };
}

/**
 * Guard of a tap of an asynchronous hook, in the form tapable calls `tapAsync`: an answer that is not a
 * promise is passed on at once, which is five times cheaper than awaiting it.
 */
export function guardAsync(host: GuardHost, slot: Slot, spec: HookSpec): AsyncGuard {
  const { provenance } = host;
  if (spec.hard && host.interrupter && slot.owner.tier !== 'builtin') return guardHard(host, host.interrupter, slot, spec);
  const tells = spec.kind === 'series' || spec.kind === 'parallel';
  const { owner } = slot;
  const { log } = owner;
  return (payload, run, done) => {
    if (!slot.open) return passOver(spec, slot.closedBy, payload, run, done);
    const call = new SlotCall(log, run.signal);
    const { fn } = slot;
    let frame: Frame | undefined;
    let answer: unknown;
    provenance.current = owner;
    try {
      if (slot.async) {
        frame = provenance.newFrame(owner);
        answer = provenance.enter(frame, fn, undefined, payload, call);
      } else answer = fn(payload, call);
    } catch (error) {
      return passOver(spec, failed(slot, 'threw', error, run.signal), payload, run, done);
    }
    if (answer !== undefined || !tells) return takeAnswer(host, slot, spec, answer, call, frame, payload, run, done);
    if (slot.watched) slot.observer.clean(slot);
    done(null);
  };
}

/**
 * {@link guardAsync} for code of others where calls can be interrupted. It always enters the async context: what such
 * a tap leaves behind must not pass for the doing of whoever called the hook.
 */
function guardHard(host: GuardHost, interrupter: Interrupter, slot: Slot, spec: HookSpec): AsyncGuard {
  const { provenance } = host;
  const tells = spec.kind === 'series' || spec.kind === 'parallel';
  const { owner } = slot;
  return (payload, run, done) => {
    if (!slot.open) return passOver(spec, slot.closedBy, payload, run, done);
    const call = new SlotCall(owner.log, run.signal);
    const { fn } = slot;
    const frame = provenance.newFrame(owner);
    const running = interrupter.open(slot);
    const goOn = (outcome: CallOutcome | { readonly fault: Fault | null }): void => {
      if ('fault' in outcome) return passOver(spec, outcome.fault, payload, run, done);
      if ('error' in outcome) return passOver(spec, failed(slot, 'threw', outcome.error, run.signal), payload, run, done);
      if (outcome.answer !== undefined || !tells) return takeAnswer(host, slot, spec, outcome.answer, call, frame, payload, run, done);
      if (slot.watched) slot.observer.clean(slot);
      done(null);
    };
    run.at = { running, goOn };
    provenance.current = owner;
    interrupter.call(running, () => provenance.enter(frame, fn, undefined, payload, call));
    goOn(running.outcome as CallOutcome);
  };
}

/** Runs a synchronous stretch of a hook's taps; behind one that had to be interrupted it goes on. */
export function stretch(host: GuardHost, spec: HookSpec, run: HookRun, work: () => void): void {
  const { interrupter } = host;
  if (!spec.hard || !interrupter?.armed) return work();
  for (let next: (() => void) | undefined = work; next; ) {
    const step = next;
    next = undefined;
    try {
      interrupter.enter(step);
    } catch (error) {
      const { at } = run;
      if (!isInterrupted(error) || !at) throw error;
      // A Ctrl-C may fall between two calls: then the last one goes on once more, with the outcome it has.
      const { goOn, running } = at;
      const outcome = running.outcome ?? { fault: interruptedFault(error) };
      next = () => goOn(outcome);
    }
  }
}

/** Calls code of others so that it is interrupted when it does not come back. @throws Interrupted, and what `fn` throws */
export function enterSlot(host: GuardHost, slot: Slot, fn: () => unknown): unknown {
  return host.interrupter && slot.owner.tier !== 'builtin' ? host.interrupter.run(fn, slot) : fn();
}

/** Counts an interruption against the call that was running; null when the person pressed Ctrl-C. */
function interruptedFault(error: Interrupted): Fault | null {
  const { byPerson, slot } = error;
  return byPerson || !slot ? null : slot.observer.failed(slot, 'hang', hangError(error));
}

/** What the caller of an interrupted call gets: its fault, or that the person stopped it. */
export function interruption(error: Interrupted): FaultError | OperationalError {
  const fault = interruptedFault(error);
  return fault ? new FaultError(fault) : new OperationalError('it was cancelled while it ran');
}

// The rest is apart from the guard: what most calls do not need, they should not pay for.

function takeAnswer(
  host: GuardHost,
  slot: Slot,
  spec: HookSpec,
  answer: unknown,
  call: SlotCall,
  frame: Frame | undefined,
  payload: unknown,
  run: HookRun,
  done: Done,
): void {
  let value: unknown;
  try {
    if (isThenable(answer)) {
      slot.async = true;
      return awaitTap(host, slot, spec, answer, call, frame, payload, run, done);
    }
    value = accept(spec, slot, answer, payload, run);
  } catch (error) {
    return passOver(spec, failed(slot, 'threw', error, run.signal), payload, run, done);
  }
  done(null, value);
}

function awaitTap(
  host: GuardHost,
  slot: Slot,
  spec: HookSpec,
  answer: PromiseLike<unknown>,
  call: SlotCall,
  frame: Frame | undefined,
  payload: unknown,
  run: HookRun,
  done: Done,
): void {
  settle(host.sweeper, slot, answer, spec.deadline, call, frame, (late, settled) => {
    stretch(host, spec, run, () => resume(spec, slot, late, settled, payload, run, done));
    // The taps that ran on from here are through, and nobody's call is left on the stack.
    host.provenance.current = undefined;
  });
}

function resume(spec: HookSpec, slot: Slot, late: Fault | null | undefined, settled: unknown, payload: unknown, run: HookRun, done: Done): void {
  if (late !== undefined) return passOver(spec, late, payload, run, done);
  let value: unknown;
  try {
    value = accept(spec, slot, settled, payload, run);
  } catch (error) {
    return passOver(spec, failed(slot, 'threw', error, run.signal), payload, run, done);
  }
  done(null, value);
}

/** Waits like {@link settle} for one promise of a contribution's member. `late` makes the value of a deadline that is no fault. */
export function settleCall<T>(host: GuardHost, slot: Slot, answer: PromiseLike<T>, limit: number, call: SlotCall, frame: Frame, late?: () => T): Promise<{ fault?: Fault | null; value?: T }> {
  return new Promise((resolve) => {
    settle(host.sweeper, slot, answer, limit, call, frame, (fault, value) => resolve(fault === undefined ? { value: value as T } : { fault }), late);
  });
}

/**
 * Waits for `answer` at most `limit` milliseconds; then the caller goes on, the handler's signal is
 * aborted, and whatever it still answers is ignored. `null` as fault means that nobody is to blame.
 */
function settle(
  sweeper: Sweeper,
  slot: Slot,
  answer: PromiseLike<unknown>,
  limit: number,
  call: SlotCall,
  frame: Frame | undefined,
  then: (fault: Fault | null | undefined, value: unknown) => void,
  late?: () => unknown,
): void {
  let over = false;
  const expire = (taken?: Slot) => {
    over = true;
    if (taken) {
      const fault = taken.abandoned;
      call.expire(new FaultError(fault));
      return then(fault, undefined);
    }
    const timeout = new KernelError('TIMEOUT', { ms: limit });
    call.expire(timeout);
    if (late) then(undefined, late());
    else then(slot.observer.failed(slot, 'timeout', timeout), undefined);
  };
  const deadline = sweeper.watch(limit, expire, slot);
  if (frame) putUnder(frame, deadline);
  const finish = (fault: Fault | null | undefined, value: unknown) => {
    if (over) return;
    over = true;
    sweeper.clear(deadline);
    then(fault, value);
  };
  const reject = (error: unknown) => {
    if (!over) finish(failed(slot, 'rejected', error, call.given), undefined);
  };
  try {
    answer.then((value) => finish(undefined, value), reject);
  } catch (error) {
    reject(error); // only a thenable of the plugin's own making throws here
  }
}

/** The value a healthy answer stands for. @throws KernelError `CONTRACT`, `NOT_JSON` */
function accept(spec: HookSpec, slot: Slot, answer: unknown, payload: unknown, run: HookRun): unknown {
  let value: unknown;
  switch (spec.kind) {
    case 'waterfall':
      if (answer === undefined) throw contract(spec, 'answered undefined', 'a waterfall handler returns the next value; return the one it got to change nothing');
      value = checked(spec, answer);
      break;
    case 'bail':
      value = answer === undefined || answer === null ? undefined : checked(spec, answer);
      break;
    case 'gate': {
      const given: unknown = freezeJson(answer);
      if (given === undefined) break;
      if (!isDecision(given)) throw contract(spec, 'answered something that is no decision', "return allow(), ask('…'), deny('…') or nothing");
      run.decision = stricter(run.decision, { ...given, by: slot.owner.id });
      break;
    }
    default:
  }
  if (slot.watched) slot.observer.clean(slot);
  return spec.kind === 'waterfall' && value === undefined ? payload : value;
}

function checked(spec: HookSpec, answer: unknown): unknown {
  const value = freezeJson(answer);
  if (spec.check && !spec.check(value)) throw contract(spec, 'answered with the wrong type', 'see the type of this hook');
  return value;
}

function passOver(spec: HookSpec, fault: Fault | null | undefined, payload: unknown, run: HookRun, done: Done): void {
  if (fault && spec.onFault === 'abort') return done(new FaultError(fault));
  done(null, skip(spec, fault, payload, run));
}

/** The value of a tap that could not be asked: as if it were absent, or a denial. */
function skip(spec: HookSpec, fault: Fault | null | undefined, payload: unknown, run: HookRun): unknown {
  if (fault && spec.onFault === 'abort') throw new FaultError(fault);
  if (spec.onFault === 'deny') run.decision = stricter(run.decision, fault ? denial(fault) : cancelled);
  return spec.kind === 'waterfall' ? payload : undefined;
}

// The person stopped the call while a guard was thinking.
const cancelled: Decision = { verdict: 'deny', reason: 'the call was cancelled before every guard had answered' };

/** A gate that cannot answer denies, and says how to get out. */
export function denial(fault: Fault): Decision {
  const plugin = fault.plugin ?? 'unknown';
  return {
    verdict: 'deny',
    reason: `the guard plugin ${plugin} failed (${fault.message}), and a guard that fails denies. Fix it, or turn it off: agent config set plugins.disabled '["${plugin}"]'`,
    by: plugin,
  };
}

/** Counts the failure, unless it is news of the world or the caller gave up: then nobody is blamed. */
function failed(slot: Slot, kind: FaultKind, error: unknown, signal?: AbortSignal): Fault | null {
  if (signal?.aborted) return null;
  if (isOperational(error) && !slot.gate) {
    slot.owner.log.warn(`${slot.key}: ${error.message}`);
    return null;
  }
  return slot.observer.failed(slot, faultKind(kind, error), error);
}

export function faultKind(kind: FaultKind, error: unknown): FaultKind {
  if (!isKernelError(error)) return kind;
  return error.code === 'CONTRACT' || error.code === 'NOT_JSON' ? 'contract' : error.code === 'EXIT' ? 'exit' : error.code === 'HANG' ? 'hang' : kind;
}

/** True for errors a contribution's caller gets as they are: nobody is to blame. */
export function isNews(spec: MemberSpec, error: unknown): boolean {
  return isOperational(error) || (spec.operational?.(error) ?? false);
}

function refuseThenable(slot: Slot, answer: unknown): void {
  if (!isThenable(answer)) return;
  answer.then(undefined, (error: unknown) => void failed(slot, 'rejected', error));
  throw new KernelError('CONTRACT', { what: 'answered a promise to a synchronous hook', hint: 'remove async from this handler' });
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

function contract(spec: HookSpec, what: string, hint: string): KernelError {
  return new KernelError('CONTRACT', { what: `${what} (${spec.name} is a ${spec.kind} hook)`, hint });
}
