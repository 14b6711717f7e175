/** Paths as the file system sees them: judged only after every symlink on the way was followed. */
import { lstat, readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { OperationalError } from 'newt-agent';

export interface Workspace {
  /** Real path of the folder the session works in. */
  readonly cwd: string;
  /** Real paths of the workspace and of the folders configuration adds to it. */
  readonly roots: readonly string[];
  /** Real paths whose content can change what the agent is: the project's `.agent`, and the agent's own folders. */
  readonly guarded: readonly string[];
}

export interface ResolvedPath {
  readonly real: string;
  readonly inWorkspace: boolean;
  /** Lies in a guarded folder, or in one that is called `.agent`. */
  readonly inAgentFolder: boolean;
}

const maxLinks = 40;

/** @throws OperationalError when the folder is missing or is none */
export async function openWorkspace(cwd: string, extra: readonly string[], guarded: readonly string[]): Promise<Workspace> {
  const root = await realFolder(cwd);
  const roots = [root];
  for (const path of extra) roots.push(await realTarget(resolve(root, path)));
  const real: string[] = [];
  for (const path of guarded) real.push(await realTarget(path));
  return { cwd: root, roots, guarded: real };
}

async function realFolder(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    if ((await lstat(real)).isDirectory()) return real;
  } catch (error) {
    throw new OperationalError(`the workspace ${path} cannot be used: ${reason(error)}`, { hint: 'name an existing folder with --cwd' }, { cause: error });
  }
  throw new OperationalError(`the workspace ${path} is not a folder`, { hint: 'name an existing folder with --cwd' });
}

function reason(error: unknown): string {
  return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'it does not exist' : (error as Error).message;
}

/** @param path as the model gave it, relative to the workspace */
export async function resolvePath({ cwd, roots, guarded }: Workspace, path: string): Promise<ResolvedPath> {
  if (path.includes('\0')) throw new OperationalError('a path cannot contain a NUL character');
  const real = await realTarget(isAbsolute(path) ? path : join(cwd, path));
  return {
    real,
    inWorkspace: roots.some((root) => contains(root, real)),
    inAgentFolder: real.split(sep).some((part) => part.toLowerCase() === '.agent') || guarded.some((folder) => contains(folder, real)),
  };
}

/** Whether `path` is `folder` or lies below it; both absolute and real. */
export function contains(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The real path behind `path`, followed as far as it exists: what does not exist yet cannot be a symlink. */
async function realTarget(path: string, links = 0): Promise<string> {
  if (links > maxLinks) throw new OperationalError(`${path}: too many symbolic links`);
  try {
    return await realpath(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw new OperationalError(`${path}: ${(error as Error).message}`, {}, { cause: error });
  }
  const parent = dirname(path);
  if (parent === path) return path;
  const folder = await realTarget(parent, links);
  const here = join(folder, relative(parent, path));
  // A symlink to nothing: writing to it would create its target.
  const target = await readlink(here).catch(() => undefined);
  return target === undefined ? here : realTarget(resolve(folder, target), links + 1);
}
