/** An output stream that may go away: `agent run … | head` is no failure. */
import type { Writable } from 'node:stream';

export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

export interface Output {
  readonly isTerminal: boolean;
  columns(): number;
  write(text: string): void;
  /** Whether text was lost although somebody wanted it, such as on a full disk. */
  isLost(): boolean;
  /** Settles when everything is handed over, or nobody reads any more. A pager may take its time: there is no deadline. */
  flush(): Promise<void>;
}

const usualColumns = 80;
/** The reader is gone: a closed pipe, a terminal that was hung up. */
const gone = ['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END'];

/** @param onLost told once when text is lost, see {@link Output.isLost} */
export function outputTo(stream: OutputStream, onLost: (reason: string) => void): Output {
  let open = true;
  let lost = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (open && !gone.includes(error.code ?? '')) {
      lost = true;
      onLost(error.message);
    }
    open = false;
  });
  return {
    isTerminal: stream.isTTY === true,
    columns: () => stream.columns || usualColumns,
    write(text) {
      if (open) stream.write(text);
    },
    isLost: () => lost,
    flush: () =>
      new Promise((resolve) => {
        // A file is written at once, but whether that failed is told a moment later.
        if (!open || stream.writableLength === 0) return void setImmediate(resolve);
        stream.once('error', () => resolve());
        stream.write('', () => resolve());
      }),
  };
}
