/** `agent plugin release` */
import { type Command, type CommandIO, command, kernelControl, type KernelControl, oneLine, type PluginContext, type PluginInfo, wrap } from 'newt-agent';
import { textColumns } from './layout.ts';
import { failed, refused, reporting } from './report.ts';
import { endSafeMode, readSafeMode } from './safe-mode.ts';
import { stateName, stateStyle } from './states.ts';
import { unknownPlugin } from './unknown.ts';

/** Starts quarantined plugins again; exit code 1 when one fails again. */
export function releaseCommand(p: PluginContext): Command {
  return command({
    description: 'Let a plugin out of quarantine: forget its faults and start it again',
    arguments: [{ name: 'id', description: 'Id of the plugin', values: 'plugins' }],
    options: [
      { flags: '--all', description: 'All that are in quarantine; ends safe mode, too' },
      { flags: '--json', description: 'Print JSON' },
    ],
    examples: ['agent plugin release git', 'agent plugin release --all'],
    run: reporting(async ({ arguments: { id: given }, options }, { io }) => {
      const control = p.use(kernelControl);
      const isJson = options['json'] === true;
      if (options['all']) {
        if (given !== undefined) throw refused('--all releases every plugin: name none with it', 'agent plugin release --all');
        return await releaseAll(control, isJson, io);
      }
      if (given === undefined) throw refused('there is no plugin named', 'agent plugin release <id>, or --all');
      return await releaseOne(String(given), control, isJson, io);
    }),
  });
}

async function releaseOne(id: string, control: KernelControl, isJson: boolean, io: CommandIO): Promise<number> {
  const plugins = control.plugins().filter((plugin) => plugin.id === id);
  if (plugins.length === 0) throw unknownPlugin(id, control.plugins().map((plugin) => plugin.id));
  if (plugins.every(({ state }) => state === 'refused')) throw refused(`${id} is not in quarantine, it was refused: ${plugins[0]?.reason ?? 'no reason given'}`);

  const isIdle = plugins.every(({ state, reason }) => state === 'resolved' && reason === undefined);
  const released = await control.release(id);
  if (isJson) io.json({ safeModeEnded: false, plugins: [jsonOf(released)] });
  else if (isIdle) io.print(`${io.style.cyan(id)} is loaded on demand and has nothing on record`);
  else if (released.state !== 'quarantined') print(released, io);
  if (released.state === 'quarantined') throw failed(`${id} is quarantined again: ${released.reason ?? 'no reason given'}`, 'correct the plugin: once changed, it is tried again by itself');
  return 0;
}

async function releaseAll(control: KernelControl, isJson: boolean, io: CommandIO): Promise<number> {
  const { state: folder } = control.paths;
  const wasSafe = readSafeMode(folder) !== undefined;
  endSafeMode(folder);
  const released: PluginInfo[] = [];
  for (const { id, tier, state } of control.plugins()) if (tier !== 'builtin' && (state === 'quarantined' || state === 'degraded')) released.push(await control.release(id));
  const again = released.filter(({ state }) => state === 'quarantined');
  if (isJson) io.json({ safeModeEnded: wasSafe, plugins: released.map(jsonOf) });
  else {
    if (wasSafe) io.print('Safe mode is over: the next start is with all plugins. What is in quarantine then: agent plugin list --faulty');
    for (const plugin of released) print(plugin, io);
    if (!wasSafe && released.length === 0) io.print('Nothing is in quarantine.');
  }
  if (again.length > 0) throw failed(`quarantined again: ${again.map(({ id }) => id).join(', ')}`, 'agent plugin faults shows why; once changed, a plugin is tried again by itself');
  return 0;
}

function print({ id, state, reason }: PluginInfo, io: CommandIO): void {
  const shown = `${io.style.cyan(id)} is ${stateStyle(io.style)(stateName({ state }))}`;
  for (const line of wrap(reason === undefined ? shown : `${shown}: ${oneLine(reason, 1_000)}`, textColumns(io), 2)) io.print(line);
}

function jsonOf({ id, tier, state, reason }: PluginInfo): object {
  return { id, tier, state, reason: reason ?? null };
}
