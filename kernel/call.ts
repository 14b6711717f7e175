/** The second argument of every handler: who is calling, and how to stop. */
import { OperationalError } from './heal/fault.ts';
import type { Logger } from './log.ts';

export interface Call {
  /** Aborted when the caller gives up or the deadline passes. */
  readonly signal: AbortSignal;
  /** The plugin's own log. */
  readonly log: Logger;
  /** Ends the call with a failure of the world, which is an observation and not a fault. */
  fail(message: string, details?: Readonly<Record<string, unknown>>): never;
}

/**
 * What the kernel hands to a handler. The abort signal costs about a microsecond, so it exists only
 * once somebody looks at it.
 */
export class SlotCall implements Call {
  // Declared only: a field that is defined, or has a `#`, costs nanoseconds a call, and most calls need none.
  declare readonly log: Logger;
  declare private readonly parent: AbortSignal | undefined;
  declare private controller?: AbortController;
  declare private expired?: Error;

  constructor(log: Logger, parent?: AbortSignal) {
    this.log = log;
    this.parent = parent;
  }

  get signal(): AbortSignal {
    if (!this.controller) {
      this.controller = new AbortController();
      if (this.expired) this.controller.abort(this.expired);
    }
    return this.parent ? AbortSignal.any([this.parent, this.controller.signal]) : this.controller.signal;
  }

  /** The caller's own signal. */
  get given(): AbortSignal | undefined {
    return this.parent;
  }

  /** Tells the handler that nobody waits for it any more. */
  expire(reason: Error): void {
    this.expired = reason;
    this.controller?.abort(reason);
  }

  fail(message: string, details?: Readonly<Record<string, unknown>>): never {
    throw new OperationalError(message, details);
  }
}
