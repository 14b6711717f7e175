/**
 * What is in a tarball, before any of it is on disk. It is unpacked in memory within bounds, entry by entry, and what
 * is written in the end are plain files below a folder: nothing in it can be a link, a device or a way out.
 */
import { createGunzip } from 'node:zlib';
import type { ReadEntry } from 'tar';
import { refused } from '../report.ts';

export interface UnpackedFile {
  /** Below the folder of the package, with forward slashes. */
  readonly path: string;
  readonly content: Buffer;
  readonly executable: boolean;
}

export interface Unpacked {
  readonly files: readonly UnpackedFile[];
  readonly bytes: number;
}

/** Of one package. The bounds of a whole plugin are in `policy.ts`. */
const maxBytes = 100_000_000;
const maxEntries = 20_000;
const maxPath = 400;

/** @throws OperationalError naming `what`, for anything that is no honest package */
export async function unpack(what: string, bytes: Buffer, signal: AbortSignal): Promise<Unpacked> {
  const plain = bytes[0] === 0x1f && bytes[1] === 0x8b ? await gunzip(what, bytes, signal) : bytes;
  const { Parser } = await import('tar');
  const files: UnpackedFile[] = [];
  const seen = new Set<string>();
  let entries = 0;
  let problem: Error | undefined;
  const check = (entry: ReadEntry): void => {
    entries += 1;
    if (entries > maxEntries) throw refused(`${what} holds more than ${maxEntries} files`, 'no plugin needs as many');
    const path = safePath(what, entry.path);
    if (entry.type === 'Directory') return void entry.resume();
    if (!['File', 'OldFile', 'ContiguousFile'].includes(entry.type)) throw refused(`${what} holds ${entry.path.slice(0, 100)}, which is ${kindOf(entry.type)}`, 'only files and folders are unpacked; tell its author');
    // What it bundles is installed from the registry like everything else, or not at all.
    if (path === '' || path.startsWith('node_modules/')) return void entry.resume();
    if (seen.has(path)) throw refused(`${what} holds ${path} twice`, 'which one would be meant cannot be told; tell its author');
    seen.add(path);
    const pieces: Buffer[] = [];
    entry.on('data', (piece: Buffer) => void pieces.push(piece));
    entry.on('end', () => void files.push({ path, content: Buffer.concat(pieces), executable: ((entry.mode ?? 0) & 0o111) !== 0 }));
  };
  const parser = new Parser({
    strict: true,
    onReadEntry(entry) {
      try {
        if (!problem) return check(entry);
      } catch (error) {
        problem = error as Error;
      }
      entry.resume();
    },
  });
  await new Promise<void>((resolve) => {
    parser.on('error', (error: Error) => {
      problem ??= refused(`${what} cannot be unpacked: ${error.message}`);
      resolve();
    });
    parser.on('end', resolve);
    parser.end(plain);
  });
  if (problem) throw problem;
  return { files, bytes: files.reduce((sum, { content }) => sum + content.length, 0) };
}

/** The path below the package's folder: npm packs everything below one folder of any name. */
function safePath(what: string, path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (path.startsWith('/') || parts.includes('..') || /[\\\0-\x1f]/.test(path) || /^[a-z]:/i.test(path) || path.length > maxPath) {
    throw refused(`${what} holds a path that leads out of its folder, or none at all: ${JSON.stringify(path.slice(0, 100))}`, 'nothing of it was unpacked; tell its author');
  }
  return parts.slice(1).join('/');
}

function kindOf(type: string): string {
  if (type === 'SymbolicLink') return 'a link';
  return type === 'Link' ? 'a hard link' : `no file (${type})`;
}

/** Piece by piece, and no further than the bound: what unpacks to more is never held. */
async function gunzip(what: string, bytes: Buffer, signal: AbortSignal): Promise<Buffer> {
  const stream = createGunzip();
  const pieces: Buffer[] = [];
  let length = 0;
  stream.end(bytes);
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      signal.throwIfAborted();
      length += piece.length;
      if (length > maxBytes) throw refused(`${what} unpacks to more than ${maxBytes / 1e6} MB`, 'no plugin needs as much; it may be made to fill your disk');
      pieces.push(piece);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw refused(`${what} is damaged: ${(error as Error).message}`, 'download it again');
    throw error;
  }
  return Buffer.concat(pieces, length);
}
