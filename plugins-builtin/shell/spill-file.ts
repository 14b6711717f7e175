/** The whole output of a command, on disk. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from 'newt-agent';

export interface SpillFile {
  readonly path: string;
  /** Why the file does not hold everything, if it does not. */
  readonly gap: string | undefined;
  write(bytes: Uint8Array): void;
  close(): void;
}

/**
 * Opens `folder/name`, readable by its owner alone, for at most `limit` bytes. A full or read-only disk
 * shows as `gap`, never as an error: the command goes on.
 *
 * Writes are synchronous: chunks are small and bounded in sum, and a queue would have to be bounded too.
 */
export function spillFile(folder: string, name: string, limit: number): SpillFile {
  const path = join(folder, name);
  let file: number | undefined;
  let gap: string | undefined;
  let room = limit;

  const guarded = (action: () => void): void => {
    try {
      action();
    } catch (error) {
      gap = error instanceof Error ? error.message : String(error);
      close();
    }
  };
  const close = (): void => {
    if (file === undefined) return;
    const open = file;
    file = undefined;
    guarded(() => closeSync(open));
  };

  guarded(() => {
    makeFolder(folder);
    file = openSync(path, 'wx', 0o600);
  });

  return {
    path,
    get gap() {
      return gap;
    },
    write(bytes) {
      if (file === undefined) return;
      const open = file;
      guarded(() => writeAll(open, bytes.subarray(0, room)));
      room -= bytes.length;
      if (room >= 0) return;
      gap ??= `the file ends after ${limit} bytes`;
      close();
    },
    close,
  };
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
}
