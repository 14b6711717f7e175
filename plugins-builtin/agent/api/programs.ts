/** Programs of the machine. */
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, relative, sep } from 'node:path';

/**
 * The absolute path of a program in `searchPath` (the value of PATH). One that lies in `workspace` is passed over: a
 * repository must not bring the programs that are run unasked.
 */
export function findProgram(name: string, searchPath: string, workspace: string, platform: NodeJS.Platform = process.platform): string | undefined {
  const endings = platform === 'win32' ? ['.exe', '.cmd'] : [''];
  const folders = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.flatMap((folder) => endings.map((ending) => join(folder, name + ending))).find((program) => isProgram(program) && !isBelow(realpathSync(program), workspace));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  // On Windows there is no way from one drive to another: it is absolute then.
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
