/**
 * The kernel's `Installer`: packages that a plugin declares, into its own tree. It is asked by a program, so what a
 * person would have to accept is refused, and what no manifest and no lock file names is refused before anything is
 * looked for.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { disposable, type InstallRequest, type InstallResult, kernelControl, type PluginContext, trustControl } from 'newt-agent';
import satisfies from 'semver/functions/satisfies.js';
import { readCatalog } from '../catalog.ts';
import { entryOf, type InstalledEntry, packageNamePattern, readLock } from '../lock.ts';
import type { RegistryConfig } from '../manifest.ts';
import { diskProblem, refused } from '../report.ts';
import { commit } from './commit.ts';
import { fetchPackage } from './fetch.ts';
import { isRange } from './packuments.ts';
import { declaredBy, fetchAll, type PlannedPackage, withFacts } from './plan.ts';
import { concernsOf } from './policy.ts';
import { resolveTree } from './resolve.ts';
import { planOf, type Restorable, stageLocked } from './restore.ts';
import { type InstallSession, openInstall } from './session.ts';
import { stage, sweepStaging } from './stage.ts';
import { globalTarget, type InstallTarget, projectTarget, treeFolder, verifyTree } from './tree.ts';

type Context = PluginContext<RegistryConfig>;

/** @throws OperationalError with the reason nothing was installed */
export async function installDeclared(p: Context, { plugin, packages, signal }: InstallRequest): Promise<InstallResult> {
  for (const [name, spec] of Object.entries(packages)) {
    if (!packageNamePattern.test(name) || !isRange(spec)) throw refused(`${name}: ${spec} is no version of a package of the registry`, 'nothing else is ever installed');
  }
  const control = p.use(kernelControl);
  const { folder } = p.use(trustControl);
  const session = await openInstall(p, control.paths, { offline: false, signal });
  for (const target of [...(folder === undefined ? [] : [projectTarget(control.paths, folder)]), globalTarget(control.paths)]) {
    const entry = entryOf(readLock(target.lock), plugin);
    if (entry && entry.source !== 'link') return mend(p, plugin, entry, target, packages, session);
  }
  const info = control.plugins().find(({ id, tier }) => id === plugin && tier !== 'builtin');
  if (!info) throw refused(`there is no plugin "${plugin}" that packages could be installed for`, 'agent plugin list shows all');
  if (info.tier === 'project') throw refused(`${plugin} is a plugin of the project: what is installed into it would not be what was trusted`, 'install it there yourself, look at it, then: agent trust grant');
  return addTo(info.path, plugin, packages, session, p.now());
}

/** A plugin that was installed: its tree is made what the lock file says, and nothing is chosen anew. */
async function mend(p: Context, id: string, entry: InstalledEntry, target: InstallTarget, packages: InstallRequest['packages'], session: InstallSession): Promise<InstallResult> {
  const locked = new Map(Object.entries(entry.packages).map(([place, { version }]) => [place.replace(/^node_modules\//, ''), version]));
  for (const [name, spec] of Object.entries(packages)) {
    const version = locked.get(name);
    if (version === undefined) throw refused(`${id} does not declare ${name}: nothing in its lock file names it`, 'tell the author of the plugin; an undeclared package is never installed');
    if (!satisfies(version, spec, { includePrerelease: true })) throw refused(`${id} is locked to ${name} ${version}, which is not ${spec}`, `agent plugin update ${id}`);
  }
  const installed = Object.fromEntries(Object.keys(packages).map((name) => [name, locked.get(name) ?? '']));
  const place = treeFolder(target, id, entry);
  const state = verifyTree(target, id, entry);
  if (state === undefined) return { installed, undo: async () => undefined };
  const restorable: Restorable = { id, entry, target, session, catalog: readCatalog(), version: p.use(kernelControl).version };
  const staged = await stageLocked(await planOf(restorable), restorable);
  let damaged: string | undefined;
  try {
    await commit({ target, action: 'mend', id, staged, now: () => p.now(), change: (entries) => entryOf(entries, id), keepDamaged: (aside) => void (damaged = aside) });
  } catch (error) {
    staged.discard();
    throw error;
  }
  // The claim on the damaged tree is held until then: who else sweeps leaves it alone.
  const undo = async (): Promise<void> => {
    if (damaged !== undefined && existsSync(damaged)) {
      rmSync(place, { recursive: true, force: true });
      renameSync(damaged, place);
    }
    staged.discard();
  };
  p.own(disposable(() => staged.discard()));
  return { installed, undo };
}

/** A plugin that lies in a folder of the person's: each package it lacks is put into its `node_modules`, with all it needs below itself. */
async function addTo(folder: string, id: string, packages: InstallRequest['packages'], session: InstallSession, now: number): Promise<InstallResult> {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) throw refused(`${id} has no package.json, so it declares nothing`, 'tell the author of the plugin; an undeclared package is never installed');
  const packageJson = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, unknown>>;
  const { dependencies, optionalDependencies, peerDependencies } = declaredBy({ name: id, version: '', packageJson });
  const declared = { ...peerDependencies, ...optionalDependencies, ...dependencies };
  const wanted: Record<string, string> = {};
  for (const [name, spec] of Object.entries(packages)) {
    const range = Object.hasOwn(declared, name) ? declared[name] : undefined;
    if (range === undefined) throw refused(`${id} does not declare ${name} in its package.json`, 'tell the author of the plugin; an undeclared package is never installed');
    if (spec !== range && !satisfies(spec, range, { includePrerelease: true })) throw refused(`${id} declares ${name} ${range}, which ${spec} is not`, 'only what is declared is installed');
    wanted[name] = spec;
  }
  const resolved = await resolveTree({ dependencies: wanted, optionalDependencies: {}, peerDependencies: {} }, session.packuments, session.signal, 'nested');
  const planned = await fetchAll(await withFacts(resolved, session), session);
  refuseConcerns(id, planned, session, now);
  const modules = join(folder, 'node_modules');
  const target: InstallTarget = { lock: join(modules, '.lock'), trees: modules, journal: '', project: undefined };
  sweepStaging(target);
  const staged = await stage(target, planned, (one) => fetchPackage(one, session), session.signal);
  const tops = [...new Set(planned.map(({ place }) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(place)?.[1] ?? ''))];
  const moved: (() => void)[] = [];
  const back = (): void => {
    for (const undo of moved.splice(0).reverse()) undo();
    staged.discard();
  };
  try {
    for (const name of tops) {
      const [from, to, aside] = [join(staged.folder, 'node_modules', name), join(modules, name), join(staged.folder, 'before', name)];
      // What stands there and was not asked for is somebody's: a peer that is there already does.
      if (existsSync(to) && !Object.hasOwn(wanted, name)) continue;
      for (const one of [to, aside]) mkdirSync(dirname(one), { recursive: true });
      if (existsSync(to)) {
        renameSync(to, aside);
        moved.push(() => renameSync(aside, to));
      }
      renameSync(from, to);
      moved.push(() => rmSync(to, { recursive: true, force: true }));
    }
  } catch (error) {
    back();
    throw diskProblem(error, modules);
  }
  return { installed: Object.fromEntries(planned.flatMap(({ place, name, version }) => (place === `node_modules/${name}` ? [[name, version]] : []))), undo: async () => back() };
}

function refuseConcerns(id: string, planned: readonly PlannedPackage[], session: InstallSession, now: number): void {
  const [first] = planned;
  if (!first) return;
  const concerns = concernsOf(
    { packages: [first, ...planned.slice(1)], bytes: planned.reduce((sum, { bytes }) => sum + bytes, 0), source: 'npm', manifest: { id, version: '', engine: '*', requires: {}, activateOn: [], capabilities: [] } },
    { settings: session.settings, catalog: readCatalog(), now, isYoung: (published) => session.packuments.isYoung(published), before: undefined },
  );
  if (concerns.length > 0) throw refused(`packages of ${id} were not installed: ${concerns.map(({ name, text }) => `${name} (${text})`).join('; ')}`, 'a person has to decide: install them in the folder of the plugin');
}
