/** Where a search begins, and how what it finds is named. */
import { stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { OperationalError, type ToolCall, z } from 'newt-agent';
import type { PlaceRequest } from './engine/protocol.ts';

export interface Place {
  /** Absolute: the workspace; for a place outside of it, that folder. */
  readonly root: string;
  readonly path: string;
  readonly isFile: boolean;
  /** In front of paths relative to `root` to make them paths for the model. */
  readonly prefix: string;
}

const globs = z.union([z.string().min(1), z.array(z.string().min(1)).max(20)]).optional();

/** The arguments that say where to search; the same for each tool, and named as in the built-in grep. */
export const placeInput = {
  path: z.string().min(1).optional().describe('file or folder; default: the workspace'),
  glob: globs.describe('which files, such as *.ts or src/**/*.ts; one or several'),
  exclude: globs.describe('files or folders to leave out, in the same form'),
};

export interface PlaceInput {
  readonly path?: string | undefined;
  readonly glob?: string | readonly string[] | undefined;
  readonly exclude?: string | readonly string[] | undefined;
}

/**
 * Finds the file or folder that is to be searched.
 *
 * @throws OperationalError when it is missing, or neither folder nor file
 */
export async function searchPlace(given: string, call: ToolCall): Promise<Place> {
  if (given.includes('\0')) throw new OperationalError('A path cannot contain a NUL byte.');
  const real = await call.resolve(given, 'read');
  const stats = await stat(real).catch((error: NodeJS.ErrnoException) => {
    throw new OperationalError(`${given} cannot be searched: ${error.code === 'ENOENT' ? 'it does not exist. Find the right path with list_directory or glob' : (error.code ?? error.message)}.`);
  });
  const isFile = stats.isFile();
  if (!isFile && !stats.isDirectory()) throw new OperationalError(`${given} is neither a folder nor a regular file.`);
  const path = relative(call.session.cwd, real).split(sep).join('/');
  const isOutside = path === '..' || path.startsWith('../');
  if (!isOutside) return { root: call.session.cwd, path, isFile, prefix: '' };
  const root = isFile ? dirname(real) : real;
  return { root, path: isFile ? basename(real) : '', isFile, prefix: `${root}/` };
}

/** What the search process is told of a place. */
export function placeRequest(place: Place, { glob, exclude }: PlaceInput, extensions: readonly string[] = []): PlaceRequest {
  const folder = join(place.root, place.path);
  const listed = (given: string | readonly string[] | undefined): string[] => [given ?? []].flat().map((one) => relativeGlob(one, folder));
  const { root, path, isFile } = place;
  return { root, path, isFile, include: listed(glob), exclude: listed(exclude), extensions };
}

function relativeGlob(glob: string, folder: string): string {
  const below = (glob.startsWith(`${folder}/`) ? glob.slice(folder.length + 1) : glob).replace(/^(?:\.\/+)+/, '').replace(/\/+$/, '');
  if (below.startsWith('/') || below.split('/').includes('..')) throw new OperationalError(`The pattern ${glob} leaves the searched folder. Give the folder as path, and a pattern relative to it.`);
  if (below === '' || below === '.') throw new OperationalError(`The pattern ${JSON.stringify(glob)} matches no file. For all files leave it out.`);
  return below;
}

/** How `path`, relative to the root, is shown. A name with a newline or an escape sequence must not look like more results. */
export function shownPath({ prefix }: Pick<Place, 'prefix'>, path: string): string {
  const full = prefix + path;
  return /\p{Cc}/u.test(full) ? JSON.stringify(full) : full;
}

/** What was searched, in words. */
export function placeText({ path, glob }: PlaceInput): string {
  return `${path ?? 'the workspace'}${glob === undefined ? '' : ` (${[glob].flat().join(', ')})`}`;
}
