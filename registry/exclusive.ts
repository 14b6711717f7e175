/** One writer at a time, across processes. */
import { setTimeout as pause } from 'node:timers/promises';
import { KernelError } from 'newt-agent';
import { claimLock } from '../kernel/lock-file.ts';

/** How long another writer is waited for, and how often is looked, in milliseconds. */
const patience = 5_000;
const interval = 20;

/**
 * Runs `work` while the lock `<file>.writing` is held. What a dead process left is taken over.
 *
 * @throws KernelError `ARGUMENT` when another process holds it for more than 5 s
 */
export async function exclusively<T>(file: string, work: () => T): Promise<T> {
  const lock = `${file}.writing`;
  const deadline = performance.now() + patience;
  let claim = claimLock(lock);
  while (!('release' in claim)) {
    if (performance.now() > deadline) {
      throw new KernelError('ARGUMENT', { what: `${file} is being written by process ${claim.pid}`, hint: `wait for it to end; if it is no agent, delete ${lock}` });
    }
    await pause(interval);
    claim = claimLock(lock);
  }
  try {
    return work();
  } finally {
    claim.release();
  }
}
