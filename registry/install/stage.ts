/** A tree before it counts: written beside the others, so that one renaming puts it in its place. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { dirname, join } from 'node:path';
import { claimLock } from '../../kernel/lock-file.ts';
import { makeFolder } from '../../kernel/paths.ts';
import { digestFolder } from '../../kernel/trust/digest.ts';
import { diskProblem } from '../report.ts';
import type { WantedPackage } from './fetch.ts';
import { unpack } from './tarball.ts';
import type { InstallTarget } from './tree.ts';
import { writeFiles } from './write.ts';

export interface Staged {
  readonly folder: string;
  readonly contentDigest: string;
  /** Takes away what is still there, and lets go of the claim on it. */
  discard(): void;
}

const stagingFolder = '.staging';
const claimSuffix = '.claim';
/** Of a tree that made room for a whole one. */
export const damagedSuffix = '-damaged';
const strayAge = 3_600_000;

/**
 * Writes the packages into a folder of their own below the target's trees.
 *
 * @param tarball the verified bytes of a package
 * @throws OperationalError when the disk does not take it; the reason of `signal`. Nothing is left then
 */
export async function stage(target: InstallTarget, packages: readonly WantedPackage[], tarball: (one: WantedPackage) => Promise<Buffer>, signal: AbortSignal): Promise<Staged> {
  const staging = join(target.trees, stagingFolder);
  const folder = join(staging, randomUUID());
  try {
    makeFolder(staging);
    // Its claim comes first: what nobody alive has claimed is swept.
    const claim = claimLock(`${folder}${claimSuffix}`);
    const discard = (): void => {
      for (const one of [folder, `${folder}${damagedSuffix}`]) rmSync(one, { recursive: true, force: true });
      if ('release' in claim) claim.release();
    };
    try {
      mkdirSync(folder);
      for (const one of packages) {
        signal.throwIfAborted();
        writeFiles(join(folder, one.place), (await unpack(`${one.name} ${one.version}`, await tarball(one), signal)).files);
        await breathe();
      }
      return { folder, contentDigest: digestFolder(folder), discard };
    } catch (error) {
      discard();
      throw error;
    }
  } catch (error) {
    throw diskProblem(error, staging);
  }
}

/**
 * Removes what installations that died left: staged folders nobody alive has claimed, and the drafts of claims and lock
 * files. What cannot be removed waits for the next one.
 */
export function sweepStaging(target: InstallTarget): void {
  const staging = join(target.trees, stagingFolder);
  for (const name of namesIn(staging)) {
    const path = join(staging, name);
    try {
      if (name.includes(claimSuffix)) {
        if (name.endsWith(claimSuffix)) release(path);
        else dropDraft(path);
      } else release(`${path.replace(new RegExp(`${damagedSuffix}$`), '')}${claimSuffix}`, () => rmSync(path, { recursive: true, force: true }));
    } catch {
      // In use, or not ours to remove: as said above.
    }
  }
  const folder = dirname(target.lock);
  for (const name of namesIn(folder)) {
    const [, pid] = /^agent-plugins\.lock\.(\d+)\.tmp$/.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(folder, name), { force: true });
    if (/^agent-plugins\.lock\.writing\../.test(name)) dropDraft(join(folder, name));
  }
}

/** Does `work` and lets the claim go, unless somebody alive holds it. */
function release(lock: string, work: () => void = () => undefined): void {
  const claim = claimLock(lock);
  if (!('release' in claim)) return;
  try {
    work();
  } finally {
    claim.release();
  }
}

/** A claim that never came to its name: it tells whose it is, and of a torn one its age is all there is. */
function dropDraft(path: string): void {
  let pid = Number.NaN;
  try {
    pid = (JSON.parse(readFileSync(path, 'utf8')) as { pid: number }).pid;
  } catch {
    // As said above.
  }
  const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  if (Number.isSafeInteger(pid) && pid > 0 ? !isRunning(pid) : age > strayAge) rmSync(path, { force: true });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
