/** `agent plugin disable` */
import { type Command, type CommandIO, command, configControl, type PluginContext, type PluginInfo, shortPath, wrap } from 'newt-agent';
import { textColumns } from './layout.ts';
import { refused, reporting } from './report.ts';
import { disabledKey, gatesOf, namedIds, pluginsById, readDisabled } from './switch.ts';

/** Without these nobody could turn them on again. */
const needed: Readonly<Record<string, string>> = { cli: 'it is how you talk to the agent', registry: 'it has the commands of plugins, with which it would be turned on again' };

/** Adds plugins to `plugins.disabled` of the person's own configuration, and says who else is affected. */
export function disableCommand(p: PluginContext): Command {
  return command({
    description: 'Turn plugins off, from the next start on',
    arguments: [{ name: 'id', description: 'Ids of plugins', required: true, variadic: true, values: 'plugins' }],
    options: [{ flags: '--json', description: 'Print JSON' }],
    examples: ['agent plugin disable my-plugin', 'agent plugin disable one two', 'agent plugin disable my-plugin --json'],
    run: reporting(async ({ arguments: { id: given }, options }, { io }) => {
      const control = p.use(configControl);
      const plugins = pluginsById(p);
      const ids = namedIds(given, [...plugins.keys()]);
      const vital = ids.find((id) => Object.hasOwn(needed, id));
      if (vital !== undefined) throw refused(`${vital} cannot be turned off: ${needed[vital]}`);
      const before = await readDisabled(control);
      const added = ids.filter((id) => !before.own.includes(id));
      for (const [index, id] of added.entries()) await append(control, id, before.own.length + index);
      const after = await readDisabled(control);

      const told = ids.map((id) => ({ id, changed: added.includes(id), off: after.effective.includes(id), gates: gatesOf(plugins.get(id) as PluginInfo), loses: dependents(id, plugins, after.effective), isBuiltin: plugins.get(id)?.tier === 'builtin' }));
      if (options['json']) io.json({ file: control.globalFile, plugins: told.map(({ isBuiltin: _, ...one }) => one), disabled: after.effective });
      else {
        if (added.length > 0) io.print(`Turned off ${io.style.cyan(added.join(', '))} in ${shortPath(control.globalFile)}; at the next start ${added.length === 1 ? 'it is' : 'they are'} not loaded`);
        for (const { id, changed } of told) if (!changed) io.print(`${io.style.cyan(id)} is off already`);
        for (const line of told.flatMap((one) => consequences(one, after.stronger))) warn(io, line);
      }
      // A script must see what did not come about.
      return told.every(({ off }) => off) ? 0 : 1;
    }),
  });
}

interface Told {
  readonly id: string;
  readonly off: boolean;
  readonly gates: readonly string[];
  readonly loses: readonly string[];
  readonly isBuiltin: boolean;
}

function consequences({ id, off, gates, loses, isBuiltin }: Told, stronger: { readonly place: string; readonly fix: string } | undefined): string[] {
  const lines: string[] = [];
  if (off && isBuiltin) lines.push(`${id} is a part of the agent itself: what it does is gone; to have it back: agent plugin enable ${id}`);
  if (!off && stronger) lines.push(`${id} stays on in this folder: ${stronger.place} sets the whole list, and is stronger; to change that: ${stronger.fix}`);
  if (gates.length > 0) lines.push(`${id} guards ${gates.join(', ')}: without it, what it would have asked about or denied is decided by the others there, or by default`);
  if (loses.length > 0) lines.push(`${loses.join(', ')} ${loses.length === 1 ? 'needs' : 'need'} ${id}, and will not run without it`);
  return lines;
}

/** Who requires a plugin, also through others, and is not off itself. */
function dependents(id: string, plugins: ReadonlyMap<string, PluginInfo>, off: readonly string[]): string[] {
  const lost = new Set([id]);
  for (let size = 0; size !== lost.size; ) {
    size = lost.size;
    for (const plugin of plugins.values()) if (plugin.requires.some((one) => lost.has(one)) && !off.includes(plugin.id)) lost.add(plugin.id);
  }
  lost.delete(id);
  return [...lost].sort();
}

/** At the end of the list that is there, whose comments stay, or as a list of its own. */
async function append(control: { set(key: string, value: string, file: string): Promise<void>; readonly globalFile: string }, id: string, at: number): Promise<void> {
  if (at === 0) await control.set(disabledKey, JSON.stringify([id]), control.globalFile);
  else await control.set(`${disabledKey}.${at}`, id, control.globalFile);
}

function warn(io: CommandIO, text: string): void {
  for (const line of wrap(`⚠ ${text}`, textColumns(io), 2)) io.say(io.style.yellow(line));
}
