/** The lock file: which plugins of the npm tier there are, and what the person agreed to. */
import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { KernelError, z } from 'newt-agent';
import { writeAtomic } from '../kernel/atomic-write.ts';
import { idPattern } from '../kernel/manifest.ts';
import type { HomePaths } from '../kernel/paths.ts';
import { exclusively } from './exclusive.ts';

const version = 1;

const entrySchema = z.strictObject({
  source: z.literal('link'),
  path: z.string().refine(isAbsolute, 'must be an absolute path'),
  version: z.string(),
  contentDigest: z.string(),
  capabilities: z.array(z.string()).nullable(),
  addedAt: z.iso.datetime(),
});

const lockSchema = z.strictObject({ version: z.literal(version), plugins: z.record(z.string().regex(idPattern), entrySchema) });

export interface LockEntry {
  /** `link`: the folder is used where it lies. */
  readonly source: 'link';
  /** Real, absolute. */
  readonly path: string;
  readonly version: string;
  readonly contentDigest: string;
  /** What the person agreed to; null where no manifest states it, and its code says it when it runs. */
  readonly capabilities: readonly string[] | null;
  /** ISO time. */
  readonly addedAt: string;
}

export type LockEntries = Readonly<Record<string, LockEntry>>;

/** Where the lock file of this user lies. */
export function lockFile(paths: HomePaths): string {
  return join(paths.data, 'agent-plugins.lock');
}

/**
 * The plugins that were added, by id; none where there is no lock file.
 *
 * @throws KernelError `CONFIG_UNREADABLE`, or `CONFIG_INVALID` for a damaged file: what it holds is never dropped
 */
export function readLock(file: string): LockEntries {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return {};
    throw new KernelError('CONFIG_UNREADABLE', { file, problem: message }, { cause: error });
  }
  return parseLock(file, text);
}

/** What a plugin asks for beyond what the person agreed to; null when it no longer states what that is. */
export function beyondAgreement(agreed: LockEntry['capabilities'], asked: LockEntry['capabilities']): readonly string[] | null {
  if (agreed === null) return [];
  return asked && asked.filter((capability) => !agreed.includes(capability));
}

/**
 * Replaces the entries by what `change` makes of them, while no other process can.
 *
 * @throws KernelError what {@link readLock} throws; `ARGUMENT` when the file is busy or cannot be written; what
 *   `change` throws. The file is then as it was.
 */
export async function updateLock(file: string, change: (entries: LockEntries) => LockEntries): Promise<void> {
  try {
    await exclusively(file, () => writeAtomic(file, printLock(change(readLock(file)))));
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error;
    throw new KernelError('ARGUMENT', { what: `${file} cannot be written: ${error.message}`, hint: 'check its folder, the permissions and the free space; nothing was changed' }, { cause: error });
  }
}

function parseLock(file: string, text: string): LockEntries {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw damaged(file, 'JSON', (error as Error).message);
  }
  const made = typeof parsed === 'object' && parsed !== null && 'version' in parsed ? parsed.version : undefined;
  if (typeof made === 'number' && made > version) {
    throw new KernelError('CONFIG_INVALID', { where: file, key: 'version', problem: `${made} is newer than this agent knows (${version})`, hint: 'update newt-agent' });
  }
  const checked = lockSchema.safeParse(parsed);
  if (checked.success) return checked.data.plugins;
  const issue = checked.error.issues[0];
  throw damaged(file, issue?.path.join('.') || 'the file', issue?.message ?? 'invalid');
}

function damaged(file: string, key: string, problem: string): KernelError {
  return new KernelError('CONFIG_INVALID', { where: file, key, problem, hint: 'correct the file, or delete it and add your plugins again: agent plugin add <folder>', file });
}

/** Sorted by id, one order of keys: the same entries give the same bytes. */
function printLock(entries: LockEntries): string {
  const plugins = Object.fromEntries(
    Object.entries(entries)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, { source, path, version: at, contentDigest, capabilities, addedAt }]) => [id, { source, path, version: at, contentDigest, capabilities: capabilities && [...capabilities].sort(), addedAt }]),
  );
  return `${JSON.stringify({ version, plugins }, null, 2)}\n`;
}
