/** `agent plugin release` */
import { type Command, command, kernelControl, oneLine, type PluginContext, wrap } from 'newt-agent';
import { textColumns } from './layout.ts';
import { stateName, stateStyle } from './list.ts';
import { failed, refused, reporting } from './report.ts';
import { unknownPlugin } from './unknown.ts';

/** Starts a quarantined plugin again; exit code 1 when it fails again. */
export function releaseCommand(p: PluginContext): Command {
  return command({
    description: 'Let a plugin out of quarantine: forget its faults and start it again',
    arguments: [{ name: 'id', description: 'Id of the plugin', required: true, values: 'plugins' }],
    examples: ['agent plugin release git'],
    run: reporting(async ({ arguments: { id: given } }, { io }) => {
      const control = p.use(kernelControl);
      const id = String(given);
      const plugins = control.plugins().filter((plugin) => plugin.id === id);
      if (plugins.length === 0) throw unknownPlugin(id, control.plugins().map((plugin) => plugin.id));
      if (plugins.every(({ state }) => state === 'refused')) throw refused(`${id} is not in quarantine, it was refused: ${plugins[0]?.reason ?? 'no reason given'}`);

      const isIdle = plugins.every(({ state, reason }) => state === 'resolved' && reason === undefined);
      const { state, reason } = await control.release(id);
      if (isIdle) {
        io.print(`${io.style.cyan(id)} is loaded on demand and has nothing on record`);
        return 0;
      }
      if (state === 'quarantined') throw failed(`${id} is quarantined again: ${reason ?? 'no reason given'}`, 'correct the plugin: once changed, it is tried again by itself');
      const shown = `${io.style.cyan(id)} is ${stateStyle(io.style)(stateName({ state }))}`;
      for (const line of wrap(reason === undefined ? shown : `${shown}: ${oneLine(reason, 1_000)}`, textColumns(io), 2)) io.print(line);
      return 0;
    }),
  });
}
