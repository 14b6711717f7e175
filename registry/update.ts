/** `agent plugin update` */
import { resolve } from 'node:path';
import { type Command, type CommandIO, command, isOperational, kernelControl, oneLine, type PluginContext } from 'newt-agent';
import gt from 'semver/functions/gt.js';
import type { Catalog } from './catalog.ts';
import { install, type InstallRun } from './install/install.ts';
import { makePlan, type Plan } from './install/plan.ts';
import type { Source } from './install/source.ts';
import type { InstallTarget } from './install/tree.ts';
import { installOptions, openRun, targetOf } from './install-run.ts';
import { interruptible } from './interrupts.ts';
import { entryOf, type InstalledVersion, type LockEntry, readLock } from './lock.ts';
import type { RegistryConfig } from './manifest.ts';
import { refused, reporting } from './report.ts';
import { unknownPlugin } from './unknown.ts';

interface Update {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly result: string;
}

/** Takes the newest version that fits what was asked for; the one before is kept for `rollback`. */
export function updateCommand(p: PluginContext<RegistryConfig>): Command {
  return command({
    description: 'Update plugins that were added; what changes is shown, and the version before is kept',
    arguments: [{ name: 'ids', description: 'Ids of plugins', variadic: true, values: 'plugins' }],
    options: [{ flags: '--all', description: 'Every plugin that was added' }, ...installOptions],
    examples: ['agent plugin update git', 'agent plugin update --all', 'agent plugin update --all --dry-run'],
    run: interruptible(reporting(async ({ arguments: { ids: given }, options }, { io, signal }) => {
      const target = targetOf(p, options['project'] === true);
      const entries = readLock(target.lock);
      const ids = options['all'] ? Object.keys(entries).filter((id) => entries[id]?.source !== 'link') : [given ?? []].flat().map(String);
      if (ids.length === 0 && !options['all']) throw refused('which plugins?', 'name them, or --all');
      const known = ids.map((id) => [id, installedOf(id, entryOf(entries, id), Object.keys(entries))] as const);
      const run = await openRun(p, options, io, signal);
      const done: Update[] = [];
      for (const [id, entry] of known) {
        try {
          done.push(await update(id, entry, { ...run, json: false }, p.use(kernelControl).version, options['json'] ? silent(io) : io));
        } catch (error) {
          // One that cannot be updated keeps no other from it.
          if (known.length === 1 || !isOperational(error)) throw error;
          io.progress?.(undefined);
          io.say(`${id} was not updated: ${oneLine(error.message, 1_000)}`);
          if (typeof error.details['hint'] === 'string') io.say(`  ${oneLine(error.details['hint'], 1_000)}`);
          done.push({ id, from: entry.version, to: entry.version, result: 'failed' });
        }
      }
      if (run.json) io.json(done);
      else if (done.length === 0) io.print('No plugin was added from a package.');
      return done.some(({ result }) => result === 'declined' || result === 'failed') ? 1 : 0;
    })),
  });
}

async function update(id: string, entry: InstalledVersion, run: InstallRun, version: string, io: CommandIO): Promise<Update> {
  const plan = await makePlan(sourceOf(entry, run.catalog, run.target), entry.asked, run.session, version);
  const told = (result: string, to = entry.version): Update => ({ id, from: entry.version, to, result });
  if (plan.id !== id) throw refused(`the new ${entry.name} calls itself "${plan.id}", not "${id}"`, `it is another plugin now: agent plugin remove ${id}, then add it again`);
  // Somebody accepted a younger one than is taken by itself.
  if (isOlder(plan, entry)) {
    io.print(`${io.style.cyan(id)} ${entry.version} is up to date`);
    return told('unchanged');
  }
  const outcome = await install(plan, 'update', { ...run, io });
  switch (outcome.what) {
    case 'planned':
      return told('planned', plan.packages[0].version);
    case 'declined':
      io.say(`${id} stays as it is.`);
      return told('declined');
    case 'unchanged':
      io.print(`${io.style.cyan(id)} ${entry.version} is up to date`);
      return told('unchanged');
    default:
      io.print(`${outcome.what === 'mended' ? 'Mended' : 'Updated'} ${io.style.cyan(id)} from ${oneLine(entry.version, 40)} to ${oneLine(outcome.entry.version, 40)}`);
      io.say(`It takes effect at the next start. To go back: agent plugin rollback ${id}`);
      return told(outcome.what, outcome.entry.version);
  }
}

function isOlder({ source, packages: [own] }: Plan, entry: InstalledVersion): boolean {
  return source === 'npm' && gt(entry.version, own.version);
}

/** @throws OperationalError for a plugin that was not installed as a package */
export function installedOf(id: string, entry: LockEntry | undefined, known: readonly string[]): LockEntry & InstalledVersion {
  if (!entry) throw unknownPlugin(id, known);
  if (entry.source === 'link') throw refused(`${id} is used where it lies: it is always what is in its folder`, `change it there; agent plugin add ${entry.path} agrees to what it asks for now`);
  return entry;
}

/** What was asked for, to be asked again. */
export function sourceOf({ source, asked, name }: InstalledVersion, catalog: Catalog, { project }: InstallTarget): Exclude<Source, { kind: 'folder' }> {
  if (source === 'npm') return { kind: 'npm', name, range: asked.slice(name.length + 1) };
  if (source === 'tarball') return { kind: 'tarball', path: project === undefined ? asked : resolve(project, asked) };
  const found = Object.hasOwn(catalog, asked) ? catalog[asked] : undefined;
  if (!found) throw refused(`the catalog of this newt-agent has no plugin "${asked}"`, 'update newt-agent, or remove the plugin');
  return { kind: 'catalog', name: asked, folder: found.folder, package: found.package };
}

/** What is printed as JSON in the end is not printed before. */
function silent(io: CommandIO): CommandIO {
  return { ...io, print: () => undefined };
}
