/** `agent plugin list` */
import { type Command, type CommandIO, command, didYouMean, type Invocation, kernelControl, oneLine, type PluginContext, type PluginInfo, shortPath, table, type Tier, wrap } from 'newt-agent';
import { tableLayout, textColumns } from './layout.ts';
import { refused } from './report.ts';
import { isFaulty, stateMeaning, stateName, stateStyle } from './states.ts';

/** Built-ins last: what a person added is what they look for. */
const tierOrder: readonly Tier[] = ['project', 'global', 'npm', 'builtin'];

/** Prints every plugin with its state, as a table or as JSON. */
export function listCommand(p: PluginContext): Command {
  return command({
    description: 'List all plugins: where each comes from, its state, and why',
    options: [
      { flags: '--faulty', description: 'Only those that do not run as they should' },
      { flags: '--tier <tier>', description: 'Only those of one tier: project, global, npm or builtin', values: tierOrder },
      { flags: '--json', description: 'Print a JSON array' },
    ],
    examples: ['agent plugin list', 'agent plugin list --faulty', 'agent plugin list --tier global', 'agent plugin list --json | jq'],
    run({ options }, { io }) {
      const isWanted = filterOf(options);
      const all = p.use(kernelControl).plugins();
      const plugins = all.filter(isWanted).sort(byTierAndId);
      if (options['json']) io.json(plugins.map(({ config: _, excused: __, ...plugin }) => ({ ...plugin, reason: plugin.reason ?? null })));
      else if (plugins.length > 0) print(plugins, io);
      else io.print(options['faulty'] ? 'No plugin needs looking at.' : 'There is no such plugin.');
      if (!options['json'] && all.every(({ tier }) => tier === 'builtin')) io.say('\nOnly built-in plugins so far. To add one: agent plugin add <folder>');
      return 0;
    },
  });
}

/** @throws OperationalError for a tier there is not */
function filterOf({ tier, faulty }: Invocation['options']): (plugin: PluginInfo) => boolean {
  if (tier !== undefined && !tierOrder.some((one) => one === tier)) throw refused(`there is no tier "${String(tier)}"${didYouMean(String(tier), tierOrder)}`, `tiers are ${tierOrder.join(', ')}`);
  return (plugin) => (tier === undefined || plugin.tier === tier) && (!faulty || isFaulty(plugin));
}

function print(plugins: readonly PluginInfo[], io: CommandIO): void {
  const { cyan, dim } = io.style;
  const columns = [{ title: 'PLUGIN', style: cyan }, { title: 'VERSION' }, { title: 'TIER' }, { title: 'STATE', style: stateStyle(io.style) }, { title: 'CONTRIBUTES' }, { title: 'PATH', style: dim }];
  const rows = plugins.map((plugin) => [plugin.id, plugin.version, plugin.tier, stateName(plugin), summarize(plugin.contributes), placeOf(plugin)]);
  // A path is there to be copied: on a terminal it gets a line of its own, where nothing cuts it.
  const [titles = '', ...lines] = table(rows, io.interactive ? columns.slice(0, -1) : columns, tableLayout(io)).split('\n');
  io.print(titles);
  for (const [index, line] of lines.entries()) {
    io.print(line);
    const plugin = plugins[index];
    const path = plugin && io.interactive ? placeOf(plugin) : '';
    if (path !== '') io.print(`  ${dim(oneLine(path, 1_000))}`);
    if (plugin?.reason === undefined) continue;
    for (const part of wrap(`  ${oneLine(plugin.reason, 1_000)}`, textColumns(io))) io.print(dim(part));
  }
  // Words that a person meets for the first time when something is wrong.
  const odd = [...new Set(plugins.filter(isFaulty).map(stateName))];
  if (odd.length > 0) io.print('');
  for (const name of odd) for (const part of wrap(`${name}: ${stateMeaning(name) ?? ''}`, textColumns(io), 2)) io.print(dim(part));
}

function placeOf({ tier, path }: PluginInfo): string {
  return tier === 'builtin' ? '' : shortPath(path);
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
