/** The plan: what exactly would be installed, all of it fetched, verified and looked into, and nothing of it done. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { discoverPlugin } from '../../kernel/discover.ts';
import type { Manifest } from '../../kernel/lifecycle.ts';
import { isInside, realPath } from '../../kernel/paths.ts';
import { engineProblem } from '../../kernel/resolve.ts';
import type { InstalledVersion } from '../lock.ts';
import { refused } from '../report.ts';
import { integrityOf } from './cache.ts';
import { type Contents, contentsOf, fetchPackage, lookInto, packageJsonOf, type WantedPackage } from './fetch.ts';
import { packFirstParty } from './pack.ts';
import { exoticSpecs, hostPackages, strings, type VersionFacts } from './packuments.ts';
import { checkBounds, refuseExotic } from './policy.ts';
import { type Declared, pickVersion, type ResolvedPackage, resolveTree } from './resolve.ts';
import type { InstallSession } from './session.ts';
import type { Source } from './source.ts';
import { type Unpacked, unpack } from './tarball.ts';
import { writeFiles } from './write.ts';

export interface PlannedPackage extends WantedPackage, Omit<Contents, 'packageJson'> {
  /** What the registry says of it; undefined for one that does not come from there. */
  readonly facts: VersionFacts | undefined;
  readonly firstPublished: number | undefined;
}

export interface Plan {
  readonly id: string;
  readonly manifest: Manifest;
  readonly source: InstalledVersion['source'];
  /** See `InstalledVersion`. */
  readonly asked: string;
  /** The plugin's own package comes first. */
  readonly packages: readonly [PlannedPackage, ...PlannedPackage[]];
  /** Unpacked. */
  readonly bytes: number;
  /** What it contributes and when it starts, as far as its manifest says. */
  readonly remarks: readonly string[];
}

type Installable = Exclude<Source, { kind: 'folder' }>;

interface Root {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  readonly unpacked: Unpacked;
  readonly packageJson: Readonly<Record<string, unknown>>;
  readonly facts: VersionFacts | undefined;
  readonly firstPublished: number | undefined;
}

const maxTarball = 50_000_000;
/** Fetched at once. */
const width = 6;

/** @throws OperationalError for whatever keeps it from being installed at all; the reason of the session's signal */
export async function makePlan(source: Installable, asked: string, session: InstallSession, version: string): Promise<Plan> {
  session.progress('Looking for the plugin');
  const root = await rootOf(source, session);
  const manifest = manifestOf(root, version);
  const declared = declaredBy(root);
  session.progress('Working out what it needs');
  const resolved = await resolveTree(declared, session.packuments, session.signal);
  const place = `node_modules/${root.name}`;
  if (resolved.some((one) => one.place === place)) throw refused(`${root.name} depends on itself`, 'tell its author');
  const wanted = await withFacts(resolved, session);
  const own: PlannedPackage = { place, name: root.name, version: root.version, integrity: root.integrity, facts: root.facts, firstPublished: root.firstPublished, ...withoutJson(contentsOf(root.packageJson, root.unpacked)) };
  const rest = await fetchAll(wanted, session);
  const packages: [PlannedPackage, ...PlannedPackage[]] = [own, ...rest.sort((a, b) => (a.place < b.place ? -1 : 1))];
  session.progress(undefined);
  return { id: manifest.id, manifest, source: source.kind, asked, packages, bytes: packages.reduce((sum, { bytes }) => sum + bytes, 0), remarks: session.packuments.fellBack ? ['The registry cannot be reached: this is what was known of it before.'] : [] };
}

/** With what the registry says of each. @throws OperationalError for one that must not be installed */
export function withFacts(resolved: readonly ResolvedPackage[], session: InstallSession): Promise<(WantedPackage & Told)[]> {
  return Promise.all(
    resolved.map(async ({ place, name, version }) => {
      const { versions, firstPublished } = await session.packuments.facts(name);
      const facts = versions.get(version);
      const integrity = integrityIn({ name, version }, facts);
      refuseExotic(`${name} ${version}`, facts?.exotic ?? []);
      return { place, name, version, integrity, facts, firstPublished };
    }),
  );
}

async function rootOf(source: Installable, session: InstallSession): Promise<Root> {
  if (source.kind === 'npm') return fromRegistry(source.name, source.range, session);
  if (source.kind === 'tarball' && statSync(source.path).size > maxTarball) throw refused(`${source.path} is larger than ${maxTarball / 1e6} MB`, 'no plugin needs as much');
  const bytes = source.kind === 'tarball' ? readFileSync(source.path) : await packFirstParty(source.folder);
  const what = source.kind === 'tarball' ? basename(source.path) : source.name;
  const unpacked = await unpack(what, bytes, session.signal);
  const packageJson = packageJsonOf(what, unpacked);
  const { name, version } = packageJson;
  if (typeof name !== 'string' || typeof version !== 'string') throw refused(`${what}: its package.json gives it no name and version`, 'npm needs both');
  if (source.kind === 'catalog' && name !== source.package) throw refused(`the plugin ${source.name} calls itself ${name}, the catalog calls it ${source.package}`, 'install newt-agent again');
  const integrity = integrityOf(bytes);
  await session.cache.keepTarball(integrity, bytes);
  return { name, version, integrity, unpacked, packageJson, facts: undefined, firstPublished: undefined };
}

async function fromRegistry(name: string, range: string, session: InstallSession): Promise<Root> {
  const version = await pickVersion(name, range || '*', session.packuments);
  const { versions, firstPublished } = await session.packuments.facts(name);
  const facts = versions.get(version);
  const integrity = integrityIn({ name, version }, facts);
  const bytes = await fetchPackage({ name, version, integrity }, session);
  const { unpacked, packageJson } = await lookInto({ name, version }, bytes, session.signal);
  return { name, version, integrity, unpacked, packageJson, facts, firstPublished };
}

function integrityIn({ name, version }: { readonly name: string; readonly version: string }, facts: VersionFacts | undefined): string {
  const found = facts?.integrity?.split(/\s+/).find((part) => /^sha512-[A-Za-z0-9+/]{86}==$/.test(part));
  if (found === undefined) throw refused(`the registry gives no sha512 integrity for ${name} ${version}`, 'what cannot be verified is not installed');
  return found;
}

/** What the plugin says of itself, checked as it would be at a start. No code of it runs. */
export function manifestOf({ name, version, unpacked, packageJson }: Pick<Root, 'name' | 'version' | 'unpacked' | 'packageJson'>, host: string): Manifest {
  if (!('agent' in packageJson)) throw refused(`${name} ${version} is no plugin: its package.json has no "agent" part`, 'look for plugins with: agent plugin search');
  const folder = realPath(mkdtempSync(join(tmpdir(), 'agent-manifest-'))) ?? '';
  try {
    const place = join(folder, basename(name));
    writeFiles(place, unpacked.files);
    const candidate = discoverPlugin('npm', place);
    if (!candidate || candidate.problem) throw refused((candidate?.problem?.reason ?? `${name} holds no plugin`).replaceAll(place, name), candidate?.problem?.hint.replaceAll(place, name));
    if (!isInside(place, candidate.entry)) throw refused(`agent.main of ${name} leads out of the package`, 'tell its author');
    const unfit = engineProblem(candidate.manifest, host);
    if (unfit !== undefined) throw refused(`${candidate.manifest.id} ${unfit}`);
    return candidate.manifest;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What it needs, by the package.json that is in the tarball: what the registry shows may be another. */
export function declaredBy({ name, version, packageJson }: Pick<Root, 'name' | 'version' | 'packageJson'>): Declared {
  const part = (key: string): Readonly<Record<string, unknown>> => {
    const value = packageJson[key];
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : {};
  };
  // A peer may be anything the host has; of those that are installed every spec counts.
  const without = (all: Readonly<Record<string, unknown>>) => Object.entries(all).filter(([key]) => !hostPackages.includes(key));
  refuseExotic(`${name} ${version}`, exoticSpecs(['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((key) => without(part(key)))));
  return {
    dependencies: strings(part('dependencies'), hostPackages),
    optionalDependencies: strings(part('optionalDependencies'), hostPackages),
    peerDependencies: strings(part('peerDependencies'), hostPackages),
    peerDependenciesMeta: part('peerDependenciesMeta'),
  };
}

type Told = Pick<PlannedPackage, 'facts' | 'firstPublished'>;

/** Fetches and looks into packages, a few at once; more than a plugin may ever have is refused on the way. */
export async function fetchAll(wanted: readonly (WantedPackage & Told)[], session: InstallSession, tarball: (one: WantedPackage) => Promise<Buffer> = (one) => fetchPackage(one, session)): Promise<PlannedPackage[]> {
  checkBounds(wanted.length, 0, 0);
  const planned: PlannedPackage[] = [];
  let [next, bytes, files] = [0, 0, 0];
  // Unpacked one at a time: each may take its whole bound of memory.
  let turn: Promise<unknown> = Promise.resolve();
  const work = async (): Promise<void> => {
    for (let at = wanted[next++]; at; at = wanted[next++]) {
      const one = at;
      session.signal.throwIfAborted();
      session.progress(`Fetching ${planned.length + 1} of ${wanted.length}: ${one.name}`);
      const fetched = await tarball(one);
      const looking = turn.then(() => lookInto(one, fetched, session.signal));
      turn = looking.catch(() => undefined);
      const found = await looking;
      bytes += found.bytes;
      files += found.files;
      checkBounds(wanted.length, bytes, files);
      planned.push({ ...one, bytes: found.bytes, files: found.files, scripts: found.scripts, native: found.native });
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, wanted.length) }, work));
  return planned;
}

function withoutJson({ packageJson: _, ...rest }: Contents): Omit<Contents, 'packageJson'> {
  return rest;
}
