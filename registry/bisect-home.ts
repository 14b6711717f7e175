/**
 * The home that a run of `agent plugin bisect` gets: the person's own, but for what the agent remembers of plugins. Else a
 * plugin that made trouble in one run would be in quarantine in the next, and three runs that die would begin safe mode:
 * each run would answer another question than the one before it.
 */
import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { HomePaths } from '../kernel/paths.ts';
import { makeFolder } from '../kernel/paths.ts';

/** What a run must not know, and what is of this search itself. */
const forgotten: ReadonlySet<string> = new Set(['health', 'faults', 'stalls', 'boots', 'safe-mode.json', 'bisect', 'bisect.lock']);

/**
 * Makes it anew, and answers what `AGENT_HOME` is to be.
 * @param folder of the search
 * @throws the error of the file system
 */
export function freshHome(folder: string, paths: HomePaths): string {
  const home = join(folder, 'home');
  // Links in it are removed, not what they lead to.
  rmSync(home, { recursive: true, force: true });
  const state = join(home, 'state');
  makeFolder(state);
  for (const name of ['config', 'data', 'cache'] as const) {
    makeFolder(paths[name]);
    link(paths[name], join(home, name));
  }
  // A run with the agent may be gone on with afterwards.
  makeFolder(join(paths.state, 'sessions'));
  for (const entry of readdirSync(paths.state, { withFileTypes: true })) {
    if (entry.isDirectory() && !forgotten.has(entry.name)) link(join(paths.state, entry.name), join(state, entry.name));
  }
  for (const name of ['health', 'faults', 'stalls', 'boots']) mkdirSync(join(state, name), { mode: 0o700 });
  return home;
}

function link(target: string, place: string): void {
  symlinkSync(target, place, 'junction');
}
