/** Slots: the kernel-owned cell behind every call into a plugin. */
import type { Fault, FaultKind } from './heal/fault.ts';
import type { Logger } from './log.ts';
import type { Tier } from './tier.ts';

/** What a slot needs to know of its plugin. */
export interface SlotOwner {
  readonly id: string;
  readonly tier: Tier;
  readonly log: Logger;
}

// Arity is fixed at two so that the guard needs no rest arguments; see heal/guard.ts.
// It is called without a receiver, or with the item it belongs to: never with the slot.
export type SlotFunction = (this: unknown, first: unknown, second: unknown) => unknown;

/** What the supervisor does with what the guard sees. */
export interface SlotObserver {
  /** Counts a failure of the slot against its plugin, and says what was done. */
  failed(slot: Slot, kind: FaultKind, error: unknown): Fault;
  /** A watched slot came through a call. */
  clean(slot: Slot): void;
}

/**
 * Reload, heal and quarantine change the fields; nothing that holds the slot's guard has to be rebuilt.
 */
export class Slot {
  readonly key: string;
  readonly owner: SlotOwner;
  readonly observer: SlotObserver;
  /** Guards: a failure denies and counts at once. */
  readonly gate: boolean;
  fn: SlotFunction;
  self: unknown;
  /** False while quarantined: the guard answers the policy value without a call. */
  open = true;
  /** Why it is closed. */
  closedBy: Fault | undefined;
  /** True while its plugin has faults on record: then every clean call counts. */
  watched = false;
  /** Has answered a promise before: then its calls enter the provenance context. */
  async: boolean;

  constructor(owner: SlotOwner, key: string, observer: SlotObserver, fn: SlotFunction, self?: unknown, gate = false) {
    this.owner = owner;
    this.key = key;
    this.observer = observer;
    this.fn = fn;
    this.self = self;
    this.gate = gate;
    // A guard may ask a person at once, and the question must find the deadline it stops.
    this.async = gate || fn.constructor.name === 'AsyncFunction';
  }

  /** What who waits for it is told when its plugin is taken down. */
  get abandoned(): Fault {
    return this.closedBy ?? {
      kind: 'dispose',
      plugin: this.owner.id,
      tier: this.owner.tier,
      where: this.key,
      message: 'the plugin was taken down while this call was open',
      place: undefined,
      fingerprint: '',
      at: Date.now(),
      action: 'the call ended',
      next: '',
    };
  }
}
