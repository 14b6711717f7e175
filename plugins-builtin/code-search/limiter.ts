/** A bound on how much of something happens at once. */

export type Limiter = <Result>(signal: AbortSignal, work: () => Promise<Result>) => Promise<Result>;

/** Runs at most `most` works at a time, in the order they came; those that wait reject once their signal aborts. */
export function limiter(most: number): Limiter {
  let running = 0;
  const waiting = new Set<() => void>();

  const turn = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        waiting.delete(begin);
        reject(signal.reason as Error);
      };
      waiting.add(begin);
      signal.addEventListener('abort', leave);
    });

  return async (signal, work) => {
    signal.throwIfAborted();
    if (running < most) running += 1;
    else await turn(signal);
    try {
      return await work();
    } finally {
      const [next] = waiting;
      // The place goes from hand to hand, so that nobody who comes now gets ahead.
      if (next) {
        waiting.delete(next);
        next();
      } else {
        running -= 1;
      }
    }
  };
}
