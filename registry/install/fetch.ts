/** From a name, a version and an integrity to the bytes they stand for, and to what is in them. */
import { OperationalError } from 'newt-agent';
import type { LockedPackage } from '../lock.ts';
import { refused } from '../report.ts';
import { integrityOf } from './cache.ts';
import type { InstallSession } from './session.ts';
import { unpack, type Unpacked } from './tarball.ts';
import { download, Unreachable } from './transport.ts';

export interface WantedPackage extends LockedPackage {
  readonly place: string;
  readonly name: string;
}

/** What lies in a package, told by the package itself. */
export interface Contents {
  readonly bytes: number;
  readonly files: number;
  /** The install scripts it has, which never run. */
  readonly scripts: readonly string[];
  /** Whether it is built from source on the machine, which never happens either. */
  readonly native: boolean;
  readonly packageJson: Readonly<Record<string, unknown>>;
}

export interface LookedInto extends Contents {
  readonly unpacked: Unpacked;
}

const maxBytes = 50_000_000;
const installScripts: readonly string[] = ['preinstall', 'install', 'postinstall'];

/**
 * The tarball of a package: from the cache, else from its registry and no other host. Whatever the registry answers,
 * these are the bytes of the integrity.
 *
 * @throws OperationalError; the reason of the session's signal
 */
export async function fetchPackage({ name, version, integrity }: Omit<WantedPackage, 'place'>, session: InstallSession): Promise<Buffer> {
  const { cache, offline, packuments, signal, settings } = session;
  const kept = await cache.tarball(integrity);
  if (kept) return kept;
  const what = `${name} ${version}`;
  if (offline) throw refused(`${what} is not in the cache`, 'leave --offline out');
  const told = (await packuments.facts(name)).versions.get(version);
  if (!told) throw refused(`${what} is not in the registry any more`, 'it may have been taken back: look for another version');
  if (told.integrity !== undefined && told.integrity !== integrity) throw refused(`${what} is another one now: the registry's integrity is not the one that was agreed to`, 'do not install it; ask who publishes it');
  let bytes: Buffer | undefined;
  try {
    bytes = await download(tarballUrl(name, version, told.tarball, session.registryOf(name)), 'application/octet-stream', { maxBytes, timeout: settings.timeout, signal });
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    throw new OperationalError(`${what} cannot be fetched: ${error.message}`, { hint: 'try again later; nothing was changed' }, { cause: error });
  }
  if (!bytes) throw refused(`the registry names ${what}, but does not have it`, 'try again later, or take another version');
  if (integrityOf(bytes) !== integrity) throw refused(`${what} is not what the registry says it is: its integrity is wrong`, 'it was damaged or exchanged on its way; nothing was changed');
  await cache.keepTarball(integrity, bytes);
  return bytes;
}

/** Where it lies on the registry itself. What a packument says of other hosts is not followed: mirrors keep the usual place. */
function tarballUrl(name: string, version: string, told: string, registry: string): string {
  if (URL.canParse(told) && new URL(told).origin === new URL(registry).origin) return told;
  return `${registry}${name}/-/${name.replace(/^@[^/]+\//, '')}-${version}.tgz`;
}

/** Looks into a tarball. @throws OperationalError for one that is not what it is said to be */
export async function lookInto(what: Omit<WantedPackage, 'place' | 'integrity'>, bytes: Buffer, signal: AbortSignal): Promise<LookedInto> {
  const unpacked = await unpack(`${what.name} ${what.version}`, bytes, signal);
  const packageJson = packageJsonOf(`${what.name} ${what.version}`, unpacked);
  if (packageJson['name'] !== what.name || plainVersion(packageJson['version']) !== plainVersion(what.version)) {
    throw refused(`${what.name} ${what.version} calls itself ${String(packageJson['name']).slice(0, 60)} ${String(packageJson['version']).slice(0, 40)}`, 'the registry and the package do not agree; tell its author');
  }
  return { ...contentsOf(packageJson, unpacked), unpacked };
}

export function packageJsonOf(what: string, { files }: Unpacked): Readonly<Record<string, unknown>> {
  const file = files.find(({ path }) => path === 'package.json');
  try {
    const parsed = JSON.parse(file?.content.toString('utf8').replace(/^\uFEFF/, '') ?? '') as unknown;
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Readonly<Record<string, unknown>>;
  } catch {
    // Told below, whatever is wrong with it.
  }
  throw refused(`${what} has no package.json that can be read`, 'it is no package of npm');
}

export function contentsOf(packageJson: Readonly<Record<string, unknown>>, { files, bytes }: Unpacked): Contents {
  const scripts = typeof packageJson['scripts'] === 'object' && packageJson['scripts'] !== null ? Object.keys(packageJson['scripts']) : [];
  return { bytes, files: files.length, scripts: scripts.filter((name) => installScripts.includes(name)), native: files.some(({ path }) => path === 'binding.gyp'), packageJson };
}

/** Registries drop a leading `v` or `=`, and build metadata. */
function plainVersion(version: unknown): string {
  return String(version).trim().replace(/^[v=\s]+/, '').replace(/\+.*$/, '');
}
