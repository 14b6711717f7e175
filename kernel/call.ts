/** The second argument of every handler: who is calling, and how to stop. */
import { OperationalError } from './fault.ts';
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
  readonly log: Logger;
  // Private to the type checker only: `#` fields would cost several nanoseconds a call here.
  private readonly parent: AbortSignal | undefined;
  private controller: AbortController | undefined;
  private expired: Error | undefined;

  constructor(log: Logger, parent?: AbortSignal) {
    this.log = log;
    this.parent = parent;
    this.controller = undefined;
    this.expired = undefined;
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
