/** The writer of a session's event log. */
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { type Event, type EventData, type EventType, holdLock, isKernelError, OperationalError } from 'newt-agent';

export interface EventLog {
  readonly file: string;
  /** Writes one record, then tells the listener: what is shown is on disk. */
  write<Type extends EventType>(type: Type, data: EventData<Type>): void;
  /** Streamed text, written at most every 50 ms. */
  delta(kind: 'text' | 'reasoning', text: string): void;
  /** Forces everything to the disk. */
  sync(): void;
  close(): void;
}

const deltaMs = 50;

/** @throws KernelError `SECOND_WRITER` when a living process writes this file; OperationalError when it cannot be made */
export function openEventLog(file: string, session: string, now: () => number, listener: (event: Event) => void): EventLog {
  const { fd, unlock } = create(file);
  let seq = 0;
  let parent: string | null = null;
  let held: { kind: 'text' | 'reasoning'; text: string } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let open = true;

  const append = <Type extends EventType>(type: Type, data: EventData<Type>): void => {
    if (!open) return;
    const event = { v: 1, id: randomUUID(), parent, seq, t: now(), session, type, data } as Event;
    try {
      writeRecord(fd, `${JSON.stringify(event)}\n`);
    } catch (error) {
      throw unwritable(file, error);
    }
    seq += 1;
    parent = event.id;
    listener(event);
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const delta = held;
    held = undefined;
    if (delta) append('delta', delta);
  };
  const flushLater = (): void => {
    try {
      flush();
    } catch {
      // The next record fails in the same way, and there is somebody to tell.
    }
  };
  return {
    file,
    write(type, data) {
      flush();
      append(type, data);
    },
    delta(kind, text) {
      if (held && held.kind !== kind) flush();
      held = { kind, text: (held?.text ?? '') + text };
      timer ??= setTimeout(flushLater, deltaMs);
    },
    sync() {
      flush();
      if (open) fsyncSync(fd);
    },
    close() {
      if (!open) return;
      try {
        flush();
        fsyncSync(fd);
      } finally {
        // Also when the disk is full: a lock that stays would keep this process from its own log.
        clearTimeout(timer);
        open = false;
        closeSync(fd);
        unlock();
      }
    },
  };
}

/** One writer a log: the lock names the process. It lies beside the log, whose folder is made with it. */
function create(file: string): { fd: number; unlock: () => void } {
  try {
    const unlock = holdLock(`${file}.lock`, file);
    try {
      return { unlock, fd: openSync(file, 'a', 0o600) };
    } catch (error) {
      unlock();
      throw error;
    }
  } catch (error) {
    throw isKernelError(error) ? error : unwritable(file, error);
  }
}

/**
 * One write per record: a crash can tear the last line only. A disk that fills up takes the beginning of a
 * record without an error; it is taken back, or the records after it would be unreadable.
 */
function writeRecord(fd: number, line: string): void {
  const bytes = Buffer.from(line);
  let written = writeSync(fd, bytes);
  if (written === bytes.length) return;
  const start = fstatSync(fd).size - written;
  try {
    while (written < bytes.length) written += writeSync(fd, bytes, written);
  } catch (error) {
    ftruncateSync(fd, start);
    throw error;
  }
}

function unwritable(file: string, error: unknown): OperationalError {
  return new OperationalError(`the event log ${file} cannot be written: ${(error as Error).message}`, { hint: 'free some disk space, or set AGENT_HOME to a folder that can be written' }, { cause: error });
}
