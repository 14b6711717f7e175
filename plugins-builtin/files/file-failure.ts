/** Failures of the file system are observations for the model, never faults of this plugin. */
import { isOperational, type ToolResult } from 'newt-agent';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist. Find the right path with list_directory or glob.',
  ENOTDIR: 'cannot exist: a parent of it is a file, not a directory.',
  EEXIST: 'cannot exist: a parent of it is a file, not a directory.',
  EISDIR: 'is a directory. Use list_directory, or name a file in it.',
  EACCES: 'cannot be accessed: permission denied.',
  EPERM: 'cannot be changed: the system does not permit it.',
  EROFS: 'is on a read-only file system.',
  ENOSPC: 'cannot be written: the disk is full. Free some space first.',
  EDQUOT: 'cannot be written: the disk quota is used up. Free some space first.',
  EFBIG: 'cannot be written: it would be larger than the system allows.',
  EBUSY: 'is in use by the system (perhaps a mount point) and cannot be replaced.',
  ETXTBSY: 'is a running program and cannot be changed.',
  ELOOP: 'leads through a circle of symbolic links.',
  ENAMETOOLONG: 'is too long a name for this file system.',
  EMFILE: 'cannot be opened: too many files are open. Try again.',
  ENFILE: 'cannot be opened: too many files are open. Try again.',
  EIO: 'cannot be read or written: the device reports an error.',
  ERR_INVALID_ARG_VALUE: 'is not a path: it contains a NUL byte.',
};

/**
 * Runs `work`; a failure of the file system or of the world becomes the tool's answer, anything else is thrown.
 *
 * @param given the path as the model wrote it
 * @param consequence what the failure means for the file, appended to the message: `Nothing was written.`
 */
export async function answerFailures(
  given: string,
  consequence: string | undefined,
  work: () => Promise<ToolResult>,
): Promise<ToolResult> {
  try {
    return await work();
  } catch (error) {
    const reason = failureText(error, given);
    const separator = reason.includes('\n') ? '\n' : ' ';
    return { text: consequence ? `${reason}${separator}${consequence}` : reason, isError: true };
  }
}

/**
 * Why `given` could not be used, in one or two sentences.
 *
 * @throws `error` itself when it is not a failure of the world
 */
export function failureText(error: unknown, given: string): string {
  if (isOperational(error)) return error.message;
  if (!(error instanceof Error)) throw error;
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  const reason = reasons[code];
  if (reason !== undefined) return `${given.replaceAll('\0', '\\0')} ${reason}`;
  if (syscall === undefined) throw error;
  return `${given}: ${syscall} failed with ${code}.`;
}

/** True for the error that means "there is no such file". */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'ENOENT';
}
