/** Process groups: alive or not, and how they are ended. */
import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { groupMembers } from './process-table.ts';

const isWindows = process.platform === 'win32';

/** Whether a process of the group still runs. */
export function isGroupAlive(group: number): boolean {
  try {
    process.kill(isWindows ? group : -group, 0);
  } catch (error) {
    // EPERM: alive, and somebody else's (sudo).
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  // A dead process that nobody waits for keeps its group, in a container without an init forever.
  return groupMembers(group)?.length !== 0;
}

/** Signals all processes of a group; one that is gone already is no error. */
function signalGroup(group: number, signal: NodeJS.Signals): void {
  // Group 1 would be `kill(-1)`, which means every process there is.
  if (!(group > 1)) return;
  if (isWindows) {
    spawn('taskkill', ['/pid', String(group), '/t', '/f'], { stdio: 'ignore', windowsHide: true }).on('error', () => undefined);
    return;
  }
  try {
    process.kill(-group, signal);
  } catch {
    // Gone, or not ours: the caller looks who is left.
  }
}

const afterKill = 1_000;

/**
 * Ends groups in steps: SIGTERM, and SIGKILL for those still alive after `grace` milliseconds.
 * The first signal is sent before this returns. Answers the groups that survived even that.
 */
export async function endGroups(groups: readonly number[], grace: number): Promise<readonly number[]> {
  for (const group of groups) signalGroup(group, 'SIGTERM');
  const stubborn = await aliveAfter(groups, grace);
  for (const group of stubborn) signalGroup(group, 'SIGKILL');
  return stubborn.length === 0 ? [] : aliveAfter(stubborn, afterKill);
}

const firstLook = 5;
const slowestLook = 100;

async function aliveAfter(groups: readonly number[], limit: number): Promise<number[]> {
  const end = performance.now() + limit;
  let alive = groups.filter(isGroupAlive);
  for (let pause = firstLook; alive.length > 0 && performance.now() < end; pause = Math.min(pause * 2, slowestLook)) {
    await delay(Math.min(pause, Math.max(1, end - performance.now())));
    alive = alive.filter(isGroupAlive);
  }
  return alive;
}
