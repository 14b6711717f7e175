/** The repository a call is about: where it is, what of it may be seen, and names in it. */
import { existsSync, lstatSync, type Stats } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { OperationalError, type ToolCall, type Touch, z } from 'newt-agent';
import { checkGitDir } from './git-dir.ts';
import { isBelow, slashed } from './paths.ts';
import type { Git, GitOptions } from './run-git.ts';
import { type OwnSettings, parseSettings, settingsQuery } from './surroundings.ts';

export interface Repository {
  /** Root of the working tree; of a bare repository its own folder. */
  readonly top: string;
  readonly gitDir: string;
  readonly isBare: boolean;
  /** The part of the working tree that may be looked at, from its top, ends with a slash; empty for all of it. */
  readonly scope: string;
  /** Filter drivers of the repository's own configuration, which reading does not run. */
  readonly filters: readonly string[];
  read(args: readonly string[], options?: GitOptions): Promise<string>;
  write(args: readonly string[], options?: GitOptions): Promise<string>;
  /** A path of git's output, from the top, as the other tools take it: relative to the workspace, absolute outside of it. */
  shown(path: string): string;
  /** Pathspecs for paths as the model gave them; without any what may be seen. @throws OperationalError for one that is not in the repository */
  pathspecs(paths?: readonly string[]): Promise<string[]>;
  /** A path as the model gave it, from the top with forward slashes. */
  fromTop(path: string): Promise<string>;
  /** Arguments for a diff of these pathspecs that name files as {@link shown} does. */
  naming(specs: readonly string[]): readonly string[];
}

export const repositoryInput = z.string().min(1).optional().describe('folder of the repository; default: the workspace');
export const pathsInput = z.array(z.string().min(1)).min(1).max(200);
export const refInput = z.string().min(1).max(500);

/** What the gate judges: the folder, and the paths, relative to the workspace. */
export function touched({ repository, paths = [] }: { readonly repository?: string | undefined; readonly paths?: readonly string[] | undefined }): Touch[] {
  return [repository ?? '.', ...paths].map((path) => ({ path, access: 'read' }));
}

/** @throws OperationalError where there is none that may be used */
export async function openRepository(git: Git, call: ToolCall, repository = '.'): Promise<Repository> {
  const folder = await call.resolve(repository, 'read');
  if (!lookAt(folder)?.isDirectory()) throw new OperationalError(`${repository} is not a folder: "repository" takes the folder of a repository.`);
  const { signal } = call;
  const ask = async (...args: string[]): Promise<string> => (await git.read(folder, ['rev-parse', ...args], { signal })).replace(/\n$/, '');
  const facts = ['--is-bare-repository', '--is-inside-work-tree', '--absolute-git-dir', '--git-common-dir'];
  const lines = (await ask(...facts)).split('\n');
  // A line end in a path makes more of them: then each is asked for by itself.
  const [bare, inside, gitDir = '', common = ''] = lines.length === facts.length ? lines : await Promise.all(facts.map((fact) => ask(fact)));
  const isBare = bare === 'true' && inside !== 'true';
  if (!isBare && inside !== 'true') throw new OperationalError(`${folder} is not in the working tree of its repository: name the folder that holds the files as "repository".`);
  const [top, configured] = await Promise.all([isBare ? gitDir : ask('--show-toplevel'), ownSettings(git, folder, signal)]);
  await checkGitDir(call, { top, gitDir, commonDir: resolve(folder, common), worktree: configured.worktree });
  const { cwd } = call.session;
  // What lies beside the workspace, in a repository around it, is no more to be seen than other files outside of it.
  const limit = isBelow(top, cwd) ? cwd : isBelow(cwd, top) ? top : folder;
  const scope = isBare || limit === top ? '' : `${slashed(relative(top, limit))}/`;
  const shown = (path: string): string => (isBare ? path : placeFrom(cwd, join(top, path)));
  const fromTop = (path: string) => pathFromTop(call, isBare ? cwd : top, path);
  // Of a repository below the workspace: the way to it.
  const below = isBare || limit !== top || top === cwd ? '' : `${placeFrom(cwd, top)}/`;
  return {
    top,
    gitDir,
    isBare,
    scope,
    filters: configured.filters,
    read: (args, options = {}) => git.read(top, args, { signal: call.signal, ...options, before: [...configured.turnedOff, ...(options.before ?? [])] }),
    write: (args, options = {}) => git.write(top, args, { signal: call.signal, ...options }),
    shown,
    fromTop,
    async pathspecs(paths) {
      if (paths) return (await Promise.all(paths.map(fromTop))).map((path) => (path === '.' ? ':(top)' : `:(top,literal)${path}`));
      return scope === '' ? [] : [`:(top,literal)${scope}`];
    },
    naming(specs) {
      // What was allowed beside the workspace would be left out: then all is named from the top.
      const isWithin = scope !== '' && specs.every((spec) => `${spec}/`.startsWith(`:(top,literal)${scope}`));
      if (isWithin) return [`--relative=${scope}`, '--src-prefix=a/', '--dst-prefix=b/'];
      return ['--no-relative', `--src-prefix=a/${below}`, `--dst-prefix=b/${below}`];
    },
  };
}

/** What the repository's own configuration says that matters for reading. */
export async function ownSettings(git: Git, folder: string, signal: AbortSignal): Promise<OwnSettings> {
  try {
    return parseSettings(await git.read(folder, ['config', ...settingsQuery], { signal }));
  } catch (error) {
    // No such key is exit code 1.
    if ((error as OperationalError).details?.['exitCode'] === 1) return parseSettings('');
    throw error;
  }
}

/** What lies at a path, a link not followed; undefined where nothing can: what is wrong with it, `resolve` says. */
function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/** git knows a symbolic link as a file of its own: what it leads to is somebody else's. */
async function pathFromTop(call: ToolCall, top: string, path: string): Promise<string> {
  const given = resolve(call.session.cwd, path);
  const isLink = lookAt(given)?.isSymbolicLink() ?? false;
  const real = isLink ? join(await call.resolve(dirname(given), 'read'), basename(given)) : await call.resolve(path, 'read');
  if (!isBelow(top, real)) throw new OperationalError(`${path} is not in the repository at ${top}. For a file of another one, name its folder as "repository".`);
  return slashed(relative(top, real)) || '.';
}

/** The commit behind a name. @throws OperationalError for names that are none, look like an option, or name a file */
export async function commitOf(repository: Repository, ref: string): Promise<string> {
  if (ref.startsWith('-')) throw new OperationalError(`"${ref}" is not the name of a commit: names do not begin with a dash.`);
  if (ref.includes(':') && !ref.includes('^{/') && !ref.startsWith(':/')) throw new OperationalError(`"${ref}" names a file. Give the commit alone, and the file as "file" of git_show or in "paths".`);
  try {
    return (await repository.read(['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`])).trim();
  } catch (error) {
    if ((error as OperationalError).details?.['exitCode'] === undefined) throw error;
    const why = (await isUnborn(repository)) ? 'there is no commit yet' : 'git_list shows branches and tags, git_log commits';
    throw new OperationalError(`There is no commit "${ref}": ${why}.`, {}, { cause: error });
  }
}

/** Whether nothing was committed yet on the current branch. */
export function isUnborn(repository: Repository): Promise<boolean> {
  return repository.read(['rev-parse', '--verify', '--quiet', 'HEAD']).then(() => false, (error: OperationalError) => {
    if (error.details?.['exitCode'] === 1) return true;
    throw error;
  });
}

const operations = { 'rebase-merge': 'A rebase', 'rebase-apply': 'A rebase', MERGE_HEAD: 'A merge', CHERRY_PICK_HEAD: 'A cherry-pick', REVERT_HEAD: 'A revert', BISECT_LOG: 'A bisect' } as const;

/** What was begun and waits to be finished: `A merge`; undefined for nothing. */
export function operationInProgress({ gitDir }: Pick<Repository, 'gitDir'>): string | undefined {
  return Object.entries(operations).find(([file]) => existsSync(join(gitDir, file)))?.[1];
}

/**
 * Asks for leave to write files that nobody named, such as those a switch changes: one outside of the workspace, or in an
 * `.agent` folder, is not to be changed unless a person said so.
 */
export async function mayChange(call: ToolCall, repository: Repository, names: readonly string[]): Promise<void> {
  for (const name of names) {
    if (repository.scope !== '' && !name.startsWith(repository.scope)) await call.resolve(join(repository.top, name), 'write');
    else if (name.split('/').some((part) => part.toLowerCase() === '.agent')) await call.resolve(join(repository.top, name), 'write');
  }
}

function placeFrom(cwd: string, path: string): string {
  // A folder keeps the slash at its end.
  return isBelow(cwd, path) ? `${slashed(relative(cwd, path))}${path.endsWith(sep) && relative(cwd, path) !== '' ? '/' : ''}` : path;
}
