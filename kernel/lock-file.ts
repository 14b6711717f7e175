/**
 * Lock files: one holder at a time, across processes.
 *
 * A claim is a whole file from its first moment on: it is written beside the lock, then linked to its name. One
 * whose process is gone is taken over by whoever holds the lock on *that* claim (`<lock>.<digest of the claim>`),
 * by renaming its own over it. No claim is ever made twice, so of those that find the same dead one, one wins.
 */
import { createHash, randomUUID } from 'node:crypto';
import { linkSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { KernelError } from './errors.ts';
import { makeFolder } from './paths.ts';

/** What came of trying once: the lock, or the living process that has it. */
export type Claim = { readonly release: () => void } | { readonly pid: number };

/** How often a lock that is waited for is looked at, in milliseconds. */
const interval = 20;
const unlinkable = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

/**
 * Tries once; missing folders are made. What is no claim at all is held by nobody.
 *
 * @throws the error of the file system
 */
export function claimLock(lock: string): Claim {
  makeFolder(dirname(lock));
  const id = randomUUID();
  const mine = JSON.stringify({ pid: process.pid, started: startTime(process.pid), id });
  const draft = `${lock}.${id}.tmp`;
  try {
    writeFileSync(draft, mine, { mode: 0o600, flag: 'wx' });
    for (;;) {
      if (place(draft, lock, mine)) break;
      const found = readClaim(lock);
      // Released since.
      if (found === undefined) continue;
      const holder = holderOf(found);
      if (holder && isAlive(holder)) return { pid: holder.pid };
      const heir = takeOver(lock, found, draft);
      if (heir === 'taken') break;
      if (heir !== 'changed') return heir;
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    release() {
      if (readClaim(lock) === mine) rmSync(lock, { force: true });
    },
  };
}

/**
 * Holds the lock; waits for it without letting go of the thread.
 *
 * @param file what the lock is for, as the error names it
 * @param wait milliseconds to wait for a living holder
 * @returns what releases it
 * @throws KernelError `SECOND_WRITER` when it is still held then; the error of the file system
 */
export function holdLock(lock: string, file: string, wait = 0): () => void {
  const deadline = performance.now() + wait;
  for (;;) {
    const claim = claimLock(lock);
    if ('release' in claim) return claim.release;
    if (performance.now() >= deadline) throw new KernelError('SECOND_WRITER', { file, pid: claim.pid });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, interval);
  }
}

/** Gives the draft its name, unless that is taken. */
function place(draft: string, lock: string, mine: string): boolean {
  try {
    linkSync(draft, lock);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (!unlinkable.includes(code)) throw error;
  }
  // A disk without links: another one may see the file before there is something in it.
  try {
    writeFileSync(lock, mine, { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Replaces the dead claim `found`; who else would is kept out meanwhile, by a lock that can be taken over in turn. */
function takeOver(lock: string, found: string, draft: string): 'taken' | 'changed' | { readonly pid: number } {
  const inner = claimLock(`${lock}.${createHash('sha256').update(found).digest('hex').slice(0, 12)}`);
  if (!('release' in inner)) return inner;
  try {
    if (readClaim(lock) !== found) return 'changed';
    renameSync(draft, lock);
    return 'taken';
  } finally {
    inner.release();
  }
}

/** @throws KernelError `ARGUMENT` for what is no file: reading it might never end */
function readClaim(lock: string): string | undefined {
  try {
    if (!lstatSync(lock).isFile()) throw new KernelError('ARGUMENT', { what: `${lock} is not a file`, hint: 'remove it: no agent has made it' });
    return readFileSync(lock, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export interface Holder {
  readonly pid: number;
  readonly started: string | undefined;
}

function holderOf(claim: string): Holder | undefined {
  try {
    const told = JSON.parse(claim) as Partial<Holder> | number | null;
    const { pid, started } = typeof told === 'number' ? { pid: told } as Partial<Holder> : (told ?? {});
    // Zero and negative ids would ask for groups of processes.
    return Number.isSafeInteger(pid) && Number(pid) > 0 ? { pid: Number(pid), started } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a process still runs, and is still the one that was meant. */
export function isAlive({ pid, started }: Holder): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  // A process id is used again, in a container at every start; together with its start time it is not.
  const now = startTime(pid);
  return started === undefined || now === undefined || now === started;
}

/** Start time of a process in clock ticks since boot, where the system tells it. */
export function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
