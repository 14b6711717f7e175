/** What the registry says of packages: fetched within bounds, cached, and rebuilt from the few fields that are used. */
import { OperationalError, z } from 'newt-agent';
import validRange from 'semver/ranges/valid.js';
import { packageNamePattern } from '../lock.ts';
import { refused } from '../report.ts';
import type { DownloadCache } from './cache.ts';
import { type Bounds, download, Unreachable } from './transport.ts';

/** One version, as the registry tells it. What lies in the tarball is looked at later, and counts more. */
export interface VersionFacts {
  readonly tarball: string;
  readonly integrity: string | undefined;
  /** Milliseconds since the epoch; undefined where the registry does not say. */
  readonly published: number | undefined;
  readonly publisher: string | undefined;
  readonly attested: boolean;
  readonly deprecated: string | undefined;
  /** Bytes, as the publisher's tool counted them. */
  readonly unpackedSize: number;
  /** Specs that are no version and no range: a git address, a URL, a file, another name. By `name: spec`. */
  readonly exotic: readonly string[];
}

export interface PackageFacts {
  readonly name: string;
  /** When the first version was published. */
  readonly firstPublished: number | undefined;
  readonly versions: ReadonlyMap<string, VersionFacts>;
}

/** What the resolver reads. */
export type Packument = Readonly<Record<string, unknown>>;

interface Known {
  readonly facts: PackageFacts;
  readonly manifests: ReadonlyMap<string, Packument>;
  readonly tags: ReadonlyMap<string, string>;
}

export interface PackumentOptions {
  readonly registryOf: (name: string) => string;
  readonly cache: DownloadCache;
  /** Ask nobody: what is cached has to do. */
  readonly offline: boolean;
  readonly bounds: Omit<Bounds, 'maxBytes'>;
  readonly now: number;
  /** Milliseconds since the epoch: what is younger is not seen. */
  readonly before: number;
}

const maxBytes = 64_000_000;
/** A package of the host is never installed: its plugins get the one that is running. */
export const hostPackages: readonly string[] = ['newt-agent', 'zod'];

const text = z.string().catch('').transform((value) => value || undefined);
const map = z.record(z.string(), z.unknown()).catch({});
const distSchema = z.object({ tarball: z.string(), integrity: text, unpackedSize: z.number().catch(0), attestations: z.unknown().optional() });
const versionSchema = z.object({ name: z.string(), version: z.string(), dist: distSchema, dependencies: map, optionalDependencies: map, peerDependencies: map, peerDependenciesMeta: map, engines: map, os: z.unknown().optional(), cpu: z.unknown().optional(), libc: z.unknown().optional(), deprecated: text, _npmUser: z.object({ name: text }).catch({ name: undefined }) });
const packumentSchema = z.object({ name: z.string(), 'dist-tags': map, time: map, versions: map });

export class Packuments {
  readonly #options: PackumentOptions;
  readonly #known = new Map<string, Promise<Known>>();
  /** Packages that only have a version that is too young, and are seen whole. */
  readonly #seenWhole = new Set<string>();
  /** Whether something came from the cache because the registry could not be reached. */
  fellBack = false;

  constructor(options: PackumentOptions) {
    this.#options = options;
  }

  /** @throws OperationalError for a package that is not there, or an answer that makes no sense */
  async facts(name: string): Promise<PackageFacts> {
    return (await this.#load(name)).facts;
  }

  /** As the resolver wants it: without the versions that are too young. */
  async packument(name: string): Promise<Packument> {
    const { facts, manifests, tags } = await this.#load(name);
    if (manifests.size === 0) throw refused(`the registry has no version of ${name}`, 'it may have been taken back');
    const old = [...manifests].filter(([version]) => this.#isSeen(name, facts.versions.get(version)));
    // Where all are too young, that is what is to be said of whichever is taken.
    const versions = old.length > 0 ? old : [...manifests];
    const seen = new Map(versions);
    return { name, 'dist-tags': Object.fromEntries([...tags].filter(([, version]) => seen.has(version))), versions: Object.fromEntries(versions) };
  }

  /** From now on all versions of `name` are seen. @returns false when nothing was hidden */
  async unveil(name: string): Promise<boolean> {
    const { facts } = await this.#load(name);
    if (this.#seenWhole.has(name) || [...facts.versions.values()].every((one) => this.#isSeen(name, one))) return false;
    this.#seenWhole.add(name);
    return true;
  }

  isYoung(published: number | undefined): boolean {
    return published === undefined || published > this.#options.before;
  }

  #isSeen(name: string, facts: VersionFacts | undefined): boolean {
    return this.#seenWhole.has(name) || (facts !== undefined && !this.isYoung(facts.published));
  }

  #load(name: string): Promise<Known> {
    const loading = this.#known.get(name) ?? this.#fetch(name);
    this.#known.set(name, loading);
    return loading;
  }

  async #fetch(name: string): Promise<Known> {
    if (!packageNamePattern.test(name) || name.length > 214 || name === 'node_modules') throw refused(`"${name.slice(0, 60)}" is no name of a package`);
    const { registryOf, cache, offline, bounds } = this.#options;
    const registry = registryOf(name);
    const key = `packument:${registry}${name}`;
    if (offline) {
      const kept = await cache.text(key);
      if (kept === undefined) throw refused(`nothing is known of ${name} without the network`, 'leave --offline out');
      return understand(name, kept);
    }
    try {
      const body = await download(`${registry}${name.replace('/', '%2f')}`, 'application/json', { ...bounds, maxBytes });
      if (body === undefined) throw refused(`there is no package ${name} in the registry`, 'agent plugin add also takes ./folder, file.tgz and the names that agent plugin search shows');
      const known = understand(name, body.toString('utf8'));
      await cache.keepText(key, body);
      return known;
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      const kept = await cache.text(key);
      if (kept === undefined) throw new OperationalError(`the registry ${error.message}`, { hint: 'try again later; install.registry names another one' }, { cause: error });
      this.fellBack = true;
      return understand(name, kept);
    }
  }
}

function understand(name: string, body: string): Known {
  const parsed = packumentSchema.safeParse(parseJson(name, body));
  if (!parsed.success || parsed.data.name !== name) throw refused(`what the registry says of ${name} makes no sense: ${parsed.success ? `it speaks of ${parsed.data.name.slice(0, 60)}` : (parsed.error.issues[0]?.path.join('.') ?? 'not a package')}`);
  const times = new Map(Object.entries(parsed.data.time).map(([version, time]) => [version, typeof time === 'string' ? Date.parse(time) : Number.NaN] as const));
  const read = Object.entries(parsed.data.versions).flatMap(([version, told]) => {
    const one = versionSchema.safeParse(told);
    // One version that is damaged, or that calls itself something else, is one that is not there.
    return one.success && one.data.name === name && one.data.version === version ? [[version, one.data] as const] : [];
  });
  const first = Math.min(...[...times].flatMap(([key, time]) => (key === 'modified' || Number.isNaN(time) ? [] : [time])));
  return {
    facts: { name, firstPublished: Number.isFinite(first) ? first : undefined, versions: new Map(read.map(([version, told]) => [version, factsOf(told, times.get(version))])) },
    manifests: new Map(read.map(([version, told]) => [version, manifestOf(told)])),
    tags: new Map(Object.entries(parsed.data['dist-tags']).flatMap(([tag, version]) => (typeof version === 'string' ? [[tag, version] as const] : []))),
  };
}

/** Without `__proto__`: what is built of it must not have another's prototype. */
function parseJson(name: string, body: string): unknown {
  try {
    return JSON.parse(body, function (this: unknown, key, value: unknown) {
      return key === '__proto__' ? undefined : value;
    });
  } catch {
    throw refused(`what the registry says of ${name} is no JSON`, 'install.registry may name something that is no registry');
  }
}

type Told = z.output<typeof versionSchema>;

function factsOf(told: Told, published: number | undefined): VersionFacts {
  const { dist, _npmUser, deprecated } = told;
  const all = Object.entries({ ...told.dependencies, ...told.optionalDependencies });
  return {
    tarball: dist.tarball,
    integrity: dist.integrity,
    published: published === undefined || Number.isNaN(published) ? undefined : published,
    publisher: _npmUser.name,
    attested: typeof dist.attestations === 'object' && dist.attestations !== null,
    deprecated,
    unpackedSize: dist.unpackedSize,
    exotic: exoticSpecs(all),
  };
}

/** Only what resolving needs: bundled packages and shrink-wraps are not among it, so that every package comes from the registry. */
function manifestOf({ name, version, dist, dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta, engines, os, cpu, libc }: Told): Packument {
  return {
    name, version, dist: { tarball: dist.tarball, integrity: dist.integrity }, engines, ...(os !== undefined && { os }), ...(cpu !== undefined && { cpu }), ...(libc !== undefined && { libc }),
    dependencies: strings(dependencies, ['newt-agent']), optionalDependencies: strings(optionalDependencies, ['newt-agent']), peerDependencies: strings(peerDependencies, hostPackages), peerDependenciesMeta,
  };
}

/** Entries whose name could be a package and whose spec is text. */
export function strings(given: Readonly<Record<string, unknown>>, without: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(Object.entries(given).flatMap(([name, spec]) => (packageNamePattern.test(name) && typeof spec === 'string' && !without.includes(name) ? [[name, spec]] : [])));
}

/** Those that name no version and no range. */
export function exoticSpecs(dependencies: readonly (readonly [string, unknown])[]): string[] {
  return dependencies.flatMap(([name, spec]) => (packageNamePattern.test(name) && typeof spec === 'string' && isRange(spec) ? [] : [`${name.slice(0, 80)}: ${String(spec).slice(0, 120)}`]));
}

/** A version or a range of them; a tag, an address, a path or another name is none. */
export function isRange(spec: string): boolean {
  return validRange(spec) !== null;
}
