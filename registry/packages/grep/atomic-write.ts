/** Replacing a file so that a reader, a crash or a full disk never sees half of it. */
import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { access, type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from 'newt-agent';

/**
 * Writes `bytes` to the regular file `real`, or creates it together with its parent folders: a temporary file in the
 * same folder, fsync, rename. Mode and owner of an existing file are kept; a hard link to it keeps the old content.
 *
 * @param real absolute, symlinks followed: a link here would itself be replaced
 * @throws NodeJS.ErrnoException; then the file is as it was, and no temporary file is left
 */
export async function writeAtomically(real: string, bytes: Uint8Array): Promise<void> {
  const previous = await statIfPresent(real);
  // The rename needs no permission on the file itself, so that a read-only file is respected must be asked for.
  if (previous) await access(real, constants.W_OK);
  const folder = dirname(real);
  makeFolder(folder, 0o777);
  const temporary = join(folder, `.newt-${randomBytes(6).toString('hex')}.tmp`);
  try {
    const handle = await open(temporary, 'wx', previous ? 0o600 : 0o666);
    try {
      await handle.writeFile(bytes);
      if (previous) await inheritOwnerAndMode(handle, previous);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, real);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

async function statIfPresent(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function inheritOwnerAndMode(handle: FileHandle, previous: Stats): Promise<void> {
  const { uid, gid } = await handle.stat();
  // Only a privileged process may give a file away; anyone else keeps what the system assigned.
  if (uid !== previous.uid || gid !== previous.gid) await handle.chown(previous.uid, previous.gid).catch(() => undefined);
  // After chown, which clears the set-user-id bits.
  await handle.chmod(previous.mode & 0o7777);
}

/** Makes the rename itself durable where the system can; the content is safe either way. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    await handle.sync().finally(() => handle.close());
  } catch {
    return;
  }
}
