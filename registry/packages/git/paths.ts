/** Paths of the file system and paths of git. */
import { isAbsolute, relative, sep } from 'node:path';

/** Whether `path` is `folder` or lies below it; both absolute. */
export function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  // On Windows there is no way from one drive to another: it is absolute then.
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** With forward slashes, as git writes them. */
export function slashed(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}
