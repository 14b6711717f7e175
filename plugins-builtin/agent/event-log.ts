/** The writer of a session's event log. */
import { closeSync, fstatSync, fsyncSync, ftruncateSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { type Event, type EventData, type EventType, isKernelError, KernelError, OperationalError } from 'newt-agent';

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

function create(file: string): { fd: number; unlock: () => void } {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const unlock = lock(`${file}.lock`, file);
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

/** One writer a log: a lock file names the process; one whose process is gone is taken over. */
function lock(lockFile: string, file: string): () => void {
  const mine = JSON.stringify({ pid: process.pid, started: startTime(process.pid) });
  for (let attempt = 0; ; attempt += 1) {
    try {
      writeFileSync(lockFile, mine, { flag: 'wx', mode: 0o600 });
      return () => rmSync(lockFile, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 2) throw error;
    }
    const holder = readHolder(lockFile);
    if (holder && isAlive(holder)) throw new KernelError('SECOND_WRITER', { file, pid: holder.pid });
    rmSync(lockFile, { force: true });
  }
}

interface Holder {
  readonly pid: number;
  readonly started: string | undefined;
}

function readHolder(lockFile: string): Holder | undefined {
  try {
    const { pid, started } = JSON.parse(readFileSync(lockFile, 'utf8')) as Partial<Holder>;
    return typeof pid === 'number' ? { pid, started } : undefined;
  } catch {
    return undefined; // torn or gone: nobody holds it
  }
}

function isAlive({ pid, started }: Holder): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  // A process id is used again; together with its start time it is not.
  return started === undefined || startTime(pid) === undefined || startTime(pid) === started;
}

/** Start time of a process in clock ticks since boot, where the system tells it. */
function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
