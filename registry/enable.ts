/** `agent plugin enable` */
import { type Command, command, configControl, type PluginContext, type PluginInfo, shortPath, wrap } from 'newt-agent';
import { textColumns } from './layout.ts';
import { reporting } from './report.ts';
import { disabledKey, namedIds, pluginsById, readDisabled } from './switch.ts';

/** Takes plugins out of `plugins.disabled` of the person's own configuration, and says what still keeps them off. */
export function enableCommand(p: PluginContext): Command {
  return command({
    description: 'Turn plugins on again, from the next start on',
    arguments: [{ name: 'id', description: 'Ids of plugins', required: true, variadic: true, values: 'plugins' }],
    options: [{ flags: '--json', description: 'Print JSON' }],
    examples: ['agent plugin enable my-plugin', 'agent plugin enable one two', 'agent plugin enable my-plugin --json'],
    run: reporting(async ({ arguments: { id: given }, options }, { io }) => {
      const control = p.use(configControl);
      const plugins = pluginsById(p);
      const before = await readDisabled(control);
      // One that is off and gone may still be taken off the list.
      const ids = namedIds(given, [...new Set([...plugins.keys(), ...before.own, ...before.effective])]);
      const removed = ids.filter((id) => before.own.includes(id));
      // From the end on, so that the places of the others stay what they are; named twice, it is taken out twice.
      const places = before.own.flatMap((id, at) => (removed.includes(id) ? [at] : [])).reverse();
      for (const place of places) await control.unset(`${disabledKey}.${place}`, control.globalFile);
      const after = await readDisabled(control);

      const told = ids.map((id) => ({ id, changed: removed.includes(id), off: after.effective.includes(id), missing: missing(id, plugins, after.effective) }));
      if (options['json']) io.json({ file: control.globalFile, plugins: told, disabled: after.effective });
      else {
        if (removed.length > 0) io.print(`Turned on ${io.style.cyan(removed.join(', '))} in ${shortPath(control.globalFile)}; at the next start ${removed.length === 1 ? 'it is' : 'they are'} loaded, unless something else keeps ${removed.length === 1 ? 'it' : 'them'} off`);
        for (const { id, changed, off } of told) if (!changed && !off) io.print(`${io.style.cyan(id)} is not turned off${stateOf(plugins.get(id))}`);
        const lines = told.flatMap(({ id, off, missing: needs }) => [
          ...(off && after.stronger ? [`${id} stays off in this folder: ${after.stronger.place} turns it off too, and is stronger; to change that: ${after.stronger.fix}`] : []),
          ...needs.map((one) => `${id} needs ${one}, which is ${plugins.has(one) ? `off: agent plugin enable ${one}` : 'not there'}`),
          ...(plugins.has(id) ? [] : [`there is no plugin ${id} now`]),
        ]);
        for (const line of lines) for (const part of wrap(`⚠ ${line}`, textColumns(io), 2)) io.say(io.style.yellow(part));
      }
      // A script must see what did not come about.
      return told.some(({ off }) => off) ? 1 : 0;
    }),
  });
}

function missing(id: string, plugins: ReadonlyMap<string, PluginInfo>, off: readonly string[]): string[] {
  return (plugins.get(id)?.requires ?? []).filter((one) => !plugins.has(one) || off.includes(one));
}

function stateOf(plugin: PluginInfo | undefined): string {
  if (plugin?.state === 'quarantined') return `, it is in quarantine: agent plugin release ${plugin.id}`;
  return plugin?.state === 'refused' ? `, it was refused: ${plugin.reason ?? 'no reason given'}` : '';
}
