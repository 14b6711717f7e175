/** From files in memory to files on disk. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { UnpackedFile } from './tarball.ts';

/** Writes files below a folder that is there for nothing else. @throws the error of the file system */
export function writeFiles(folder: string, files: readonly UnpackedFile[]): void {
  const made = new Set<string>();
  mkdirSync(folder, { recursive: true });
  for (const { path, content, executable } of files) {
    const file = join(folder, path);
    const parent = dirname(file);
    if (!made.has(parent)) mkdirSync(parent, { recursive: true });
    made.add(parent);
    // Nothing is there yet: a file whose name another one has in other letters must not replace it.
    writeFileSync(file, content, { flag: 'wx', mode: executable ? 0o755 : 0o644 });
  }
}
