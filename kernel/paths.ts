/** Where things lie: the folders of this user, and the `.agent` folder of a project. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

export interface HomePaths {
  /** Global config, global plugins, trust. */
  readonly config: string;
  /** What was installed. */
  readonly data: string;
  readonly state: string;
  /** Always rebuildable. */
  readonly cache: string;
}

/**
 * The four folders by the XDG Base Directory Specification (which has relative values ignored), by
 * APPDATA and LOCALAPPDATA on Windows; `AGENT_HOME` moves all of them. Nothing is created.
 */
export function homePaths(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): HomePaths {
  const windows = platform === 'win32';
  const { join, isAbsolute, resolve } = windows ? path.win32 : path.posix;
  const inside = (root: string): HomePaths => ({ config: join(root, 'config'), data: join(root, 'data'), state: join(root, 'state'), cache: join(root, 'cache') });
  if (env['AGENT_HOME']) return inside(resolve(env['AGENT_HOME']));
  const home = (windows ? env['USERPROFILE'] : env['HOME']) || homedir();
  const under = (variable: string, fallback: string): string => {
    const value = env[variable];
    return join(value && isAbsolute(value) ? value : join(home, fallback), 'agent');
  };
  if (windows) return { ...inside(under('LOCALAPPDATA', 'AppData/Local')), config: join(under('APPDATA', 'AppData/Roaming'), 'config') };
  return {
    config: under('XDG_CONFIG_HOME', '.config'),
    data: under('XDG_DATA_HOME', '.local/share'),
    state: under('XDG_STATE_HOME', '.local/state'),
    cache: under('XDG_CACHE_HOME', '.cache'),
  };
}

/**
 * The real path of the nearest `.agent` folder, from `cwd` up to the git root or to just below
 * `stopAt` (the home folder; its own `.agent` counts only for `cwd` itself). Where neither lies
 * above, only `cwd` is looked at: anyone may write a `/tmp/.agent`.
 */
export function projectFolder(cwd: string, stopAt: string = homedir()): string | undefined {
  const start = realPath(cwd);
  const home = realPath(stopAt);
  let found: string | undefined;
  for (let folder = start; folder !== undefined; folder = path.dirname(folder)) {
    if (folder === home && folder !== start) return found;
    const candidate = realPath(path.join(folder, '.agent'));
    if (candidate !== undefined && statSync(candidate).isDirectory()) found ??= candidate;
    if (folder === home || existsSync(path.join(folder, '.git')) || (found !== undefined && folder === start)) return found;
    if (folder === path.dirname(folder)) return undefined;
  }
  return undefined;
}

/** Whether `target` is `root` or lies in it; both as given, symlinks are not followed. */
export function isInside(root: string, target: string): boolean {
  const relative = path.relative(root, target);
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

/** `file` with symlinks followed, or undefined where there is no such file. */
export function realPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}
