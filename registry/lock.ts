/** The lock files: which plugins of the npm tier there are, what each consists of, and what the person agreed to. */
import { hash } from 'node:crypto';
import { isAbsolute, join } from 'node:path';
import { KernelError, z } from 'newt-agent';
import { writeAtomic } from '../kernel/atomic-write.ts';
import { idPattern } from '../kernel/manifest.ts';
import { type HomePaths, readPlainFile } from '../kernel/paths.ts';
import { exclusively } from './exclusive.ts';

const version = 2;
export const lockName = 'agent-plugins.lock';

/** Of npm: what may be the name of a folder below `node_modules`. */
const packageName = '(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*';
export const packageNamePattern = new RegExp(`^${packageName}$`, 'i');
/** Where a package lies in its tree. A lock file of a project was written by somebody else: nothing in it leads out. */
const placePattern = new RegExp(`^node_modules/${packageName}(?:/node_modules/${packageName})*$`, 'i');
const versionPattern = /^\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]*)?$/;
const integrityPattern = /^sha512-[A-Za-z0-9+/]{86}==$/;

/** Built on first use: most starts know the file from before, and check nothing. */
let schema: ReturnType<typeof buildSchema> | undefined;

function buildSchema() {
  const digest = z.string().regex(/^[0-9a-f]{64}$/);
  const addedAt = z.iso.datetime();
  const exactVersion = z.string().max(100).regex(versionPattern, 'must be an exact version');
  const integrity = z.string().regex(integrityPattern, 'must be a sha512 integrity');

  const linkSchema = z.strictObject({
    source: z.literal('link'),
    path: z.string().refine(isAbsolute, 'must be an absolute path'),
    version: z.string(),
    contentDigest: z.string(),
    capabilities: z.array(z.string()).nullable(),
    addedAt,
  });

  const installedShape = {
    source: z.enum(['npm', 'tarball', 'catalog']),
    asked: z.string(),
    name: z.string().regex(packageNamePattern),
    version: exactVersion,
    integrity,
    packages: z.record(z.string().regex(placePattern, 'must lie below node_modules'), z.strictObject({ version: exactVersion, integrity })),
    contentDigest: digest,
    capabilities: z.array(z.string()),
    capabilityDigest: digest,
    publisher: z.string().optional(),
    attested: z.boolean().optional(),
    addedAt,
  };
  const installedSchema = z.strictObject({ ...installedShape, previous: z.strictObject(installedShape).optional() });

  return z.strictObject({
    version: z.union([z.literal(1), z.literal(version)]),
    plugins: z.record(z.string().regex(idPattern), z.discriminatedUnion('source', [linkSchema, installedSchema])),
  });
}

/** A folder that is used where it lies. */
export interface LinkEntry {
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

/** A package that was installed as a copy, into a tree of its own. */
export interface InstalledVersion {
  /** `npm`: from the registry; `tarball`: a file; `catalog`: a first-party plugin that ships with newt-agent. */
  readonly source: 'npm' | 'tarball' | 'catalog';
  /** What the person asked for: `name@range`, the catalog's name, the path of the file. No registry is named. */
  readonly asked: string;
  /** Of the package, which is not the id of the plugin. */
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  /** The whole tree, by place (`node_modules/a`), the plugin's own package included. */
  readonly packages: Readonly<Record<string, LockedPackage>>;
  /** Of every file in the tree; see `verifyTree`. */
  readonly contentDigest: string;
  readonly capabilities: readonly string[];
  readonly capabilityDigest: string;
  /** Who published it, as the registry told. */
  readonly publisher?: string | undefined;
  /** Whether the registry showed an attestation of where it was built. */
  readonly attested?: boolean | undefined;
  /** ISO time of the consent. */
  readonly addedAt: string;
}

export interface LockedPackage {
  readonly version: string;
  readonly integrity: string;
}

export interface InstalledEntry extends InstalledVersion {
  /** What was there before the last update, kept for `agent plugin rollback`. */
  readonly previous?: InstalledVersion | undefined;
}

export type LockEntry = LinkEntry | InstalledEntry;
export type LockEntries = Readonly<Record<string, LockEntry>>;

/** Where the lock file of this user lies. */
export function lockFile(paths: HomePaths): string {
  return join(paths.data, lockName);
}

/**
 * The plugins that were added, by id; none where there is no lock file.
 *
 * @throws KernelError `CONFIG_UNREADABLE`, or `CONFIG_INVALID` for a damaged file: what it holds is never dropped
 */
export function readLock(file: string): LockEntries {
  const text = lockText(file);
  return text === undefined ? {} : parseLock(file, text);
}

/** The file as it is; undefined where there is none. @throws KernelError `CONFIG_UNREADABLE` */
export function lockText(file: string): string | undefined {
  try {
    return readPlainFile(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new KernelError('CONFIG_UNREADABLE', { file, problem: message }, { cause: error });
  }
}

/** The entry of `id`, and never something that every object has. */
export function entryOf(entries: LockEntries, id: string): LockEntry | undefined {
  return Object.hasOwn(entries, id) ? entries[id] : undefined;
}

/** What a plugin asks for beyond what the person agreed to; null when it no longer states what that is. */
export function beyondAgreement(agreed: LockEntry['capabilities'] | null, asked: readonly string[] | null): readonly string[] | null {
  if (agreed === null) return [];
  return asked && asked.filter((capability) => !agreed.includes(capability));
}

/** One digest for a set of capabilities, in whatever order they are told. */
export function digestCapabilities(capabilities: readonly string[]): string {
  return hash('sha256', JSON.stringify([...new Set(capabilities)].sort()));
}

/**
 * Replaces the entries by what `change` makes of them, while no other process can. `change` may act on files as well:
 * what it does before it returns has happened when the new file takes the place of the old one.
 *
 * @param after runs once the file is replaced, still while no other process can write
 * @throws KernelError what {@link readLock} throws; `ARGUMENT` when the file is busy or cannot be written; what
 *   `change` throws. The file is then as it was.
 */
export async function updateLock(file: string, change: (entries: LockEntries) => LockEntries, after?: (entries: LockEntries) => void): Promise<void> {
  try {
    await exclusively(file, () => {
      const next = change(readLock(file));
      writeAtomic(file, printLock(next));
      after?.(next);
    });
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
  const checked = (schema ??= buildSchema()).safeParse(parsed);
  if (checked.success) return checked.data.plugins;
  const issue = checked.error.issues[0];
  throw damaged(file, issue?.path.join('.') || 'the file', issue?.message ?? 'invalid');
}

function damaged(file: string, key: string, problem: string): KernelError {
  return new KernelError('CONFIG_INVALID', { where: file, key, problem, hint: 'correct the file, or delete it and add your plugins again: agent plugin add <folder>', file });
}

/** Sorted by id, one order of keys: the same entries give the same bytes. */
function printLock(entries: LockEntries): string {
  const plugins = Object.fromEntries(sorted(entries).map(([id, entry]) => [id, entry.source === 'link' ? plainLink(entry) : { ...plainVersion(entry), ...(entry.previous && { previous: plainVersion(entry.previous) }) }]));
  return `${JSON.stringify({ version, plugins }, null, 2)}\n`;
}

function plainLink({ source, path, version: at, contentDigest, capabilities, addedAt: time }: LinkEntry): LinkEntry {
  return { source, path, version: at, contentDigest, capabilities: capabilities && [...capabilities].sort(), addedAt: time };
}

function plainVersion({ source, asked, name, version: at, integrity: whole, packages, contentDigest, capabilities, capabilityDigest, publisher, attested, addedAt: time }: InstalledVersion): InstalledVersion {
  const listed = Object.fromEntries(sorted(packages).map(([place, one]) => [place, { version: one.version, integrity: one.integrity }]));
  return {
    source, asked, name, version: at, integrity: whole, packages: listed, contentDigest, capabilities: [...capabilities].sort(), capabilityDigest,
    ...(publisher !== undefined && { publisher }), ...(attested !== undefined && { attested }), addedAt: time,
  };
}

function sorted<T>(record: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}
