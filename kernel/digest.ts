/** Content digests: what trust, health and caches are keyed by. SHA-256 in hex, the same on every platform. */
import { createHash } from 'node:crypto';
import { closeSync, lstatSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { KernelError } from './errors.ts';
import { importClosure } from './imports.ts';

export interface FolderEntry {
  /** Relative to the folder, with forward slashes. */
  readonly path: string;
  readonly kind: 'file' | 'link' | 'other';
  readonly bytes: number;
}

const maxFiles = 20_000;
const maxBytes = 200_000_000;

/**
 * Everything under `folder` but folders, sorted by path; symlinks are not followed. `skip` is asked with
 * the relative path of files and folders.
 *
 * @throws KernelError `ARGUMENT` above 20,000 files or 200 MB.
 */
export function listFolder(folder: string, skip: (path: string) => boolean = () => false): FolderEntry[] {
  const entries: FolderEntry[] = [];
  let bytes = 0;
  const visit = (inner: string): void => {
    for (const item of readdirSync(join(folder, inner), { withFileTypes: true })) {
      const path = inner === '' ? item.name : `${inner}/${item.name}`;
      if (skip(path)) continue;
      if (item.isDirectory()) {
        visit(path);
        continue;
      }
      const size = lstatSync(join(folder, path)).size;
      bytes += size;
      entries.push({ path, kind: item.isFile() ? 'file' : item.isSymbolicLink() ? 'link' : 'other', bytes: size });
      if (entries.length > maxFiles || bytes > maxBytes) {
        throw new KernelError('ARGUMENT', { what: `${folder} holds more than ${maxFiles} files or ${maxBytes / 1e6} MB`, hint: 'remove what does not belong there' });
      }
    }
  };
  visit('');
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The digest of a folder's paths and contents; of a symlink counts where it points. */
export function digestFolder(folder: string, options: { readonly skip?: (path: string) => boolean } = {}): string {
  return digestEntries(folder, listFolder(folder, options.skip));
}

/** {@link digestFolder} of a listing made before. */
export function digestEntries(folder: string, entries: readonly FolderEntry[]): string {
  const hash = createHash('sha256');
  for (const { path, kind } of entries) {
    const file = join(folder, path);
    const content = kind === 'file' ? digestFile(file) : kind === 'link' ? readlinkSync(file).replaceAll(sep, '/') : '';
    hash.update(`${JSON.stringify([path, kind, content])}\n`);
  }
  return hash.digest('hex');
}

/** The digest of a file's content, read in pieces. */
export function digestFile(file: string): string {
  const hash = createHash('sha256');
  const piece = Buffer.allocUnsafe(65_536);
  const descriptor = openSync(file, 'r');
  try {
    for (let read = 0; (read = readSync(descriptor, piece)) > 0; ) hash.update(piece.subarray(0, read));
  } finally {
    closeSync(descriptor);
  }
  return hash.digest('hex');
}

/**
 * What a plugin's behaviour depends on. With a `root` its files and the lock of its dependency tree; for a
 * bare file its content and that of its relative imports.
 */
export function digestPlugin(entry: string, root?: string): string {
  if (root === undefined) {
    const folder = dirname(entry);
    const files = importClosure(entry).map((file) => [relative(folder, file).replaceAll(sep, '/'), digestFile(file)]);
    return createHash('sha256').update(JSON.stringify(files)).digest('hex');
  }
  const installed = join(root, 'node_modules', '.package-lock.json');
  const tree = lstatSync(installed, { throwIfNoEntry: false })?.isFile() ? digestFile(installed) : '';
  const own = digestFolder(root, { skip: (path) => ['node_modules', '.git'].includes(basename(path)) });
  return createHash('sha256').update(`${own}\n${tree}`).digest('hex');
}
