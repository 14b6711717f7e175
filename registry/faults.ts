/** `agent plugin faults` */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, type CommandIO, command, displayWidth, type FaultRecord, faultTitle, kernelControl, type KernelControl, oneLine, type PluginContext, type PluginInfo, pluginsWithFaults, printable, sourceLine, truncate, wrap } from 'newt-agent';
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
      // What is gone may still be asked about.
      const known = [...new Set([...plugins.map((plugin) => plugin.id), ...pluginsWithFaults(control.paths.state)])];
      if (id !== undefined && !known.includes(id)) throw unknownPlugin(id, known);
      const faults = historyOf(control, id === undefined ? [...known, undefined] : [id]);
      if (options['json']) io.json(faults.map((fault) => ({ ...fault, plugin: fault.plugin ?? null, tier: plugins.find((one) => one.id === fault.plugin)?.tier ?? null })));
      else if (faults.length === 0) io.print(id === undefined ? 'No plugin has a fault on record.' : `${id} has no fault on record.`);
      else for (const [index, fault] of faults.entries()) print(fault, plugins, io, index > 0);
      return 0;
    }),
  });
}

function historyOf(control: KernelControl, ids: readonly (string | undefined)[]): FaultRecord[] {
  return ids.flatMap((id) => control.faultHistory(id)).sort((a, b) => b.last - a.last);
}

function print(fault: FaultRecord, plugins: readonly PluginInfo[], io: CommandIO, apart: boolean): void {
  const { cyan, dim, bold } = io.style;
  const { plugin, count, first, last, action, next } = fault;
  if (apart) io.print('');
  for (const line of wrap(`${cyan(plugin ?? 'nobody in particular')}  ${bold(faultTitle(fault))}`, textColumns(io), 2)) io.print(line);
  const times = count === 1 ? `once, ${time(last)}` : `${count} times, ${time(first)}${time(first) === time(last) ? '' : ` to ${time(last)}`}`;
  for (const line of wrap(`  ${times}; ${oneLine(action)}`, textColumns(io), 2)) io.print(dim(line));
  for (const line of frame(fault, plugins.find((one) => one.id === plugin), textColumns(io) - 2)) io.print(`  ${line.isFault ? line.text : dim(line.text)}`);
  if (next) for (const line of wrap(`  ${oneLine(next)}`, textColumns(io), 2)) io.print(dim(line));
}

interface FrameLine {
  readonly text: string;
  readonly isFault: boolean;
}

/** The place in the source: from the file while its line is still the one that was noted, else that line alone. */
export function frame({ file, line, column, source }: FaultRecord, plugin: Pick<PluginInfo, 'path'> | undefined, columns: number): FrameLine[] {
  if (file === undefined || line === undefined || source === undefined) return [];
  const text = plugin ? textOf(plugin, file) : '';
  const isSame = sourceLine(text, line) === source;
  const lines = text.split(/\r?\n/);
  const [from, to] = isSame ? [Math.max(1, line - around), Math.min(lines.length, line + around)] : [line, line];
  const digits = String(to).length;
  const width = columns - digits - 5;
  // A place beyond the edge of the terminal is moved into view.
  const start = column === undefined || column <= width ? 0 : column - Math.ceil(width / 2);
  const shown: FrameLine[] = [];
  for (let at = from; at <= to; at += 1) {
    const whole = at === line ? source : (lines[at - 1] ?? '');
    if (at === to && at !== line && whole.trim() === '') continue;
    shown.push({ text: `${at === line ? '>' : ' '} ${String(at).padStart(digits)} | ${truncate(at === line && start > 0 ? `…${plain(whole.slice(start + 1))}` : plain(whole), width)}`.trimEnd(), isFault: at === line });
    if (at !== line || column === undefined || column > source.length) continue;
    const before = displayWidth(plain(source.slice(start, column - 1)));
    shown.push({ text: `  ${' '.repeat(digits)} | ${' '.repeat(before)}^`, isFault: true });
  }
  return isSame ? shown : [...shown, { text: plugin ? '(the file has changed since)' : '(the plugin is gone)', isFault: false }];
}

/** What a terminal shows of code, a column a tab. */
function plain(text: string): string {
  return printable(text).replaceAll('\t', ' ');
}

function textOf(plugin: Pick<PluginInfo, 'path'>, file: string): string {
  for (const path of [join(plugin.path, file), plugin.path]) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      // A folder, or a bare file: the other one is it. Or it is gone.
    }
  }
  return '';
}

function time(at: number): string {
  return new Date(at).toLocaleString('sv-SE').slice(0, 16);
}
