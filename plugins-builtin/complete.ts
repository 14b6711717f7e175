/**
 * `agent __complete plugins`, which the scripts of `agent completion` call while somebody types: the ids of the plugins
 * there are, one a line, read from folders and the lock file. No code of a plugin runs.
 */
import { join } from 'node:path';
import { discoverFolder } from '../kernel/discover.ts';
import { isKernelError } from '../kernel/errors.ts';
import { idPattern } from '../kernel/manifest.ts';
import { homePaths, projectFolder } from '../kernel/paths.ts';
import { lockFile, readLock } from '../registry/lock.ts';
import { builtinCandidates } from './builtins.ts';

/** @returns the exit code */
export function complete(what: string | undefined, env: NodeJS.ProcessEnv): number {
  if (what !== 'plugins') return 2;
  process.stdout.write(pluginIds(env).map((id) => `${id}\n`).join(''));
  return 0;
}

function pluginIds(env: NodeJS.ProcessEnv): string[] {
  const paths = homePaths(env);
  const project = projectFolder(process.cwd());
  const found = [...builtinCandidates(''), ...(project === undefined ? [] : discoverFolder('project', join(project, 'plugins'))), ...discoverFolder('global', join(paths.config, 'plugins'))];
  const ids = [...found.map(({ manifest }) => manifest.id), ...linkedIds(lockFile(paths))];
  // Nobody sees a name that is no id until it is typed: it may hold anything.
  return [...new Set(ids)].filter((id) => idPattern.test(id)).sort();
}

function linkedIds(file: string): string[] {
  try {
    return Object.keys(readLock(file));
  } catch (error) {
    if (isKernelError(error)) return []; // Told by every other command.
    throw error;
  }
}
