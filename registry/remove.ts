/** `agent plugin remove` */
import { type Command, command, type ConfigControl, configControl, forgetFaults, kernelControl, type OperationalError, type PluginContext, type PluginInfo, shortPath } from 'newt-agent';
import { type LockEntry, lockFile, readLock, updateLock } from './lock.ts';
import { refused, reporting } from './report.ts';
import { unknownPlugin } from './unknown.ts';

/** Takes a plugin out of the lock file. For one that is not in it, says where it lives and how to turn it off. */
export function removeCommand(p: PluginContext): Command {
  return command({
    description: 'Remove a plugin that was added; its folder stays as it is',
    arguments: [{ name: 'id', description: 'Id of the plugin', required: true, values: 'plugins' }],
    examples: ['agent plugin remove hello'],
    run: reporting(async ({ arguments: { id: given } }, { io }) => {
      const id = String(given);
      const control = p.use(kernelControl);
      const file = lockFile(control.paths);
      const plugins = control.plugins();
      const key = keyOf(id, readLock(file), plugins);
      if (key === undefined) throw notAdded(id, plugins, p.use(configControl));
      let removed: LockEntry | undefined;
      await updateLock(file, ({ [key]: entry, ...others }) => {
        removed = entry;
        return others;
      });
      // One of the same id that lives elsewhere keeps its record.
      const gone = plugins.filter(({ id: one, path }) => one === id || path === removed?.path);
      for (const one of new Set([id, ...gone.map((plugin) => plugin.id)])) {
        if (!plugins.some((plugin) => plugin.id === one && plugin.path !== removed?.path)) forgetFaults(control.paths.state, one);
      }
      io.print(`Removed ${io.style.cyan(id)}${removed ? `; its folder ${shortPath(removed.path)} is untouched` : ''}`);
      return 0;
    }),
  });
}

/** A folder without a manifest is added under its own name, and tells its id only when it runs. */
function keyOf(id: string, entries: Readonly<Record<string, LockEntry>>, plugins: readonly PluginInfo[]): string | undefined {
  if (Object.hasOwn(entries, id)) return id;
  const path = plugins.find((plugin) => plugin.id === id && plugin.tier === 'npm')?.path;
  return Object.keys(entries).find((key) => entries[key]?.path === path);
}

function notAdded(id: string, plugins: readonly PluginInfo[], { config }: ConfigControl): OperationalError {
  const plugin = plugins.find((one) => one.id === id);
  if (!plugin) return unknownPlugin(id, plugins.map((one) => one.id));
  const disabled = config.get('plugins.disabled');
  const list = JSON.stringify([...new Set([...(Array.isArray(disabled) ? disabled : []), id])]);
  const off = `agent config set plugins.disabled '${list}'`;
  if (plugin.tier === 'builtin') return refused(`${id} is built in and cannot be removed`, `to turn it off: ${off}`);
  return refused(`${id} was not added with agent plugin add: it is the ${plugin.tier} plugin at ${shortPath(plugin.path)}`, `delete it there, or turn it off: ${off}`);
}
