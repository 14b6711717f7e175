/** Replaces a file whole or not at all. */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { realPath } from './paths.ts';

/** Writes `text` (mode 0600, missing folders 0700) beside `file`, then renames; a symlink stays and its target is replaced. */
export function writeAtomic(file: string, text: string): void {
  const target = realPath(file) ?? file;
  const draft = `${target}.${process.pid}.tmp`;
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  rmSync(draft, { force: true });
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, target);
}
