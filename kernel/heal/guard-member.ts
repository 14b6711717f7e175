/** Layer 1 for the callable members of contributions: the same promise as for taps, with a policy value per call. */
import { SlotCall } from '../call.ts';
import type { MemberSpec } from '../contribution-spec.ts';
import { KernelError } from '../errors.ts';
import { type Fault, FaultError, type FaultKind, isOperational } from './fault.ts';
import type { Slot } from '../slot.ts';
import { enterSlot, faultKind, type GuardHost, interruption, isNews, isThenable, settleCall } from './guard.ts';
import { isInterrupted } from './interrupt.ts';
import { guardStream, isStream } from './guard-stream.ts';

/** What a caller adds to the call: a signal, and whatever its domain gives to handlers. */
export interface MemberContext {
  readonly signal?: AbortSignal;
  /** Milliseconds, in place of the limit in the spec. */
  readonly limit?: number;
  readonly [extra: string]: unknown;
}

export type MemberGuard = (input: unknown, context?: MemberContext) => Promise<unknown>;

const unlimited = 2 ** 31;

type Settled = { readonly value: unknown } | { readonly error: unknown };

/** @param limit milliseconds an answer may take; see {@link MemberSpec.deadline} */
export function guardMember(host: GuardHost, slot: Slot, spec: MemberSpec, limit: number): MemberGuard {
  return (input, context) => runMember(host, slot, spec, limit, slot.fn, slot.self, input, context);
}

async function runMember(
  host: GuardHost,
  slot: Slot,
  spec: MemberSpec,
  limit: number,
  fn: Slot['fn'],
  self: unknown,
  input: unknown,
  context: MemberContext | undefined,
): Promise<unknown> {
  if (!slot.open) return policyValue(spec, slot.closedBy);
  const { provenance } = host;
  const call = memberCall(slot, context);
  const frame = provenance.newFrame(slot.owner);
  const outer = provenance.current;
  provenance.current = slot.owner;
  let answer: unknown;
  let pending: boolean;
  try {
    answer = spec.hard === false ? provenance.enter(frame, fn, self, input, call) : enterSlot(host, slot, () => provenance.enter(frame, fn, self, input, call));
    pending = isThenable(answer);
  } catch (error) {
    if (isInterrupted(error)) {
      const stopped = interruption(error);
      if (isOperational(stopped)) throw stopped;
      return policyValue(spec, stopped.fault);
    }
    return blame(slot, spec, 'threw', error, context?.signal);
  } finally {
    provenance.current = outer;
  }
  if (pending) {
    // Rejections pass through as values here, so that the spec can say which of them are operational.
    const caught = Promise.resolve(answer).then<Settled, Settled>((value) => ({ value }), (error) => ({ error }));
    const wait = spec.first ?? context?.limit ?? limit;
    const { late } = spec;
    // A service runs as long as it likes: nothing watches a clock for it.
    const { fault, value: settled } = spec.kind === 'service' ? { fault: undefined, value: await caught } : await settleCall(host, slot, caught, wait, call, frame, late && (() => ({ error: late(wait) })));
    if (!settled) return policyValue(spec, fault ?? undefined);
    if ('error' in settled) return blame(slot, spec, 'rejected', settled.error, context?.signal);
    answer = settled.value;
  }
  let value: unknown;
  try {
    value = accept(host, slot, spec, limit, answer, context?.signal);
  } catch (error) {
    return blame(slot, spec, 'threw', error);
  }
  // A stream has come through only when it has ended.
  if (slot.watched && spec.kind !== 'stream') slot.observer.clean(slot);
  return value;
}

/** The answer in the form the caller gets it. @throws KernelError `CONTRACT` */
function accept(host: GuardHost, slot: Slot, spec: MemberSpec, limit: number, answer: unknown, signal: AbortSignal | undefined): unknown {
  if (spec.check && !spec.check(answer)) throw new KernelError('CONTRACT', { what: 'answered with the wrong type', hint: 'see the type of this contribution' });
  if (spec.kind === 'stream') return streamOf(host, slot, spec, limit, answer, signal);
  return spec.methods ? withMethods(host, slot, spec.methods, answer as object) : answer;
}

function memberCall(slot: Slot, context: MemberContext | undefined): SlotCall {
  const call = new SlotCall(slot.owner.log, context?.signal);
  for (const [name, value] of Object.entries(context ?? {})) {
    if (name !== 'signal' && name !== 'limit') Object.defineProperty(call, name, { value, enumerable: true });
  }
  return call;
}

/** News of the world goes to the caller as it is; a fault is counted and answered by policy. */
function blame(slot: Slot, spec: MemberSpec, kind: FaultKind, error: unknown, signal?: AbortSignal): unknown {
  if (isNews(spec, error) || signal?.aborted) throw error;
  return policyValue(spec, slot.observer.failed(slot, faultKind(kind, error), error));
}

function policyValue(spec: MemberSpec, fault: Fault | undefined): unknown {
  if (!fault) throw new KernelError('CONTRACT', { what: 'the call ended without an answer', hint: 'this is a fault of the kernel: please report it' });
  if (spec.onFault) return spec.onFault(fault);
  throw new FaultError(fault);
}

/**
 * The object with the named methods guarded by the slot it came from. One Proxy per returned object:
 * merely deriving from it would break classes with private fields. It stands before a derived object
 * because a Proxy must repeat what a frozen target holds.
 */
function withMethods(host: GuardHost, slot: Slot, methods: Readonly<Record<string, MemberSpec>>, target: object): object {
  const guarded = new Map<string | symbol, MemberGuard>();
  for (const [name, spec] of Object.entries(methods)) {
    const method: unknown = Reflect.get(target, name);
    if (typeof method !== 'function') continue;
    const limit = typeof spec.deadline === 'number' ? spec.deadline : unlimited;
    guarded.set(name, (input, context) => runMember(host, slot, spec, limit, method as Slot['fn'], target, input, context));
  }
  return new Proxy(Object.create(target) as object, { get: (_, name) => guarded.get(name) ?? Reflect.get(target, name, target) });
}

function streamOf(host: GuardHost, slot: Slot, spec: MemberSpec, limit: number, answer: unknown, signal: AbortSignal | undefined): unknown {
  if (isStream(answer)) return guardStream(host, slot, spec, limit, answer, signal);
  if (typeof answer === 'object' && answer !== null && 'stream' in answer && isStream(answer.stream)) {
    return { ...answer, stream: guardStream(host, slot, spec, limit, answer.stream, signal) };
  }
  throw new KernelError('CONTRACT', { what: 'answered something that is no stream', hint: 'return a ReadableStream, or an object with one as its "stream"' });
}
