/** The last lines of what a tool writes while it works. */
import { printable } from 'newt-agent';

export interface LiveTail {
  push(text: string): void;
  /** The last lines, under the count of those before them; empty while there is nothing. */
  rows(): string[];
}

const maxRows = 5;
/** A line that never ends is not kept whole. */
const maxPartial = 10_000;

export function createLiveTail(): LiveTail {
  let partial = '';
  let complete = 0;
  const last: string[] = [];
  return {
    push(text) {
      const lines = (partial + text).split('\n');
      partial = (lines.pop() ?? '').slice(-maxPartial);
      for (const line of lines) {
        complete += 1;
        last.push(shown(line));
        if (last.length > maxRows) last.shift();
      }
    },
    rows() {
      const open = shown(partial);
      const rows = (open ? [...last, open] : last).slice(-maxRows);
      const hidden = complete + (open ? 1 : 0) - rows.length;
      return hidden > 0 ? [`… ${hidden} earlier ${hidden === 1 ? 'line' : 'lines'}`, ...rows] : rows;
    },
  };
}

/** A carriage return starts the line anew, which is how progress bars move. */
function shown(line: string): string {
  const written = line.replace(/\r+$/, '');
  return printable(written.slice(written.lastIndexOf('\r') + 1)).trimEnd();
}
