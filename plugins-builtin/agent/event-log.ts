/** The writer of a session's event log. */
import { closeSync, copyFileSync, existsSync, fstatSync, fsyncSync, ftruncateSync, openSync, truncateSync, writeSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { type Event, type EventData, type EventType, holdLock, isKernelError, OperationalError, readEventLog } from 'newt-agent';

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
  return writer(file, session, now, listener, create(file), []);
}

/**
 * Goes on with the log of a session that ended. What a crash left of a last record is cut off, after the file
 * as it was is kept beside it (`.torn`).
 *
 * @returns the log, and what it holds so far
 * @throws as {@link openEventLog}; OperationalError when there is no session in it
 */
export function resumeEventLog(file: string, now: () => number, listener: (event: Event) => void): { readonly log: EventLog; readonly past: readonly Event[] } {
  if (!existsSync(file)) throw new OperationalError(`there is no event log ${file}`);
  const target = create(file);
  try {
    const { events, torn } = readEventLog(file);
    const [first] = events;
    if (first?.type !== 'session') throw new OperationalError(`${file} is no event log of a session`);
    if (torn) {
      copyFileSync(file, `${file}.torn`);
      truncateSync(file, fstatSync(target.fd).size - Buffer.byteLength(torn));
    }
    return { log: writer(file, first.session, now, listener, target, events), past: events };
  } catch (error) {
    closeSync(target.fd);
    target.unlock();
    throw error;
  }
}

function writer(file: string, session: string, now: () => number, listener: (event: Event) => void, { fd, unlock }: Target, past: readonly Event[]): EventLog {
  let seq = past.length;
  let parent = past.at(-1)?.id ?? null;
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

interface Target {
  readonly fd: number;
  readonly unlock: () => void;
}

/** One writer a log: the lock names the process. It lies beside the log, whose folder is made with it. */
function create(file: string): Target {
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
