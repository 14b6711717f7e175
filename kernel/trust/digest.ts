/** Content digests: what trust, health and caches are keyed by. SHA-256 in hex, the same on every platform. */
import { createHash, hash } from 'node:crypto';
import { closeSync, existsSync, lstatSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { KernelError } from '../errors.ts';
import { isInside, realPath } from '../paths.ts';
import { importClosure } from './imports.ts';

export interface FolderEntry {
  /** Relative to the folder, with forward slashes. */
  readonly path: string;
  readonly kind: 'file' | 'link' | 'other';
}

const maxFiles = 20_000;
const maxBytes = 200_000_000;

/**
 * The files and links under `folder`, sorted by path; links are not followed. `skip` is asked with the
 * relative path of files and folders.
 *
 * @throws KernelError `ARGUMENT` above 20,000 files or 200 MB.
 */
export function listFolder(folder: string, skip?: (path: string) => boolean): FolderEntry[] {
  const entries: FolderEntry[] = [];
  let bytes = 0;
  const visit = (parent: string): void => {
    for (const item of readdirSync(join(folder, parent), { withFileTypes: true })) {
      const path = parent + item.name;
      if (skip?.(path)) continue;
      if (item.isDirectory()) {
        visit(`${path}/`);
        continue;
      }
      entries.push({ path, kind: item.isFile() ? 'file' : item.isSymbolicLink() ? 'link' : 'other' });
      bytes += lstatSync(join(folder, path)).size;
      if (entries.length <= maxFiles && bytes <= maxBytes) continue;
      throw new KernelError('ARGUMENT', { what: `${folder} holds more than ${maxFiles} files or ${maxBytes / 1e6} MB`, hint: 'remove what does not belong there' });
    }
  };
  visit('');
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The digest of a folder's paths and contents, or of a listing of it; of a link counts where it points. */
export function digestFolder(folder: string, options: { readonly skip?: (path: string) => boolean; readonly entries?: readonly FolderEntry[] } = {}): string {
  const entries = options.entries ?? listFolder(folder, options.skip);
  const lines = entries.map(({ path, kind }) => {
    const file = join(folder, path);
    return JSON.stringify([path, kind, kind === 'file' ? digestFile(file) : kind === 'link' ? readlinkSync(file).replaceAll(sep, '/') : '']);
  });
  return hash('sha256', lines.join('\n'));
}

/** The digest of a file's content, read in pieces. */
export function digestFile(file: string): string {
  const content = createHash('sha256');
  const piece = Buffer.allocUnsafe(65_536);
  const descriptor = openSync(file, 'r');
  try {
    for (let read = 0; (read = readSync(descriptor, piece)) > 0; ) content.update(piece.subarray(0, read));
  } finally {
    closeSync(descriptor);
  }
  return content.digest('hex');
}

/**
 * What a plugin's behaviour depends on. With a `root`, its files and the lock of its dependency tree; for a
 * bare file, its content and that of its relative imports.
 */
export function digestPlugin(entry: string, root?: string): string {
  if (root === undefined) {
    const files = importClosure(entry).map((file) => [relative(dirname(entry), file).replaceAll(sep, '/'), digestFile(file)]);
    return hash('sha256', JSON.stringify(files));
  }
  const installed = join(root, 'node_modules', '.package-lock.json');
  const own = digestFolder(root, { skip: (path) => ['node_modules', '.git'].includes(basename(path)) });
  // What it imports from elsewhere, also behind a link, is a part of it.
  const inner = realPath(root) ?? root;
  const outer = importClosure(entry).filter((file) => !isInside(inner, file)).map((file) => [file, digestFile(file)]);
  const parts = [own, ...(existsSync(installed) ? [digestFile(installed)] : []), ...(outer.length > 0 ? [JSON.stringify(outer)] : [])];
  return hash('sha256', parts.join(''));
}
