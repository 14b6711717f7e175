/**
 * Deadlines: one coarse clock and one sweeper for all of them, because a timer per call costs about a
 * microsecond. A deadline is met to within two ticks, and never early. While the event loop stands still
 * nothing can settle: that time counts for nobody, or one plugin's long computation would blame the others.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setInterval } from './own-timers.ts';
import type { Slot, SlotOwner } from '../slot.ts';

const tickMs = 25;
/** Ticks without any deadline after which the clock stops. */
const idleTicks = 40;
/** Milliseconds between two sweeps from which on the event loop counts as having stood still. */
const stallMs = 100;

// What expires goes on to other plugins' code, which must not pass for that of whoever started the clock.
const outside = AsyncLocalStorage.snapshot();

/** A node of the sweeper's list. */
export class Deadline {
  limit: number;
  expire: (taken?: Slot) => void;
  /** Whose call is waited for. */
  readonly slot: Slot | undefined;
  /** How many hold it: the clock does not run while a person is asked. */
  paused = 0;
  /** Set by the first sweep that sees it: a clock that fell behind must not make a deadline early. */
  start: number | undefined;
  previous: Deadline | undefined;
  next: Deadline | undefined;
  active = true;

  constructor(limit: number, expire: (taken?: Slot) => void, slot: Slot | undefined) {
    this.limit = limit;
    this.expire = expire;
    this.slot = slot;
  }
}

export class Sweeper {
  #head: Deadline | undefined;
  #timer: NodeJS.Timeout | undefined;
  #idle = 0;
  #swept = 0;
  readonly #clock: () => number;

  /** @param clock milliseconds, monotonic */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Calls `expire` once, unless cleared within `limit` milliseconds; with the slot when its plugin went first. The wait keeps the process alive. */
  watch(limit: number, expire: (taken?: Slot) => void, slot?: Slot): Deadline {
    if (!this.#timer) this.#run();
    const node = new Deadline(limit, expire, slot);
    node.next = this.#head;
    if (this.#head) this.#head.previous = node;
    else this.#timer?.ref();
    this.#head = node;
    return node;
  }

  clear(node: Deadline): void {
    if (!node.active) return;
    node.active = false;
    if (node.previous) node.previous.next = node.next;
    else this.#head = node.next;
    if (node.next) node.next.previous = node.previous;
    node.previous = node.next = undefined;
    if (!this.#head) this.#timer?.unref();
  }

  /** Ends every wait for a plugin that is taken down: a search, because it is rare and a note per call is not. */
  abandon(owner: SlotOwner): void {
    const open: Deadline[] = [];
    for (let node = this.#head; node; node = node.next) if (node.slot?.owner === owner) open.push(node);
    for (const node of open) {
      if (!node.active) continue;
      this.clear(node);
      node.expire(node.slot);
    }
  }

  /** Stops the clock of one deadline; calls nest. */
  pause(node: Deadline): void {
    if (node.paused++ === 0 && node.start !== undefined) node.limit -= this.#clock() - node.start;
  }

  resume(node: Deadline): void {
    if (--node.paused === 0) node.start = undefined;
  }

  /** Expires what is due. Called by the clock; a test with its own clock calls it itself. */
  sweep(): void {
    const now = this.#clock();
    const gap = now - this.#swept;
    this.#swept = now;
    if (gap > stallMs) for (let late = this.#head; late; late = late.next) if (late.start !== undefined) late.start += gap - tickMs;
    let node = this.#head;
    while (node) {
      const next: Deadline | undefined = node.next;
      if (node.paused === 0 && now - (node.start ??= now) >= node.limit) {
        this.clear(node);
        node.expire();
      }
      node = next?.active === false ? this.#head : next;
    }
    if (this.#head) this.#idle = 0;
    else if (++this.#idle > idleTicks) this.stop();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #run(): void {
    this.#idle = 0;
    this.#swept = this.#clock();
    this.#timer = outside(setInterval, () => this.sweep(), tickMs);
    this.#timer.unref();
  }
}
