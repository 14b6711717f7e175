/** One writer at a time, across processes. */
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { KernelError } from 'newt-agent';

/** How long another writer is waited for, and how often is looked, in milliseconds. */
const patience = 5_000;
const interval = 20;
/** A writer that was killed between making its file and naming itself in it. */
const namelessFor = 1_000;

/**
 * Runs `work` while `<file>.writing` exists and holds this process's id. What a dead process left is taken over.
 *
 * @throws KernelError `ARGUMENT` when another process holds it for more than 5 s
 */
export async function exclusively<T>(file: string, work: () => T): Promise<T> {
  const claim = `${file}.writing`;
  mkdirSync(dirname(claim), { recursive: true, mode: 0o700 });
  const deadline = performance.now() + patience;
  while (!tryClaim(claim)) {
    const holder = readHolder(claim);
    if (holder === undefined) continue;
    if (isStale(claim, holder)) {
      takeAway(claim, holder);
      continue;
    }
    if (performance.now() > deadline) {
      throw new KernelError('ARGUMENT', { what: `${file} is being written by process ${holder || '(unknown)'}`, hint: `wait for it to end; if it is no agent, delete ${claim}` });
    }
    await pause(interval);
  }
  try {
    return work();
  } finally {
    if (readHolder(claim) === String(process.pid)) rmSync(claim, { force: true });
  }
}

function tryClaim(claim: string): boolean {
  try {
    writeFileSync(claim, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readHolder(claim: string): string | undefined {
  try {
    return readFileSync(claim, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function isStale(claim: string, holder: string): boolean {
  if (/^\d+$/.test(holder)) return !isAlive(Number(holder));
  const made = statSync(claim, { throwIfNoEntry: false })?.mtimeMs;
  return made !== undefined && Date.now() - made > namelessFor;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Two may find the same dead holder; the slower one must not take away what the faster one has claimed since. */
function takeAway(claim: string, holder: string): void {
  const aside = `${claim}.${process.pid}`;
  try {
    renameSync(claim, aside);
    if (readFileSync(aside, 'utf8') !== holder) linkSync(aside, claim);
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}
