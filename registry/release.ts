/** `agent plugin release` */
import { type Command, command, kernelControl, oneLine, type PluginContext } from 'newt-agent';
import { paintState } from './list.ts';
import { fail, refuse, reporting } from './report.ts';
import { unknownPlugin } from './unknown.ts';

export function releaseCommand(p: PluginContext): Command {
  return command({
    description: 'Let a plugin out of quarantine: forget its faults and start it again',
    arguments: [{ name: 'id', description: 'Id of the plugin', required: true }],
    examples: ['agent plugin release git'],
    run: reporting(async ({ arguments: { id: given } }, { io }) => {
      const control = p.use(kernelControl);
      const id = String(given);
      const plugins = control.plugins().filter((plugin) => plugin.id === id);
      if (plugins.length === 0) return unknownPlugin(id, control.plugins().map((plugin) => plugin.id), io);
      if (plugins.every(({ state }) => state === 'refused')) {
        return refuse(io, `${id} is not in quarantine, it was refused: ${plugins[0]?.reason ?? 'no reason given'}`);
      }
      const { state, reason } = await control.release(id);
      const shown = `${id} is ${paintState(state, io.style)(state)}`;
      if (state === 'quarantined') return fail(io, `${id} is quarantined again: ${reason ?? 'no reason given'}`, 'correct the plugin: a changed plugin is tried again by itself');
      io.print(reason === undefined ? shown : `${shown}: ${oneLine(reason, 1_000)}`);
      return 0;
    }),
  });
}
