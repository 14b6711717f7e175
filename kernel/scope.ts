/** Scopes: everything a plugin registered, disposed as one, in reverse order. */
import { setTimeout } from './heal/own-timers.ts';

export interface Disposable {
  dispose(): void | Promise<void>;
}

export type DisposeFailure = (error: unknown, timedOut: boolean) => void;

type Enter = (dispose: () => void | Promise<void>) => void | Promise<void>;

/** A disposable that acts once, however often it is called. */
export function disposable(dispose: () => void | Promise<void>): Disposable {
  let done = false;
  return {
    dispose() {
      if (done) return;
      done = true;
      return dispose();
    },
  };
}

export class Scope implements Disposable {
  #owned: Disposable[] = [];
  #closed = false;
  readonly #deadline: number;
  readonly #failed: DisposeFailure;
  readonly #enter: Enter;

  /**
   * @param deadline milliseconds each disposer may take, and all of them three times that
   * @param failed hears of throws and of time-outs
   * @param enter runs what is a plugin's code
   */
  constructor(deadline: number, failed: DisposeFailure, enter: Enter = (dispose) => dispose()) {
    this.#enter = enter;
    this.#deadline = deadline;
    this.#failed = failed;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** What joins a scope that is already closed is disposed at once: nothing outlives its plugin. */
  own<D extends Disposable>(owned: D): D {
    if (this.#closed) void this.#settle(owned, this.#deadline);
    else this.#owned.push(owned);
    return owned;
  }

  async dispose(): Promise<void> {
    this.#closed = true;
    const owned = this.#owned;
    this.#owned = [];
    const patience = performance.now() + 3 * this.#deadline;
    // Past that everybody is still asked to leave, but nobody is waited for.
    for (const one of owned.reverse()) await this.#settle(one, Math.min(this.#deadline, Math.max(0, patience - performance.now())));
  }

  async #settle(owned: Disposable, deadline: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      const done = this.#enter(() => owned.dispose());
      if (!done) return;
      const late = new Promise<'late'>((resolve) => {
        timer = setTimeout(resolve, deadline, 'late');
      });
      if ((await Promise.race([done, late])) === 'late') this.#failed(undefined, true);
    } catch (error) {
      this.#failed(error, false);
    } finally {
      clearTimeout(timer);
    }
  }
}
