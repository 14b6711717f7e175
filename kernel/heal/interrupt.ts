/**
 * Interrupting plugin code that does not come back: a synchronous endless loop, a regular expression that backtracks
 * for ever.
 *
 * Plugin code is entered through a `vm` script that SIGINT breaks (55–80 µs an entry). A watchdog thread that sees one
 * entry last too long claims it in shared memory and sends this process SIGINT. What is claimed cannot be left any
 * more: whoever would leave it waits for the signal, so that it never hits anything else. A signal nobody claimed is
 * the person's Ctrl-C, and is passed on as such.
 *
 * An interrupt skips every `finally` on its way, of plugins and of Node: the async context and the stack of async ids
 * are put back here, and no invariant of the kernel may rest on a `finally` inside of an entry.
 */
import { AsyncLocalStorage, executionAsyncId } from 'node:async_hooks';
import { Script } from 'node:vm';
import { KernelError } from '../errors.ts';
import type { Slot } from '../slot.ts';
import { setImmediate } from './own-timers.ts';
import { lendSigint } from './sigint-handle.ts';
import { awaitedCell, entryCell, ownerCell } from './watchdog-thread.ts';

/** What came of a call into a plugin. */
export type CallOutcome = { readonly answer: unknown } | { readonly error: unknown };

/** One call into a plugin, inside of the one it was made from. */
export interface Running {
  readonly slot: Slot | undefined;
  /** See `ownerCell`; where no slot tells. */
  readonly owner: number;
  readonly outer: Running | undefined;
  /** Set when the plugin's code is through: an interrupt that comes after it is too late to be its fault. */
  outcome: CallOutcome | undefined;
}

/** Thrown out of {@link Interrupter.enter}; plugin code never sees it. */
export class Interrupted extends Error {
  /** The innermost call that was running. */
  readonly slot: Slot | undefined;
  /** Ctrl-C, and nobody's fault. */
  readonly byPerson: boolean;
  /** How long it ran, at least. */
  readonly seconds: number;
  /** `file:line:column`, where the watchdog saw it; else empty. */
  readonly place: string;
  constructor(slot: Slot | undefined, byPerson: boolean, seconds: number, place: string) {
    super('interrupted');
    this.place = place;
    this.slot = slot;
    this.byPerson = byPerson;
    this.seconds = seconds;
  }
}

/** What an interruption is to the plugin: an error from where it was. */
export function hangError({ seconds, place }: Pick<Interrupted, 'seconds' | 'place'>): KernelError {
  const error = new KernelError('HANG', { seconds });
  if (place !== '') error.stack = `${error.name}: ${error.message}\n    at ${place}`;
  return error;
}

/** Whether it came out of {@link Interrupter.enter}; what a plugin threw may throw again when it is looked at. */
export function isInterrupted(error: unknown): error is Interrupted {
  try {
    return error instanceof Interrupted;
  } catch {
    return false;
  }
}

const gate = Symbol.for('newt.entry');
const script = new Script('globalThis[Symbol.for("newt.entry")]()', { filename: 'newt:entry' });
const breakable = (): void => void script.runInThisContext({ breakOnSigint: true });
// Who listens for a Ctrl-C is no part of the plugin it fell on.
const outside = AsyncLocalStorage.snapshot();
// As they were before containment refuses them to plugins, one of which is what was interrupted.
const capture = process.setUncaughtExceptionCaptureCallback.bind(process);
const handleUncaught = (process as unknown as { _fatalException?: (error: Error) => boolean })._fatalException;
/** How long a claimed entry waits for its signal, in milliseconds. */
const signalMs = 2_000;

export class Interrupter {
  /** See `watchdog-thread.ts`. */
  readonly #cells: Int32Array;
  readonly #limitMs: number;
  readonly #place: Uint8Array;
  readonly #ownerOf: (slot: Slot) => number;
  #armed = false;
  #inside = false;
  #running: Running | undefined;
  #entry = 0;
  #entries = 0;

  /**
   * @param limitMs what the watchdog grants a call, in milliseconds: for the message
   * @param place where the watchdog writes what an entry was at
   * @param ownerOf see `ownerCell`
   */
  constructor(cells: Int32Array, limitMs: number, place: Uint8Array, ownerOf: (slot: Slot) => number) {
    this.#ownerOf = ownerOf;
    this.#place = place;
    this.#cells = cells;
    this.#limitMs = limitMs;
  }

  /** From now on entries can be interrupted. (There is no SIGINT to send on Windows: the stall watch serves alone.) */
  arm(): void {
    this.#armed = process.platform !== 'win32';
  }

  disarm(): void {
    this.#armed = false;
  }

  get armed(): boolean {
    return this.#armed;
  }

  /**
   * Runs `work`, inside of which {@link call} makes calls that can be interrupted. Inside of another entry it is part of that one.
   * @throws Interrupted
   */
  enter(work: () => void): void {
    if (!this.#armed || this.#inside) return work();
    this.#inside = true;
    try {
      // Whatever async context an interrupted call had entered, its caller goes on in this one.
      AsyncLocalStorage.snapshot()(this.#attempt, work);
    } finally {
      this.#inside = false;
    }
  }

  /** Makes one call into a plugin; its outcome is noted in `running`. */
  call(running: Running, fn: () => unknown): void {
    const outer = this.#entry;
    this.#running = running;
    this.#entry = this.#inside ? (this.#entries = (this.#entries % 2 ** 30) + 1) : 0;
    this.#cells[ownerCell] = running.slot ? this.#ownerOf(running.slot) : running.owner;
    Atomics.store(this.#cells, entryCell, this.#entry);
    try {
      running.outcome = { answer: fn() };
    } catch (error) {
      running.outcome = { error };
    }
    this.#leave(outer);
    this.#running = running.outer;
  }

  open(slot?: Slot, owner = 0): Running {
    return { slot, owner, outer: this.#running, outcome: undefined };
  }

  /** One call by itself. @param slot undefined where a plugin is loaded or set up: then `owner` tells whose code it is. @throws Interrupted, and what `fn` throws */
  run<T>(fn: () => T, slot?: Slot, owner?: number): T {
    const running = this.open(slot, owner);
    try {
      this.enter(() => this.call(running, fn));
    } catch (error) {
      if (!running.outcome) throw error;
    }
    const { outcome } = running;
    if (outcome && 'answer' in outcome) return outcome.answer as T;
    throw outcome?.error;
  }

  readonly #attempt = (work: () => void): void => {
    const scope = executionAsyncId();
    const once = (): void => {
      Reflect.deleteProperty(globalThis, gate);
      work();
    };
    Object.defineProperty(globalThis, gate, { value: once, configurable: true });
    try {
      lendSigint(breakable);
    } catch (error) {
      // Nothing of a plugin's gets here but the interruption: its calls catch all else.
      if ((error as NodeJS.ErrnoException | undefined)?.code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw error;
      if (executionAsyncId() !== scope) clearAsyncIds();
      const byPerson = Atomics.load(this.#cells, entryCell) >= 0;
      const slot = this.#running?.slot;
      this.#running = undefined;
      if (byPerson) outside(setImmediate, passOn);
      throw new Interrupted(slot, byPerson, this.#limitMs / 1_000, byPerson ? '' : this.#placed());
    } finally {
      this.#entry = 0;
      Atomics.store(this.#cells, awaitedCell, 0);
      Atomics.store(this.#cells, entryCell, 0);
    }
  };

  #placed(): string {
    const [high = 0, low = 0] = this.#place;
    return Buffer.from(this.#place.slice(2, 2 + high * 256 + low)).toString();
  }

  #leave(outer: number): void {
    const entry = this.#entry;
    this.#entry = outer;
    if (Atomics.compareExchange(this.#cells, entryCell, entry, outer) === entry) return;
    // Claimed just now: the signal must find us here.
    Atomics.store(this.#cells, awaitedCell, 1);
    const until = performance.now() + signalMs;
    while (performance.now() < until);
    Atomics.store(this.#cells, entryCell, outer);
  }
}

/** Gives a Ctrl-C that fell into an entry to whoever listens for it. */
function passOn(): void {
  if (!process.emit('SIGINT', 'SIGINT')) process.kill(process.pid, 'SIGINT');
}

/**
 * Empties Node's stack of async ids, on which an interrupted `runInAsyncScope` has left its own: the next one to be
 * taken off would not be the expected one, and Node aborts. Its own way to do so is to handle an uncaught error.
 */
function clearAsyncIds(): void {
  if (!handleUncaught || process.hasUncaughtExceptionCaptureCallback()) return;
  capture(() => undefined);
  try {
    handleUncaught(new Error('an interrupted call left its async ids behind'));
  } finally {
    capture(null);
  }
}
