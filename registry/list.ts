/** `agent plugin list` */
import { type Command, type CommandIO, command, kernelControl, oneLine, type PluginContext, type PluginInfo, type Style, type Tier } from 'newt-agent';
import { alignRows, type Cell, keepEnd, shortPath, widthBeforeLast, wrap } from './layout.ts';

/** Built-ins last: what a person added is what they look for. */
const tierOrder: readonly Tier[] = ['project', 'global', 'npm', 'builtin'];
const minPathWidth = 20;

export function listCommand(p: PluginContext): Command {
  return command({
    description: 'List all plugins: where each comes from, its state, and why',
    options: [{ flags: '--json', description: 'Print a JSON array' }],
    examples: ['agent plugin list', 'agent plugin list --json'],
    run({ options }, { io }) {
      const plugins = p.use(kernelControl).plugins().sort(byTierAndId);
      if (options['json']) io.json(plugins.map((plugin) => ({ ...plugin, reason: plugin.reason ?? null })));
      else print(plugins, io);
      return 0;
    },
  });
}

/** The state in the colour of how well it is. */
export function paintState(state: PluginInfo['state'], style: Style): (text: string) => string {
  const paints: Readonly<Record<PluginInfo['state'], (text: string) => string>> = {
    activated: style.green,
    degraded: style.yellow,
    refused: style.yellow,
    quarantined: style.red,
    discovered: style.dim,
    resolved: style.dim,
    disposed: style.dim,
  };
  return paints[state];
}

function print(plugins: readonly PluginInfo[], io: CommandIO): void {
  const { style } = io;
  const heads: Cell[] = ['PLUGIN', 'VERSION', 'TIER', 'STATE', 'CONTRIBUTES', 'PATH'].map((text) => ({ text, paint: style.dim }));
  const rows = plugins.map((plugin): Cell[] => [
    { text: plugin.id, paint: style.bold },
    { text: oneLine(plugin.version, 20) },
    { text: plugin.tier },
    { text: plugin.state, paint: paintState(plugin.state, style) },
    { text: summarize(plugin.contributes) },
    { text: plugin.tier === 'builtin' ? '' : shortPath(oneLine(plugin.path, 1_000)), paint: style.dim },
  ]);
  const table = io.interactive ? fitted([heads, ...rows], io.columns) : [heads, ...rows];
  const [head = '', ...lines] = alignRows(table);
  io.print(head);
  for (const [index, line] of lines.entries()) {
    io.print(line);
    const reason = plugins[index]?.reason;
    if (reason === undefined) continue;
    for (const part of io.interactive ? wrap(oneLine(reason, 1_000), io.columns - 2) : [oneLine(reason, 1_000)]) io.print(`  ${style.dim(part)}`);
  }
  if (plugins.every((plugin) => plugin.tier === 'builtin')) io.say('\nOnly built-in plugins so far. To add one: agent plugin add <folder>');
}

function fitted(rows: readonly Cell[][], columns: number): Cell[][] {
  const room = Math.max(minPathWidth, columns - widthBeforeLast(rows));
  return rows.map((row) => row.map((cell, column) => (column === row.length - 1 ? { ...cell, text: keepEnd(cell.text, room) } : cell)));
}

/** `2 tools, 1 hook` out of `hook prompt.build`, `tools/a`, `tools/b`. */
function summarize(contributes: readonly string[]): string {
  const isHook = (entry: string): boolean => entry.startsWith('hook ');
  const counts = new Map<string, number>();
  for (const entry of contributes.filter((one) => !isHook(one))) {
    const point = entry.split('/', 1)[0] ?? '';
    counts.set(point, (counts.get(point) ?? 0) + 1);
  }
  const hooks = contributes.filter(isHook).length;
  if (hooks > 0) counts.set('hooks', hooks);
  return Array.from(counts, ([kind, amount]) => `${amount} ${amount === 1 ? kind.replace(/s$/, '') : kind}`).join(', ') || '-';
}

function byTierAndId(a: PluginInfo, b: PluginInfo): number {
  return tierOrder.indexOf(a.tier) - tierOrder.indexOf(b.tier) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
