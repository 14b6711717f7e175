/** Where a search begins, and how what it finds is named. */
import { stat } from 'node:fs/promises';
import { basename, dirname, relative, sep } from 'node:path';
import { OperationalError, type ToolCall } from 'newt-agent';

export interface SearchPlace {
  /** Absolute: the workspace; for a place outside of it, that folder. Ignore files above `root` do not count. */
  readonly root: string;
  /** The folder or file to search, relative to `root`, with `/`; the empty string is `root` itself. */
  readonly path: string;
  readonly isFile: boolean;
  /** In front of paths relative to `root` to make them paths for the model. */
  readonly prefix: string;
}

/**
 * Finds the folder or file behind `given`.
 *
 * @throws OperationalError when it is missing, or neither folder nor file
 */
export async function searchPlace(given: string, call: ToolCall): Promise<SearchPlace> {
  if (given.includes('\0')) throw new OperationalError('A path cannot contain a NUL byte.');
  const real = await call.resolve(given, 'read');
  const isFile = await isRegularFile(real, given);
  const path = relative(call.session.cwd, real).split(sep).join('/');
  const isOutside = path === '..' || path.startsWith('../');
  if (!isOutside) return { root: call.session.cwd, path, isFile, prefix: '' };
  const root = isFile ? dirname(real) : real;
  return { root, path: isFile ? basename(real) : '', isFile, prefix: `${root}/` };
}

async function isRegularFile(real: string, given: string): Promise<boolean> {
  const stats = await stat(real).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'ENOENT' ? 'it does not exist. Find the right path with list_directory or glob' : `${error.code ?? error.message}`;
    throw new OperationalError(`${given} cannot be searched: ${reason}.`);
  });
  if (!stats.isDirectory() && !stats.isFile()) throw new OperationalError(`${given} is neither a folder nor a regular file.`);
  return stats.isFile();
}

/** How `path`, relative to the root, is shown. A name with a newline or an escape sequence must not look like more results. */
export function shownPath(place: SearchPlace, path: string): string {
  const full = place.prefix + path;
  return /\p{Cc}/u.test(full) ? JSON.stringify(full) : full;
}
