/** What a tool shows while it works: bounded, and in few records, whatever the tool sends. */
import type { EventLog } from './event-log.ts';

export interface ToolOutput {
  push(text: string): void;
  /** Writes what is held back; whatever comes later is ignored. */
  end(): void;
}

/** Characters of one call that are shown: a tool that floods must not fill the disk. */
const most = 200_000;
/** Milliseconds between two records of one call. */
const pause = 100;
const more = '… more output is not shown\n';

export function toolOutput(log: EventLog, call: string): ToolOutput {
  let left = most;
  let held = '';
  let isMore = false;
  let isNoted = false;
  let lastWritten = '';
  let ended = false;
  let timer: NodeJS.Timeout | undefined;

  const write = (text: string): void => {
    if (text === '') return;
    lastWritten = text;
    try {
      log.write('tool.output', { call, text });
    } catch {
      // The record of the result fails in the same way, and there is somebody to tell; here is only a timer or the tool.
    }
  };
  const flush = (): void => {
    const text = held;
    held = '';
    write(text);
    if (!isMore || isNoted) return;
    isNoted = true;
    write(lastWritten.endsWith('\n') ? more : `\n${more}`);
  };
  const tick = (): void => {
    timer = undefined;
    if (held === '' && !isMore) return;
    flush();
    if (!isMore) timer = setTimeout(tick, pause);
  };
  const end = (): void => {
    if (ended) return;
    ended = true;
    clearTimeout(timer);
    flush();
  };
  return {
    push(text) {
      if (ended || isMore) return;
      const shown = text.length > left ? wellCut(text, left) : text;
      isMore = text.length > left;
      left -= shown.length;
      held += shown;
      if (!timer) tick();
    },
    end,
  };
}

/** The first `length` characters, without half of a surrogate pair. */
function wellCut(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
