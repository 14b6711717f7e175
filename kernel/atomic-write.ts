/** Replaces a file whole or not at all. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { realPath } from './paths.ts';

/** Writes `text` (mode 0600, missing folders 0700) beside `file`, then renames; a link stays, and its target is replaced. */
export function writeAtomic(file: string, text: string): void {
  const target = realPath(file) ?? file;
  const draft = `${target}.${process.pid}.tmp`;
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  try {
    rmSync(draft, { force: true });
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(draft, target);
  } finally {
    rmSync(draft, { force: true });
  }
}
