/** Where things lie: the folders of this user, and the `.agent` folder of a project. */
import { existsSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { KernelError } from './errors.ts';

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
 *
 * No answer depends on the current folder: a repository's `.config/agent` would be the person's own.
 * @throws KernelError `ARGUMENT` for an `AGENT_HOME` that is not absolute, or where no home folder is known
 */
export function homePaths(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): HomePaths {
  const windows = platform === 'win32';
  const { join, isAbsolute, resolve } = windows ? path.win32 : path.posix;
  const inside = (root: string): HomePaths => ({ config: join(root, 'config'), data: join(root, 'data'), state: join(root, 'state'), cache: join(root, 'cache') });
  const moved = env['AGENT_HOME'];
  if (moved && !isAbsolute(moved)) throw new KernelError('ARGUMENT', { what: `AGENT_HOME is "${moved}", which is another place in every folder`, hint: 'make it an absolute path' });
  if (moved) return inside(resolve(moved));
  const home = homeFolder(env, platform);
  const under = (variable: string, fallback: string): string => {
    const value = env[variable];
    if (value && isAbsolute(value)) return join(value, 'agent');
    if (home === undefined) throw new KernelError('ARGUMENT', { what: 'this user has no home folder', hint: 'set HOME or AGENT_HOME to an absolute path' });
    return join(home, fallback, 'agent');
  };
  if (windows) return { ...inside(under('LOCALAPPDATA', 'AppData/Local')), config: join(under('APPDATA', 'AppData/Roaming'), 'config') };
  return {
    config: under('XDG_CONFIG_HOME', '.config'),
    data: under('XDG_DATA_HOME', '.local/share'),
    state: under('XDG_STATE_HOME', '.local/state'),
    cache: under('XDG_CACHE_HOME', '.cache'),
  };
}

/** The home folder the environment states, if it is absolute, or else the one the system has for this user. */
export function homeFolder(env: NodeJS.ProcessEnv = process.env, platform: NodeJS.Platform = process.platform): string | undefined {
  const windows = platform === 'win32';
  const { isAbsolute } = windows ? path.win32 : path.posix;
  return [env[windows ? 'USERPROFILE' : 'HOME'], accountHome()].find((home) => home && isAbsolute(home));
}

function accountHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined; // a user id without an account, as containers have them
  }
}

/**
 * Makes `folder`, and what is missing above it, one by one: Node's own recursion never ends where the system
 * denies that the folder above exists (below `/proc`).
 * @throws the error of the file system
 */
export function makeFolder(folder: string, mode = 0o700): void {
  if (isFolder(folder)) return;
  if (path.dirname(folder) !== folder) makeFolder(path.dirname(folder), mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (!isFolder(folder)) throw error; // else another process was faster
  }
}

const isFolder = (folder: string): boolean => statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;

/**
 * The real path of the nearest `.agent` folder, from `cwd` up to the git root or to just below
 * `stopAt` (the home folder; its own `.agent` counts only for `cwd` itself). Where neither lies
 * above, only `cwd` is looked at: anyone may write a `/tmp/.agent`.
 */
export function projectFolder(cwd: string, stopAt: string | undefined = homeFolder()): string | undefined {
  const start = realPath(cwd);
  const home = stopAt === undefined ? undefined : realPath(stopAt);
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
    return realpathSync.native(file);
  } catch {
    return undefined;
  }
}

/** The text of a file. @throws the error of the file system; Error for what is none, such as a pipe, which would be waited for */
export function readPlainFile(file: string): string {
  if (!statSync(file).isFile()) throw new Error('it is not a file');
  return readFileSync(file, 'utf8');
}
