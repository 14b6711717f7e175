/** Whether the data a working tree leads to are its own. */
import { readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { OperationalError, type ToolCall } from 'newt-agent';
import { isBelow } from './paths.ts';

export interface GitFolders {
  /** Root of the working tree. */
  readonly top: string;
  readonly gitDir: string;
  /** Where the objects are: of a linked worktree those of the repository it belongs to. */
  readonly commonDir: string;
  /** `core.worktree`, which git sets for a submodule. */
  readonly worktree: string | undefined;
}

/**
 * Anybody can write a `.git` that leads to the data of another repository. Those that lie in the working tree or the
 * workspace may be read; others if they lead back, as git makes them, or if a person allowed the place.
 *
 * @throws OperationalError for data that do not know the folder
 */
export async function checkGitDir(call: ToolCall, { top, gitDir, commonDir, worktree }: GitFolders): Promise<void> {
  const [own, common, root] = [gitDir, commonDir, top].map(real) as [string, string, string];
  const isHere = (path: string): boolean => isBelow(root, path) || isBelow(call.session.cwd, path);
  const leadsBack = real(firstLine(join(own, 'gitdir'))) === join(root, '.git') || (worktree !== undefined && real(resolve(own, worktree)) === root);
  // Of a linked worktree the common folder lies around its own.
  const isOwn = (isHere(own) && isHere(common)) || (leadsBack && isBelow(common, own));
  if (isOwn) return;
  const outside = isHere(own) ? common : own;
  try {
    await call.resolve(outside, 'read');
  } catch (error) {
    throw new OperationalError(`The .git of ${top} leads to ${outside}, which lies outside of the workspace and does not know this folder. If that is meant to be, the person can add it to tools.paths.`, {}, { cause: error });
  }
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // What does not exist is equal to nothing that does.
    return path;
  }
}

function firstLine(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\n[\s\S]*/, '');
  } catch {
    return '';
  }
}
