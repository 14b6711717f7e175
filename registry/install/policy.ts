/** What is never installed, and what a person has to accept by name. */
import { describeCapabilities } from '../capabilities.ts';
import type { Catalog } from '../catalog.ts';
import type { InstalledVersion } from '../lock.ts';
import { refused } from '../report.ts';
import type { InstallSettings } from '../manifest.ts';
import { mistakenFor } from './names.ts';
import type { Plan, PlannedPackage } from './plan.ts';

export const concernNames = ['scripts', 'young', 'size', 'count', 'name', 'native', 'provenance', 'capabilities'] as const;
export type ConcernName = (typeof concernNames)[number];

/** Something that may be right, and that a person has to say so of. */
export interface Concern {
  readonly name: ConcernName;
  readonly text: string;
}

/** Of a whole plugin; a digest of it reads no more than this. */
const hard = { packages: 400, bytes: 200_000_000, files: 20_000 };
const newcomerDays = 90;
const dayMs = 86_400_000;
/** Packages that are named one by one. */
const maxNamed = 5;

/** @throws OperationalError beyond what any plugin may be, whatever is accepted */
export function checkBounds(packages: number, bytes: number, files: number): void {
  if (packages > hard.packages) throw refused(`it brings ${packages} packages, and more than ${hard.packages} are never installed`, 'tell its author');
  if (bytes > hard.bytes) throw refused(`it unpacks to more than ${hard.bytes / 1e6} MB, which is never installed`, 'tell its author');
  if (files > hard.files) throw refused(`it holds more than ${hard.files} files, which is never installed`, 'tell its author');
}

/** @throws OperationalError where a dependency is anything but a version or a range */
export function refuseExotic(what: string, exotic: readonly string[]): void {
  if (exotic.length > 0) throw refused(`${what} depends on what is no version of a package: ${exotic.slice(0, 3).join(', ')}`, 'git addresses, URLs, files, tags and other names are never installed; tell its author');
}

export interface PolicyContext {
  readonly settings: Pick<InstallSettings, 'max_packages' | 'max_mb' | 'min_age_days'>;
  readonly catalog: Catalog;
  readonly now: number;
  readonly isYoung: (published: number | undefined) => boolean;
  /** What was installed before, if anything. */
  readonly before: InstalledVersion | undefined;
}

/** Everything a person has to accept before this is installed. */
export function concernsOf(plan: Pick<Plan, 'packages' | 'bytes' | 'source' | 'manifest'>, { settings, catalog, now, isYoung, before }: PolicyContext): Concern[] {
  const { packages, bytes, source, manifest } = plan;
  const concerns: Concern[] = [];
  const add = (name: ConcernName, found: readonly PlannedPackage[], text: (names: string) => string): void => {
    if (found.length > 0) concerns.push({ name, text: text(named(found)) });
  };
  // What does not come from the registry was made or chosen by somebody who is known.
  const fetched = source === 'npm' ? packages : packages.slice(1);
  add('scripts', packages.filter(({ scripts }) => scripts.length > 0), (names) => `install scripts of ${names} never run: it may not work without them`);
  add('native', packages.filter(({ native }) => native), (names) => `${names} would be built from source, which is never done: it may not work`);
  add('young', fetched.filter(({ facts }) => isYoung(facts?.published)), (names) => `published less than ${settings.min_age_days} days ago, or nobody says when: ${names}`);
  if (packages.length > settings.max_packages) concerns.push({ name: 'count', text: `it brings ${packages.length} packages, more than ${settings.max_packages}` });
  if (bytes > settings.max_mb * 1e6) concerns.push({ name: 'size', text: `it takes ${megabytes(bytes)} unpacked, more than ${settings.max_mb} MB` });
  const firstParty = Object.entries(catalog).flatMap(([id, { package: name }]) => [id, name]);
  for (const { name } of fetched) {
    const known = mistakenFor(name, firstParty, name === packages[0].name);
    if (known !== undefined) concerns.push({ name: 'name', text: `${name} is almost ${known}: is it the one you mean?` });
  }
  add('name', fetched.filter(({ firstPublished }) => firstPublished !== undefined && now - firstPublished < newcomerDays * dayMs), (names) => `known for less than ${newcomerDays} days: ${names}`);
  // Whoever says yes to all updates has not said yes to that.
  const grown = before ? manifest.capabilities.filter((one) => !before.capabilities.includes(one)) : [];
  if (grown.length > 0) concerns.push({ name: 'capabilities', text: `it now also asks for ${describeCapabilities(grown)}` });
  return [...concerns, ...changesOfHands(packages[0], before)];
}

function changesOfHands({ name, facts }: PlannedPackage, before: InstalledVersion | undefined): Concern[] {
  if (!before || !facts) return [];
  const publisher = before.publisher !== undefined && facts.publisher !== before.publisher ? [`${name} is now published by ${facts.publisher ?? 'nobody who is named'}, before by ${before.publisher}`] : [];
  const attestation = before.attested && !facts.attested ? [`${name} no longer shows an attestation of where it was built, the version before did`] : [];
  return [...publisher, ...attestation].map((text) => ({ name: 'provenance', text }));
}

function named(packages: readonly PlannedPackage[]): string {
  const shown = packages.slice(0, maxNamed).map(({ name, version, scripts }) => `${name} ${version}${scripts.length > 0 ? ` (${scripts.join(', ')})` : ''}`);
  return packages.length > maxNamed ? `${shown.join(', ')} and ${packages.length - maxNamed} more` : shown.join(', ');
}

/** `1.2 MB`, `340 kB`. */
export function megabytes(bytes: number): string {
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.max(1, Math.round(bytes / 1e3))} kB`;
}
