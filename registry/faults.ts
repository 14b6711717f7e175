/** `agent plugin faults` */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, type CommandIO, command, type FaultRecord, faultTitle, kernelControl, type KernelControl, oneLine, type PluginContext, type PluginInfo, printable, wrap } from 'newt-agent';
import { textColumns } from './layout.ts';
import { reporting } from './report.ts';
import { unknownPlugin } from './unknown.ts';

/** Lines of the source shown above and below the one at fault. */
const around = 2;

export function faultsCommand(p: PluginContext): Command {
  return command({
    description: 'Show what went wrong in plugins, with the place in their code',
    arguments: [{ name: 'id', description: 'Id of a plugin; all of them by default', values: 'plugins' }],
    options: [{ flags: '--json', description: 'Print JSON' }],
    examples: ['agent plugin faults', 'agent plugin faults my-plugin', 'agent plugin faults --json'],
    run: reporting(({ arguments: { id: given }, options }, { io }) => {
      const control = p.use(kernelControl);
      const plugins = control.plugins();
      const id = given === undefined ? undefined : String(given);
      if (id !== undefined && !plugins.some((plugin) => plugin.id === id)) throw unknownPlugin(id, plugins.map((plugin) => plugin.id));
      const faults = historyOf(control, plugins, id);
      if (options['json']) io.json(faults.map((fault) => ({ ...fault, plugin: fault.plugin ?? null, tier: plugins.find((one) => one.id === fault.plugin)?.tier ?? null })));
      else if (faults.length === 0) io.print(id === undefined ? 'No plugin has a fault on record.' : `${id} has no fault on record.`);
      else for (const [index, fault] of faults.entries()) print(fault, plugins, io, index > 0);
      return 0;
    }),
  });
}

function historyOf(control: KernelControl, plugins: readonly PluginInfo[], id: string | undefined): FaultRecord[] {
  const ids = id === undefined ? [...new Set(plugins.map((plugin) => plugin.id)), undefined] : [id];
  return ids.flatMap((one) => control.faultHistory(one)).sort((a, b) => b.last - a.last);
}

function print(fault: FaultRecord, plugins: readonly PluginInfo[], io: CommandIO, apart: boolean): void {
  const { cyan, dim, bold } = io.style;
  const { plugin, count, first, last, action, next } = fault;
  if (apart) io.print('');
  for (const line of wrap(`${cyan(plugin ?? 'nobody in particular')}  ${bold(faultTitle(fault))}`, textColumns(io), 2)) io.print(line);
  const times = count === 1 ? `once, ${time(last)}` : `${count} times, ${time(first)} to ${time(last)}`;
  for (const line of wrap(`  ${times}; ${oneLine(action)}`, textColumns(io), 2)) io.print(dim(line));
  for (const line of frame(fault, plugins.find((one) => one.id === plugin))) io.print(`  ${line.isFault ? line.text : dim(line.text)}`);
  if (next) for (const line of wrap(`  ${oneLine(next)}`, textColumns(io), 2)) io.print(dim(line));
}

interface FrameLine {
  readonly text: string;
  readonly isFault: boolean;
}

/** The place in the source: from the file while its line is still the one that was noted, else that line alone. */
function frame({ file, line, column, source }: FaultRecord, plugin: PluginInfo | undefined): FrameLine[] {
  if (file === undefined || line === undefined || source === undefined) return [];
  const lines = plugin ? linesOf(plugin, file) : [];
  const isSame = lines[line - 1]?.startsWith(source) ?? false;
  const [from, to] = isSame ? [Math.max(1, line - around), Math.min(lines.length, line + around)] : [line, line];
  const width = String(to).length;
  const shown: FrameLine[] = [];
  for (let at = from; at <= to; at += 1) {
    const text = printable(at === line ? source : (lines[at - 1] ?? '')).replaceAll('\t', ' ');
    if (at === to && at !== line && text.trim() === '') continue;
    shown.push({ text: `${at === line ? '>' : ' '} ${String(at).padStart(width)} | ${text}`, isFault: at === line });
    if (at === line && column !== undefined && column <= text.length) shown.push({ text: `  ${' '.repeat(width)} | ${' '.repeat(column - 1)}^`, isFault: true });
  }
  return isSame ? shown : [...shown, { text: '(the file has changed since)', isFault: false }];
}

function linesOf(plugin: PluginInfo, file: string): string[] {
  for (const path of [join(plugin.path, file), plugin.path]) {
    try {
      return readFileSync(path, 'utf8').split('\n');
    } catch {
      // A folder, or a bare file: the other one is it. Or it is gone.
    }
  }
  return [];
}

function time(at: number): string {
  return new Date(at).toLocaleString('sv-SE').slice(0, 16);
}
