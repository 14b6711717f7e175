/** Which project folders the person trusts: once per real path and content. */
import { readFileSync, readlinkSync, renameSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { writeAtomic } from '../atomic-write.ts';
import { digestFolder, type FolderEntry, listFolder } from './digest.ts';
import { isKernelError, KernelError } from '../errors.ts';
import { holdLock } from '../lock-file.ts';
import { isInside, realPath } from '../paths.ts';

export interface TrustStatus {
  readonly status: 'trusted' | 'untrusted' | 'changed' | 'nothing-to-trust';
  /** Why it cannot be trusted as it is. */
  readonly reason?: string;
  /** Of the content looked at; hand it to {@link Trust.grant} so that what was shown is what is trusted. */
  readonly digest?: string;
}

export interface TrustRecord {
  readonly folder: string;
  readonly digest: string;
  /** ISO time. */
  readonly granted: string;
}

/** The store; every answer reads it anew, so that a grant given in another terminal counts. */
export interface Trust {
  status(folder: string): TrustStatus;
  /** @throws KernelError `ARGUMENT` if `folder` cannot be trusted, or no longer has `digest`; `SECOND_WRITER`, `UNWRITABLE` */
  grant(folder: string, digest?: string): void;
  /** Whether it was trusted. */
  revoke(folder: string): boolean;
  list(): TrustRecord[];
}

const stored = z.object({ version: z.literal(1), folders: z.record(z.string(), z.object({ digest: z.string(), granted: z.string() })) });

/** How long another process that writes the store is waited for, in milliseconds. */
const patience = 5_000;

/** Opens the store in `file`. One that is damaged is set aside as `.corrupt` and trusts nothing. */
export function openTrust(file: string, now: () => number = Date.now): Trust {
  const read = (): Map<string, TrustRecord> => new Map(readStore(file).map((record) => [record.folder, record]));
  const write = (records: Map<string, TrustRecord>): void => {
    const folders = Object.fromEntries(Array.from(records.values(), ({ folder, ...record }) => [folder, record]));
    writeAtomic(file, `${JSON.stringify({ version: 1, folders }, null, 2)}\n`);
  };
  /** Reads, changes and writes while no other process does: what it grants meanwhile would be lost. */
  const update = (change: (records: Map<string, TrustRecord>) => void): void => {
    const release = lockStore(file);
    try {
      const records = read();
      change(records);
      write(records);
    } finally {
      release();
    }
  };
  return {
    status(folder) {
      const content = inspect(folder);
      const record = content.digest === undefined ? undefined : read().get(keyOf(folder));
      return record ? { ...content, status: record.digest === content.digest ? 'trusted' : 'changed' } : content;
    },
    grant(folder, expected) {
      const { digest, reason = 'there is nothing to trust' } = inspect(folder);
      if (digest === undefined || (expected !== undefined && expected !== digest)) {
        throw new KernelError('ARGUMENT', { what: `${folder} cannot be trusted: ${digest === undefined ? reason : 'it has changed since it was shown'}`, hint: 'look at what it holds, then try again' });
      }
      update((records) => void records.set(keyOf(folder), { folder: keyOf(folder), digest, granted: new Date(now()).toISOString() }));
    },
    revoke(folder) {
      if (!read().has(keyOf(folder))) return false;
      let known = false;
      update((records) => void (known = records.delete(keyOf(folder))));
      return known;
    },
    list: () => [...read().values()],
  };
}

function lockStore(file: string): () => void {
  try {
    return holdLock(`${file}.lock`, file, patience);
  } catch (error) {
    throw isKernelError(error) ? error : new KernelError('UNWRITABLE', { path: file, problem: (error as Error).message }, { cause: error });
  }
}

function keyOf(folder: string): string {
  return realPath(folder) ?? resolve(folder);
}

function readStore(file: string): TrustRecord[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new KernelError('CONFIG_UNREADABLE', { file, problem: (error as Error).message }, { cause: error });
  }
  try {
    return Object.entries(stored.parse(JSON.parse(text)).folders).map(([folder, record]) => ({ folder, ...record }));
  } catch {
    // Where it cannot be set aside, another process may just have done so; it counts as empty all the same.
    try {
      renameSync(file, `${file}.corrupt`);
    } catch {}
    return [];
  }
}

function inspect(folder: string): TrustStatus {
  const root = keyOf(folder);
  try {
    const entries = listFolder(root);
    const odd = entries.find((entry) => isOdd(root, entry));
    if (odd) return { status: 'untrusted', reason: odd.kind === 'link' ? `${odd.path} is a link that leaves the folder` : `${odd.path} is neither a file nor a folder` };
    return entries.length === 0 ? { status: 'nothing-to-trust' } : { status: 'untrusted', digest: digestFolder(root, { entries }) };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && !realPath(root) ? { status: 'nothing-to-trust' } : { status: 'untrusted', reason: (error as Error).message };
  }
}

// What a link leads to is not in the digest, so it must lie inside; so must a target that does not exist yet.
function isOdd(root: string, { path, kind }: FolderEntry): boolean {
  const link = join(root, path);
  return kind === 'other' || (kind === 'link' && !isInside(root, realPath(link) ?? resolve(dirname(link), readlinkSync(link))));
}
