/** `agent plugin remove` */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, command, type ConfigControl, configControl, forgetFaults, kernelControl, oneLine, type OperationalError, type PluginContext, type PluginInfo, shortPath } from 'newt-agent';
import { readManifest } from '../kernel/manifest.ts';
import type { HomePaths } from '../kernel/paths.ts';
import { commit } from './install/commit.ts';
import { type InstallTarget, pluginFolder } from './install/tree.ts';
import { targetOf } from './install-run.ts';
import { entryOf, type LockEntries, type LockEntry, readLock } from './lock.ts';
import type { RegistryConfig } from './manifest.ts';
import { refused, reporting } from './report.ts';
import { disabledKey, readDisabled } from './switch.ts';
import { unknownPlugin } from './unknown.ts';

/** Takes a plugin out, with everything it left. For one that was not added, says where it lives and how to turn it off. */
export function removeCommand(p: PluginContext<RegistryConfig>): Command {
  return command({
    description: 'Remove a plugin that was added, with what it left; a folder that was linked stays',
    arguments: [{ name: 'id', description: 'Id of the plugin', required: true, values: 'plugins' }],
    options: [
      { flags: '-y, --yes', description: 'Do not ask; also removes its part of your configuration' },
      { flags: '--project', description: 'From the project, not from your own plugins' },
      { flags: '--json', description: 'Print JSON' },
    ],
    examples: ['agent plugin remove hello', 'agent plugin remove hello --yes'],
    run: reporting(async ({ arguments: { id: given }, options }, { io, signal }) => {
      const id = String(given);
      const control = p.use(kernelControl);
      const config = p.use(configControl);
      const target = targetOf(p, options['project'] === true);
      const plugins = control.plugins();
      const key = keyOf(id, readLock(target.lock), plugins, target);
      if (key === undefined) throw notAdded(id, plugins, options['project'] === true);
      refuseNeeded(id, key, target, plugins);
      let removed: LockEntry | undefined;
      await commit({
        target, action: 'remove', id: key, now: () => p.now(),
        change(entries) {
          removed = entryOf(entries, key);
          return undefined;
        },
      });
      const path = removed === undefined ? undefined : removed.source === 'link' ? removed.path : pluginFolder(target, key, removed);
      // One of the same id that lives elsewhere keeps its record.
      const gone = plugins.filter(({ id: one, path: at }) => one === id || at === path);
      const ids = [...new Set([id, ...gone.map((plugin) => plugin.id)])].filter((one) => !plugins.some((plugin) => plugin.id === one && plugin.path !== path));
      for (const one of ids) forget(control.paths, one);
      const settings = ids.includes(id) ? await dropSettings(id, config, options['yes'] === true, (question) => io.confirm(question, signal)) : 'none';
      await forgetSwitch(id, config);
      if (options['json']) io.json({ id, removed: true, source: removed?.source ?? null, settings });
      else io.print(`Removed ${io.style.cyan(id)}${removed?.source === 'link' ? `; its folder ${shortPath(removed.path)} is untouched` : ''}`);
      if (settings === 'kept') io.say(`Its settings stay: plugins.config.${id} in ${shortPath(config.globalFile)}. To drop them: agent config unset plugins.config.${id}`);
      return 0;
    }),
  });
}

/** A folder without a manifest is added under its own name, and tells its id only when it runs. */
function keyOf(id: string, entries: LockEntries, plugins: readonly PluginInfo[], target: InstallTarget): string | undefined {
  if (Object.hasOwn(entries, id)) return id;
  const path = plugins.find((plugin) => plugin.id === id && plugin.tier === 'npm')?.path;
  if (path === undefined) return undefined;
  return Object.entries(entries).find(([key, entry]) => (entry.source === 'link' ? entry.path : pluginFolder(target, key, entry)) === path)?.[0];
}

/** @throws OperationalError when another plugin would not run without it */
function refuseNeeded(id: string, key: string, target: InstallTarget, plugins: readonly PluginInfo[]): void {
  const added = Object.entries(readLock(target.lock)).map(([one, entry]) => [one, entry.source === 'link' ? entry.path : pluginFolder(target, one, entry)] as const);
  const others = [...added, ...plugins.filter(({ tier }) => tier !== 'builtin').map((plugin) => [plugin.id, plugin.path] as const)];
  const needing = [...new Set(others.flatMap(([one, folder]) => (one !== key && one !== id && needs(folder, one, id) ? [one] : [])))];
  if (needing.length > 0) throw refused(`${needing.map((one) => oneLine(one)).join(', ')} ${needing.length === 1 ? 'needs' : 'need'} ${id}`, `remove ${needing.length === 1 ? 'it' : 'them'} first: ${needing.map((one) => `agent plugin remove ${one}`).join('; ')}`);
}

function needs(folder: string, name: string, id: string): boolean {
  try {
    return Object.hasOwn(readManifest(folder, name)?.manifest.requires.plugins ?? {}, id);
  } catch {
    return false; // one that cannot be read does not run, with or without it
  }
}

/** Everything but the faults, which have a lock of their own, is deleted as it lies. */
function forget({ state }: HomePaths, id: string): void {
  forgetFaults(state, id);
  const logs = join(state, 'logs', `${id.replace(/[^\w-]/g, '_')}.log`);
  const health = join(state, 'health');
  const records = existsSync(health) ? readdirSync(health).filter((name) => name.startsWith(`${id}-`) && /^[0-9a-f]{16}\.json$/.test(name.slice(id.length + 1))) : [];
  for (const file of [join(state, 'plugins', `${id}.json`), logs, `${logs}.old`, ...records.map((name) => join(health, name))]) rmSync(file, { force: true });
}

async function dropSettings(id: string, { config, globalFile, unset }: ConfigControl, yes: boolean, ask: (question: string) => Promise<boolean | undefined>): Promise<'none' | 'removed' | 'kept'> {
  const key = `plugins.config.${id}`;
  if (config.get(key) === undefined) return 'none';
  if (!yes && !(await ask(`Also remove its settings (${key}) from ${shortPath(globalFile)}?`))) return 'kept';
  return (await unset(key, globalFile)) ? 'removed' : 'none';
}

/** What is gone need not be turned off; one of the same name that comes later is another. */
async function forgetSwitch(id: string, config: ConfigControl): Promise<void> {
  const { own } = await readDisabled(config);
  if (!own.includes(id)) return;
  const rest = own.filter((one) => one !== id);
  if (rest.length === 0) await config.unset(disabledKey, config.globalFile);
  else await config.set(disabledKey, JSON.stringify(rest), config.globalFile);
}

function notAdded(id: string, plugins: readonly PluginInfo[], isProject: boolean): OperationalError {
  const plugin = plugins.find((one) => one.id === id);
  if (!plugin) return unknownPlugin(id, plugins.map((one) => one.id));
  const off = `agent plugin disable ${id}`;
  if (plugin.tier === 'builtin') return refused(`${id} is built in and cannot be removed`, `to turn it off: ${off}`);
  if (plugin.tier === 'npm') return refused(`${id} is ${isProject ? 'one of your own plugins' : 'a plugin of this project'}`, `agent plugin remove ${id}${isProject ? '' : ' --project'}`);
  return refused(`${id} was not added with agent plugin add: it is the ${plugin.tier} plugin at ${shortPath(plugin.path)}`, `delete it there, or turn it off: ${off}`);
}
