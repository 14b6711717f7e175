/** Opening files without being caught by what only looks like one. */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { OperationalError } from 'newt-agent';
import { isMissing } from './file-failure.ts';

/**
 * Opens a regular file for reading. The caller closes it.
 *
 * @throws OperationalError for directories, pipes, devices and sockets: reading one may block or never end
 */
export async function openRegularFile(real: string, given: string): Promise<FileHandle> {
  requireRegular(await stat(real), given);
  // It may have been swapped since: for a pipe, the opening of which would wait for a writer, or for a link that leads out.
  const handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    requireRegular(await handle.stat(), given);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Like {@link openRegularFile}; undefined when there is no such file. */
export async function openIfPresent(real: string, given: string): Promise<FileHandle | undefined> {
  try {
    return await openRegularFile(real, given);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function requireRegular(stats: Stats, given: string): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) throw new OperationalError(`${given} is a directory. Use list_directory, or name a file in it.`);
  throw new OperationalError(`${given} is a ${specialKind(stats)}, not a file with content; these tools do not touch it.`);
}

/** What a file that is neither regular nor a directory is called. */
export function specialKind(stats: Pick<Stats, 'isFIFO' | 'isSocket' | 'isCharacterDevice' | 'isBlockDevice'>): string {
  if (stats.isFIFO()) return 'named pipe';
  if (stats.isSocket()) return 'socket';
  return stats.isCharacterDevice() || stats.isBlockDevice() ? 'device' : 'special file';
}
