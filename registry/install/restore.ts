/** The very tree a lock file states, on this machine: exact packages, their integrities, and the digest of it all. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Manifest } from '../../kernel/lifecycle.ts';
import type { Catalog } from '../catalog.ts';
import type { InstalledVersion } from '../lock.ts';
import { refused } from '../report.ts';
import { integrityOf } from './cache.ts';
import { fetchPackage, lookInto, type WantedPackage } from './fetch.ts';
import { packFirstParty } from './pack.ts';
import { fetchAll, manifestOf, type Plan, type PlannedPackage } from './plan.ts';
import type { InstallSession } from './session.ts';
import { stage, type Staged } from './stage.ts';
import type { InstallTarget } from './tree.ts';

export interface Restorable {
  readonly id: string;
  readonly entry: InstalledVersion;
  readonly target: InstallTarget;
  readonly session: InstallSession;
  readonly catalog: Catalog;
  /** Version of the host. */
  readonly version: string;
}

/** What the lock file states, fetched and looked into; nothing is decided anew. */
export async function planOf(restorable: Restorable): Promise<Plan> {
  const { id, entry, session, version } = restorable;
  const root = `node_modules/${entry.name}`;
  const wanted = Object.entries(entry.packages).map(([place, { version: at, integrity }]) => ({ place, name: nameAt(place), version: at, integrity, facts: undefined, firstPublished: undefined }));
  const all = await fetchAll(wanted, session, (one) => tarballOf(one, restorable));
  session.progress(undefined);
  const own = all.find(({ place }) => place === root);
  if (!own || own.version !== entry.version || own.integrity !== entry.integrity) throw refused(`the lock file says two things of ${id}: what it is, and what its tree holds`, 'correct the file, or remove the plugin and add it again');
  const { unpacked, packageJson } = await lookInto(own, await tarballOf(own, restorable), session.signal);
  const manifest = manifestOf({ ...own, unpacked, packageJson }, version);
  refuseOther(id, entry, manifest);
  const packages: [PlannedPackage, ...PlannedPackage[]] = [own, ...all.filter((one) => one !== own).sort((a, b) => (a.place < b.place ? -1 : 1))];
  return { id, manifest, source: entry.source, asked: entry.asked, packages, bytes: packages.reduce((sum, { bytes }) => sum + bytes, 0), remarks: [] };
}

/** Stages it. @throws OperationalError when it is not what the lock file says */
export async function stageLocked(plan: Plan, restorable: Restorable): Promise<Staged> {
  const { id, entry, target, session } = restorable;
  const staged = await stage(target, plan.packages, (one) => tarballOf(one, restorable), session.signal);
  if (staged.contentDigest === entry.contentDigest) return staged;
  staged.discard();
  throw refused(`${id} ${entry.version} is not what the lock file says: its files have another digest`, 'do not use it; ask whoever wrote the lock file');
}

/** What the manifest says must be what was agreed to: a lock file may have been written by anybody. */
function refuseOther(id: string, { name, version, capabilities }: InstalledVersion, manifest: Manifest): void {
  if (manifest.id !== id) throw refused(`${name} ${version} is the plugin "${manifest.id}", the lock file calls it "${id}"`, 'ask whoever wrote the lock file');
  const hidden = manifest.capabilities.filter((one) => !capabilities.includes(one));
  if (hidden.length > 0) throw refused(`${id} ${version} asks for ${hidden.join(', ')}, and the lock file does not say so`, 'ask whoever wrote the lock file');
}

async function tarballOf(one: WantedPackage, { entry, target, session, catalog }: Restorable): Promise<Buffer> {
  if (one.place !== `node_modules/${entry.name}` || entry.source === 'npm') return fetchPackage(one, session);
  const kept = await session.cache.tarball(one.integrity);
  if (kept) return kept;
  const bytes = entry.source === 'catalog' ? await fromCatalog(entry, catalog) : fromFile(entry, target);
  if (integrityOf(bytes) !== one.integrity) {
    throw refused(`${one.name} is no longer the one the lock file states (${one.version})`, entry.source === 'catalog' ? 'it came with another newt-agent; agent plugin update takes the one that ships with this' : 'put the file back that was added');
  }
  await session.cache.keepTarball(one.integrity, bytes);
  return bytes;
}

function fromCatalog({ asked }: InstalledVersion, catalog: Catalog): Promise<Buffer> {
  const found = Object.hasOwn(catalog, asked) ? catalog[asked] : undefined;
  if (!found) throw refused(`the catalog of this newt-agent has no plugin "${asked}"`, 'update newt-agent');
  return packFirstParty(found.folder);
}

function fromFile({ asked, name, version }: InstalledVersion, { project }: InstallTarget): Buffer {
  const file = project === undefined ? asked : resolve(project, asked);
  if (!existsSync(file)) throw refused(`${name} ${version} was added from the file ${asked}, which is not here`, 'put it there, or add the plugin again from where it is');
  return readFileSync(file);
}

/** `node_modules/a/node_modules/@b/c` is `@b/c`. */
function nameAt(place: string): string {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
