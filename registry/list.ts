/** `agent plugin list` */
import { type Command, type CommandIO, command, kernelControl, oneLine, type PluginContext, type PluginInfo, type Style, table, type Tier } from 'newt-agent';
import { shortPath, tableLayout, wrap } from './layout.ts';

/** Built-ins last: what a person added is what they look for. */
const tierOrder: readonly Tier[] = ['project', 'global', 'npm', 'builtin'];

/** Prints every plugin with its state, as a table or as JSON. */
export function listCommand(p: PluginContext): Command {
  return command({
    description: 'List all plugins: where each comes from, its state, and why',
    options: [{ flags: '--json', description: 'Print a JSON array' }],
    examples: ['agent plugin list', 'agent plugin list --json | jq'],
    run({ options }, { io }) {
      const plugins = p.use(kernelControl).plugins().sort(byTierAndId);
      if (options['json']) io.json(plugins.map((plugin) => ({ ...plugin, reason: plugin.reason ?? null })));
      else print(plugins, io);
      return 0;
    },
  });
}

/** A state in the colour of how well it is. */
export function stateStyle({ green, yellow, red, dim }: Style): (state: string) => string {
  const styles: Readonly<Record<string, (text: string) => string>> = { activated: green, degraded: yellow, refused: yellow, quarantined: red };
  return (state) => (styles[state] ?? dim)(state);
}

function print(plugins: readonly PluginInfo[], io: CommandIO): void {
  const { cyan, dim } = io.style;
  const columns = [{ title: 'PLUGIN', style: cyan }, { title: 'VERSION' }, { title: 'TIER' }, { title: 'STATE', style: stateStyle(io.style) }, { title: 'CONTRIBUTES' }, { title: 'PATH', style: dim }];
  const rows = plugins.map(({ id, version, tier, state, contributes, path }) => [id, version, tier, state, summarize(contributes), tier === 'builtin' ? '' : shortPath(path)]);
  const [titles = '', ...lines] = table(rows, columns, tableLayout(io)).split('\n');
  io.print(titles);
  for (const [index, line] of lines.entries()) {
    io.print(line);
    const reason = plugins[index]?.reason;
    if (reason === undefined) continue;
    const text = oneLine(reason, 1_000);
    for (const part of io.interactive ? wrap(text, io.columns - 2) : [text]) io.print(`  ${dim(part)}`);
  }
  if (plugins.every((plugin) => plugin.tier === 'builtin')) io.say('\nOnly built-in plugins so far. To add one: agent plugin add <folder>');
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
