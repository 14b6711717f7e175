/** Replaces a file whole or not at all. */
import { chmodSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { KernelError } from './errors.ts';
import { makeFolder, realPath } from './paths.ts';

/**
 * Writes `text` beside `file`, then renames; a link stays, and its target is replaced. A new file has mode 0600
 * (missing folders 0700), one that was there keeps its own.
 *
 * @throws KernelError `UNWRITABLE`
 */
export function writeAtomic(file: string, text: string): void {
  const target = realPath(file) ?? file;
  const draft = `${target}.${process.pid}.tmp`;
  try {
    makeFolder(dirname(target));
    rmSync(draft, { force: true });
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
    const before = statSync(target, { throwIfNoEntry: false });
    if (before) chmodSync(draft, before.mode & 0o777);
    renameSync(draft, target);
  } catch (error) {
    discard(draft);
    throw new KernelError('UNWRITABLE', { path: file, problem: (error as Error).message }, { cause: error });
  }
}

function discard(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch {
    // What kept it from being written may keep it from being removed.
  }
}
