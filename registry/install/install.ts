/** From a plan to a plugin that is there: the way `add`, `update` and `sync` share. */
import { type CommandIO, type PluginInfo, shortPath } from 'newt-agent';
import type { Catalog } from '../catalog.ts';
import { digestCapabilities, entryOf, type InstalledVersion, type LockEntries, type LockEntry, readLock } from '../lock.ts';
import { failed, refused } from '../report.ts';
import { commit, withPrevious } from './commit.ts';
import { askConsent, type Consent, differences, provenanceOf, showPlan } from './consent.ts';
import { fetchPackage } from './fetch.ts';
import type { JournalLine } from './journal.ts';
import type { Plan } from './plan.ts';
import { type Concern, concernsOf } from './policy.ts';
import type { InstallSession } from './session.ts';
import { stage } from './stage.ts';
import { type InstallTarget, treeName, verifyTree } from './tree.ts';

export interface InstallRun {
  readonly target: InstallTarget;
  readonly session: InstallSession;
  readonly catalog: Catalog;
  readonly plugins: readonly PluginInfo[];
  readonly io: CommandIO;
  readonly consent: Consent;
  /** Show, and do nothing. */
  readonly dryRun: boolean;
  readonly now: () => number;
  /** Every question and remark goes here; with `--json` the plan is printed instead. */
  readonly json: boolean;
}

export type Outcome =
  | { readonly what: 'added' | 'updated' | 'unchanged' | 'mended'; readonly entry: InstalledVersion; readonly accepted: readonly string[] }
  | { readonly what: 'declined' | 'planned' };

/** @throws OperationalError with the reason it was not installed; nothing was changed then */
export async function install(plan: Plan, action: 'add' | 'update', run: InstallRun): Promise<Outcome> {
  const { target, session, catalog, plugins, io, consent, dryRun, json } = run;
  refuseTaken(plan, plugins, readLock(target.lock));
  const known = entryOf(readLock(target.lock), plan.id);
  const before = known && known.source !== 'link' ? known : undefined;
  const concerns = concernsOf(plan, { settings: session.settings, catalog, now: session.now, isYoung: (published) => session.packuments.isYoung(published), before });
  const drafted = draft(plan, new Date(run.now()).toISOString());
  const isSame = before !== undefined && treeName(before) === treeName(drafted);
  if (dryRun) {
    if (json) io.json(planAsJson(plan, concerns, session.now, before));
    else tell(plan, concerns, before, run);
    return { what: 'planned' };
  }
  if (isSame && verifyTree(target, plan.id, before) === undefined) return { what: 'unchanged', entry: before, accepted: [] };

  let accepted: readonly string[] | undefined = [];
  // What was agreed to before, and was damaged since, is put back without a question.
  if (!isSame) {
    if (!json || !consent.yes) tell(plan, concerns, before, run);
    accepted = await askConsent(before ? `Update ${plan.id} to ${drafted.version}?` : `Add ${plan.id}?`, concerns, consent, io, session.signal);
  }
  if (!accepted) return { what: 'declined' };
  const { entry, isOurs } = await putInPlace(plan, isSame ? 'mend' : action, isSame ? before : drafted, before, accepted, run);
  return { what: isSame ? 'mended' : !isOurs ? 'unchanged' : before ? 'updated' : 'added', entry, accepted };
}

async function putInPlace(plan: Plan, action: NonNullable<JournalLine['action']>, wanted: Omit<InstalledVersion, 'contentDigest'>, seen: InstalledVersion | undefined, accepted: readonly string[], { target, session, plugins, io, now }: InstallRun): Promise<{ entry: InstalledVersion; isOurs: boolean }> {
  session.progress(`Installing ${plan.id}`);
  const staged = await stage(target, plan.packages, (one) => fetchPackage(one, session), session.signal);
  session.progress(undefined);
  const entry: InstalledVersion = { ...wanted, contentDigest: staged.contentDigest };
  try {
    session.signal.throwIfAborted();
  } catch (error) {
    staged.discard();
    throw error;
  }
  const there = await commit({
    target, action, id: plan.id, staged, accepted, now,
    // Somebody may have added another plugin of this id, or this very one, while the question stood.
    change(entries) {
      refuseTaken(plan, plugins, entries);
      const last = entryOf(entries, plan.id);
      const there = last && last.source !== 'link' ? treeName(last) : undefined;
      if (there === treeName(entry) && action !== 'mend' && last && last.source !== 'link' && verifyTree(target, plan.id, last) === undefined) return last;
      // What was agreed to was said against another version than the one that is there now.
      if (there !== treeName(entry) && there !== (seen && treeName(seen))) throw failed(`${plan.id} was changed while the question stood`, 'look at it, then try again: agent plugin list');
      return withPrevious(entry, last);
    },
  });
  io.progress?.(undefined);
  return there && there.source !== 'link' ? { entry: there, isOurs: there.addedAt === entry.addedAt } : { entry, isOurs: true };
}

function tell(plan: Plan, concerns: readonly Concern[], before: InstalledVersion | undefined, { session, io }: InstallRun): void {
  showPlan(plan, concerns, session.now, io);
  if (!before) return;
  const lines = differences(before, plan);
  io.say(lines.length === 0 ? 'Nothing changes against what is installed.' : `Against ${before.version}, which is installed:`);
  for (const line of lines) io.say(`  ${line}`);
}

/** @throws OperationalError where the id belongs to somebody else */
export function refuseTaken({ id, source, packages: [own] }: Pick<Plan, 'id' | 'source' | 'packages'>, plugins: readonly PluginInfo[], entries: LockEntries): void {
  refuseBuiltin(id, plugins);
  const other = entryOf(entries, id);
  if (!other) return;
  if (other.source === 'link') throw refused(`"${id}" was already added from ${shortPath(other.path)}`, `agent plugin remove ${id}, then add this one`);
  if (other.name !== own.name || other.source !== source) throw refused(`"${id}" was already added from ${placeOf(other)}, and this is ${own.name} from ${source === 'tarball' ? 'a file' : source === 'npm' ? 'the registry' : 'the catalog'}`, `agent plugin remove ${id}, then add this one`);
}

export function refuseBuiltin(id: string, plugins: readonly PluginInfo[]): void {
  if (plugins.some((plugin) => plugin.id === id && plugin.tier === 'builtin')) {
    throw refused(`"${id}" is the id of a built-in plugin`, 'give yours another id; plugins.replaces in your configuration lets it take the place of a built-in');
  }
}

/** Where an entry is from, for people. */
export function placeOf(entry: LockEntry): string {
  switch (entry.source) {
    case 'link':
      return shortPath(entry.path);
    case 'catalog':
      return `the catalog (${entry.name})`;
    default:
      return `${entry.source === 'npm' ? 'the npm registry' : 'a file'} (${entry.name})`;
  }
}

/** The entry a plan leads to, but for the digest of the tree, which is not there yet. */
export function draft({ source, asked, packages, manifest }: Plan, addedAt: string): Omit<InstalledVersion, 'contentDigest'> {
  const [own] = packages;
  return {
    source, asked, name: own.name, version: own.version, integrity: own.integrity,
    packages: Object.fromEntries(packages.map(({ place, version, integrity }) => [place, { version, integrity }])),
    capabilities: manifest.capabilities, capabilityDigest: digestCapabilities(manifest.capabilities),
    ...(own.facts?.publisher !== undefined && { publisher: own.facts.publisher }),
    ...(own.facts && { attested: own.facts.attested }),
    addedAt,
  };
}

export function planAsJson(plan: Plan, concerns: readonly Concern[], now: number, before: InstalledVersion | undefined): object {
  const [own] = plan.packages;
  return {
    dryRun: true, id: plan.id, source: plan.source, asked: plan.asked, name: own.name, version: own.version, integrity: own.integrity, capabilities: plan.manifest.capabilities,
    packages: plan.packages.map(({ place, name, version, integrity, bytes, scripts, native }) => ({ place, name, version, integrity, bytes, scripts, native })),
    bytes: plan.bytes, published: own.facts?.published === undefined ? null : new Date(own.facts.published).toISOString(), ageDays: own.facts?.published === undefined ? null : Math.floor((now - own.facts.published) / 86_400_000),
    publisher: own.facts?.publisher ?? null, provenance: provenanceOf(plan), concerns, changes: before ? differences(before, plan) : [], remarks: plan.remarks,
  };
}
