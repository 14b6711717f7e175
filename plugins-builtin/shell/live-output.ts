/** What a person sees while a command works: recent, at a readable pace, and bounded. */

interface LiveOutput {
  push(text: string): void;
  /** Shows what is left, and nothing after that. */
  end(): void;
}

const pace = 100;
/** About a screenful per tick. */
const maxPerTick = 4_000;
/** Every tick is a record of the event log, so the sum needs a bound as well. */
const maxTotal = 1_000_000;

/** Calls `show` at once for the first text, then at most every 100 ms; what is too much is skipped and said so. */
export function liveOutput(show: (text: string) => void): LiveOutput {
  let pending = '';
  let skipped = false;
  let total = 0;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  const flush = (): void => {
    if (!pending) return;
    const text = skipped ? `[…]\n${pending}` : pending;
    pending = '';
    skipped = false;
    total += text.length;
    show(total < maxTotal ? text : '[… more output than is shown live; it is in the result …]\n');
    if (total >= maxTotal) ended = true;
  };
  const tick = (): void => {
    timer = undefined;
    if (!pending) return;
    flush();
    timer = setTimeout(tick, pace);
  };

  return {
    push(text) {
      if (ended || !text) return;
      pending += text;
      if (pending.length > maxPerTick) {
        skipped = true;
        // The cut may halve a surrogate pair, and half a pair is no text.
        pending = pending.slice(-maxPerTick).replace(/^[\udc00-\udfff]/, '');
      }
      if (timer) return;
      flush();
      timer = setTimeout(tick, pace);
    },
    end() {
      clearTimeout(timer);
      if (!ended) flush();
      ended = true;
    },
  };
}
