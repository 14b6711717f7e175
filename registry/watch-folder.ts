/** Changes in a plugin's folder. Not by Node's own recursion, which watches all of node_modules. */
import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { failed } from './report.ts';

/** Editors write a file in several steps: what comes within so many milliseconds is one change. */
const together = 120;
const maxFolders = 500;
const skipped: ReadonlySet<string> = new Set(['node_modules', '.git']);

/**
 * Calls `changed` after every change below `folder`, until the answer is called.
 * @throws OperationalError where the system cannot watch it
 */
export function watchFolder(folder: string, changed: () => void): () => void {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  const note = (name: string | null): void => {
    if (name !== null && skipped.has(name)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      refresh();
      changed();
    }, together);
  };
  const forget = (path: string): void => {
    watchers.get(path)?.close();
    watchers.delete(path);
  };
  const refresh = (): void => {
    const found = foldersOf(folder);
    for (const path of watchers.keys()) if (!found.includes(path)) forget(path);
    for (const path of found) {
      if (watchers.has(path)) continue;
      const watcher = watch(path, (_, name) => note(name));
      // The folder is gone, which is a change as well.
      watcher.on('error', () => {
        forget(path);
        note(null);
      });
      watchers.set(path, watcher);
    }
  };
  try {
    refresh();
  } catch (error) {
    for (const path of watchers.keys()) forget(path);
    throw failed(`the folder cannot be watched: ${(error as Error).message}`, 'agent plugin dev --once looks without watching');
  }
  return () => {
    clearTimeout(timer);
    for (const path of [...watchers.keys()]) forget(path);
  };
}

/** `folder` and those below it, but for what is installed. */
function foldersOf(folder: string): string[] {
  const found = [folder];
  for (let at = 0; at < found.length && found.length < maxFolders; at += 1) {
    const path = found[at] ?? '';
    try {
      for (const entry of readdirSync(path, { withFileTypes: true })) if (entry.isDirectory() && !skipped.has(entry.name)) found.push(join(path, entry.name));
    } catch {
      // Gone since its parent was read.
    }
  }
  return found.slice(0, maxFolders);
}
