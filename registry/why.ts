/** `agent plugin why` */
import { type Command, type CommandIO, command, kernelControl, type PluginContext, type TapInfo } from 'newt-agent';
import { didYouMean } from '../kernel/near.ts';
import { alignRows, count, wrap } from './layout.ts';
import { refuse, reporting } from './report.ts';

const kinds: Readonly<Record<string, string>> = {
  series: 'each in turn',
  parallel: 'all at once',
  waterfall: 'each hands its value on to the next',
  bail: 'the first answer ends it',
  gate: 'all are asked, the strictest answer holds',
};

export function whyCommand(p: PluginContext): Command {
  return command({
    description: 'Show in which order plugins run at a hook, and why',
    arguments: [{ name: 'hook', description: 'Name of the hook', required: true }],
    options: [{ flags: '--json', description: 'Print JSON' }],
    examples: ['agent plugin why tool.gate', 'agent plugin why prompt.build --json'],
    run: reporting(async ({ arguments: { hook: given }, options }, { io }) => {
      const control = p.use(kernelControl);
      const hook = String(given);
      const names = control.hooks().map(({ name }) => name).sort();
      const kind = control.hooks().find(({ name }) => name === hook)?.kind;
      if (kind === undefined) return unknownHook(hook, names, io);
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
  const { style } = io;
  io.print(`${style.bold(hook)} ${style.dim(`${kind}: ${kinds[kind] ?? ''}`)}`);
  if (taps.length === 0) {
    io.print('  no plugin taps it');
    return;
  }
  const rows = taps.map((tap, index) => [
    { text: `${index + 1}.`.padStart(String(taps.length).length + 1) },
    { text: tap.plugin, paint: tap.open ? style.bold : style.red },
    { text: tap.open ? tap.reason : `${tap.reason} (quarantined: not called)`, paint: style.dim },
  ]);
  for (const line of alignRows(rows)) io.print(`  ${line}`);
}

function unknownHook(hook: string, names: readonly string[], io: CommandIO): number {
  const code = refuse(io, `there is no hook "${hook}"${didYouMean(hook, names)}`);
  io.say(`  ${io.style.cyan(`${count(names.length, 'hook')}:`)}`);
  for (const line of wrap(names.join(' '), io.columns - 4)) io.say(`    ${line}`);
  return code;
}
