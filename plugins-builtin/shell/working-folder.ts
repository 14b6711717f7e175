/** Where a command runs, also when the workspace is gone. */
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OperationalError, type ToolCall } from 'newt-agent';

interface WorkingFolder {
  readonly path: string;
  /** Set when `path` is not the folder that was asked for. */
  readonly note?: string;
}

/**
 * The folder `given` (relative to the workspace), else the workspace, else its nearest parent that still
 * exists: a removed worktree must not make every later command fail, not even `cd /`.
 *
 * @throws OperationalError when `given` is no folder, or lies outside the workspace without approval
 */
export async function workingFolder(given: string | undefined, call: ToolCall): Promise<WorkingFolder> {
  if (given !== undefined) {
    const path = await call.resolve(given, 'read');
    if (await isFolder(path)) return { path };
    throw new OperationalError(`cwd: there is no folder ${path}; nothing ran`);
  }
  const workspace = call.session.cwd;
  let path = workspace;
  while (!(await isFolder(path)) && dirname(path) !== path) path = dirname(path);
  return path === workspace ? { path } : { path, note: `the workspace folder ${workspace} no longer exists; ran in ${path} instead` };
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
