/** `agent plugin why` */
import { type Command, type CommandIO, command, kernelControl, type PluginContext, table, type TapInfo } from 'newt-agent';
import { didYouMean } from '../kernel/near.ts';
import { tableLayout } from './layout.ts';
import { refused, reporting } from './report.ts';

const kinds: Readonly<Record<string, string>> = {
  series: 'each in turn',
  parallel: 'all at once',
  waterfall: 'each hands its value on to the next',
  bail: 'the first answer ends it',
  gate: 'all are asked, the strictest answer holds',
};

/** Prints the taps of a hook in the order they run, after waking who waits for the hook. */
export function whyCommand(p: PluginContext): Command {
  return command({
    description: 'Show in which order plugins run at a hook, and why',
    arguments: [{ name: 'hook', description: 'Name of the hook', required: true, values: 'hooks' }],
    options: [{ flags: '--json', description: 'Print JSON' }],
    examples: ['agent plugin why tool.gate', 'agent plugin why prompt.build --json'],
    run: reporting(async ({ arguments: { hook: given }, options }, { io }) => {
      const control = p.use(kernelControl);
      const hook = String(given);
      const kind = control.hooks().find(({ name }) => name === hook)?.kind;
      if (kind === undefined) {
        const names = control.hooks().map(({ name }) => name).sort();
        throw refused(`there is no hook "${hook}"${didYouMean(hook, names)}`, `hooks are ${names.join(', ')}`);
      }
      // Who waits for the hook to be called would be missing from the order.
      await p.activate(`hook:${hook}`);
      const taps = control.why(hook);
      if (options['json']) io.json({ hook, kind, taps: taps.map((tap, index) => ({ position: index + 1, ...tap })) });
      else print(hook, kind, taps, io);
      return 0;
    }),
  });
}

function print(hook: string, kind: string, taps: readonly TapInfo[], io: CommandIO): void {
  const { cyan, dim, bold } = io.style;
  io.print(`${bold(hook)} is a ${kind} hook: ${kinds[kind] ?? ''}`);
  if (taps.length === 0) {
    io.print('No plugin taps it.');
    return;
  }
  const rows = taps.map(({ plugin, open, reason }, index) => [String(index + 1), plugin, open ? reason : `${reason}; in quarantine: not called`]);
  io.print(table(rows, [{ title: '#' }, { title: 'PLUGIN', style: cyan }, { title: 'STANDS HERE BY', style: dim }], tableLayout(io)));
}
