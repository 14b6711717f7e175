/** The plan as a person sees it before anything is done, and the questions it leads to. */
import { type CommandIO, oneLine, shortPath } from 'newt-agent';
import { describeCapabilities } from '../capabilities.ts';
import { count, factLines, textColumns } from '../layout.ts';
import type { InstalledVersion } from '../lock.ts';
import { refused } from '../report.ts';
import type { Plan } from './plan.ts';
import { type Concern, type ConcernName, concernNames, megabytes } from './policy.ts';

export interface Consent {
  /** Do not ask; accepts no concern. */
  readonly yes: boolean;
  readonly accept: readonly ConcernName[];
}

const dayMs = 86_400_000;

/** `--accept scripts,young`. @throws OperationalError for a word that names no concern */
export function readConsent(options: Readonly<Record<string, string | boolean | undefined>>): Consent {
  const words = typeof options['accept'] === 'string' ? options['accept'].split(',').map((word) => word.trim()).filter((word) => word !== '') : [];
  const accept = words.map((word) => concernNames.find((name) => name === word) ?? unknownConcern(word));
  return { yes: options['yes'] === true, accept };
}

function unknownConcern(word: string): never {
  throw refused(`--accept ${word}: there is no such concern`, `concerns are ${concernNames.join(', ')}`);
}

/** In words that promise nothing: an attestation that is there has not been checked. */
export function provenanceOf({ source, packages }: Plan): string {
  if (source === 'catalog') return 'ships with this newt-agent';
  if (source === 'tarball') return 'could not be verified: it is a file';
  return packages[0].facts?.attested ? 'could not be verified: the registry shows an attestation, which was not checked' : 'could not be verified: the registry shows no attestation';
}

/** What is about to be installed. */
export function showPlan(plan: Plan, concerns: readonly Concern[], now: number, io: CommandIO): void {
  const { id, manifest, packages, bytes, asked, source, remarks } = plan;
  const [own, ...others] = packages;
  const published = own.facts?.published;
  const starts = manifest.activateOn.filter((event) => event !== 'onStartup');
  const needs = Object.entries(manifest.requires.plugins ?? {});
  const from = { npm: `the package ${own.name} of the npm registry`, tarball: `the file ${shortPath(asked)}`, catalog: `${own.name}, a plugin of newt-agent itself` }[source];
  const facts: [string, string][] = [
    ['from', from],
    ['version', oneLine(own.version, 60)],
    ...(source === 'npm' ? ([['published', `${published === undefined ? 'nobody says when' : age(now - published)}, by ${oneLine(own.facts?.publisher ?? 'nobody who is named', 60)}`]] as [string, string][]) : []),
    ['asks for', describeCapabilities(manifest.capabilities)],
    ...(starts.length > 0 ? ([['starts at', starts.map((event) => oneLine(event, 60)).join(', ')]] as [string, string][]) : []),
    ...(needs.length > 0 ? ([['needs', needs.map(([plugin, range]) => `the plugin ${oneLine(plugin, 60)} ${oneLine(range, 60)}`).join(', ')]] as [string, string][]) : []),
    ['packages', `${count(packages.length, 'package')}, ${megabytes(bytes)} unpacked${others.length > 0 ? `: ${others.slice(0, 12).map(({ name, version }) => `${name} ${version}`).join(', ')}${others.length > 12 ? ` and ${others.length - 12} more` : ''}` : ''}`],
    ['integrity', `${own.integrity.slice(0, 31)}… (all ${packages.length} verified)`],
    ['provenance', provenanceOf(plan)],
  ];
  io.say(`This installs the plugin ${oneLine(id)}:`);
  for (const line of factLines(facts, { columns: textColumns(io) })) io.say(line);
  if (own.facts?.deprecated !== undefined) io.say(`Its author says it is out of use: ${oneLine(own.facts.deprecated, 200)}`);
  for (const remark of remarks) io.say(remark);
  for (const { name, text } of concerns) io.say(io.style.yellow(`⚠ ${name}: ${oneLine(text, 500)}`));
  io.say('A plugin runs with your rights: what it asks for is a declaration, not a sandbox.');
}

/** What an update changes, as lines: capabilities and packages. */
export function differences(before: InstalledVersion, plan: Plan): string[] {
  const { capabilities } = plan.manifest;
  const after = new Map(plan.packages.map(({ place, version }) => [place, version]));
  const nameOf = (place: string): string => place.replace(/^node_modules\//, '').replaceAll('/node_modules/', ' > ');
  const changed = [...after].flatMap(([place, version]) => {
    const was = Object.hasOwn(before.packages, place) ? before.packages[place] : undefined;
    if (!was) return [`+ ${nameOf(place)} ${version}`];
    return was.version === version ? (was.integrity === plan.packages.find((one) => one.place === place)?.integrity ? [] : [`~ ${nameOf(place)} ${version}, other content`]) : [`~ ${nameOf(place)} ${was.version} to ${version}`];
  });
  const gone = Object.entries(before.packages).flatMap(([place, { version }]) => (after.has(place) ? [] : [`- ${nameOf(place)} ${version}`]));
  return [
    ...capabilities.filter((one) => !before.capabilities.includes(one)).map((one) => `+ asks for ${describeCapabilities([one])}`),
    ...before.capabilities.filter((one) => !capabilities.includes(one)).map((one) => `- no longer asks for ${one}`),
    ...changed,
    ...gone,
  ];
}

/**
 * Asks for every concern that was not accepted by name, then whether to go on.
 *
 * @returns the concerns that were accepted; undefined when the person says no
 * @throws OperationalError where nobody can be asked
 */
export async function askConsent(question: string, concerns: readonly Concern[], { yes, accept }: Consent, io: CommandIO, signal: AbortSignal): Promise<readonly ConcernName[] | undefined> {
  const open = concerns.filter(({ name }) => !accept.includes(name));
  const byName = `${yes ? '' : '--yes '}--accept ${[...new Set([...accept, ...open.map(({ name }) => name)])].join(',')}`;
  if (yes && open.length > 0) throw needsAccepting(open, byName);
  // The texts stand right above, in the plan: a long question would be broken by the terminal.
  for (const name of new Set(open.map((one) => one.name))) {
    const answer = await io.confirm(`Accept what is said of ${name}?`, signal);
    signal.throwIfAborted();
    if (answer === undefined) throw needsAccepting(open, byName);
    if (!answer) return undefined;
  }
  const answer = yes ? true : await io.confirm(question, signal);
  signal.throwIfAborted();
  if (answer === undefined) throw refused(`nobody can be asked: ${question}`, '--yes goes on without asking');
  return answer ? [...new Set(concerns.map(({ name }) => name))] : undefined;
}

function needsAccepting(open: readonly Concern[], byName: string): Error {
  return refused(`it was not installed: ${open.map(({ name, text }) => `${name} (${oneLine(text, 300)})`).join('; ')}`, `to accept that by name: ${byName}`);
}

function age(ms: number): string {
  const days = Math.floor(ms / dayMs);
  if (ms < 0) return 'in the future, it says';
  if (days < 1) return 'today';
  return days < 60 ? `${count(days, 'day')} ago` : `${count(Math.floor(days / 30), 'month')} ago`;
}
