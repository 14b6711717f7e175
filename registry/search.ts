/** `agent plugin search` */
import { type Command, type CommandIO, command, kernelControl, type PluginContext, type PluginInfo, shellWord, table, wrap } from 'newt-agent';
import { describeCapabilities } from './capabilities.ts';
import { type CatalogMatch, readCatalog, searchCatalog } from './catalog.ts';
import { tableLayout, textColumns } from './layout.ts';
import { reporting } from './report.ts';

/** Looks in the catalog that came with the agent; nothing is fetched. Exit code 1 where nothing fits, as of grep. */
export function searchCommand(p: PluginContext): Command {
  return command({
    description: 'Search the catalog of plugins that are added by name; needs no network',
    arguments: [{ name: 'words', description: 'What it is about; all plugins by default', variadic: true }],
    options: [{ flags: '--json', description: 'Print a JSON array' }],
    examples: ['agent plugin search', 'agent plugin search git', 'agent plugin search web search --json'],
    run: reporting(({ arguments: { words = [] }, options }, { io }) => {
      const wanted = [words].flat().map(String);
      const matches = searchCatalog(readCatalog(), wanted);
      const plugins = p.use(kernelControl).plugins();
      if (options['json']) io.json(matches.map(({ id, entry }) => ({ id, ...entry, installed: there(id, plugins) !== undefined, version: there(id, plugins)?.version ?? null })));
      else if (matches.length === 0) io.say(`Nothing in the catalog is about ${wanted.map(shellWord).join(' ')}. All there is: agent plugin search`);
      else print(matches, plugins, io);
      return matches.length === 0 ? 1 : 0;
    }),
  });
}

function print(matches: readonly CatalogMatch[], plugins: readonly PluginInfo[], io: CommandIO): void {
  const { cyan, dim, green } = io.style;
  const rows = matches.map(({ id, entry }) => [id, installed(there(id, plugins)), describeCapabilities(entry.capabilities)]);
  const [titles = '', ...lines] = table(rows, [{ title: 'PLUGIN', style: cyan }, { title: 'INSTALLED', style: (text) => (text.startsWith('-') ? dim(text) : green(text)) }, { title: 'ASKS FOR' }], tableLayout(io)).split('\n');
  io.print(titles);
  for (const [index, line] of lines.entries()) {
    io.print(line);
    for (const part of wrap(`  ${matches[index]?.entry.description ?? ''}`, textColumns(io), 2)) io.print(dim(part));
  }
  const absent = matches.find(({ id }) => !there(id, plugins));
  if (absent) io.say(dim(`\nTo add one: agent plugin add ${absent.id}. More about one: agent plugin info ${absent.id}`));
}

function there(id: string, plugins: readonly PluginInfo[]): PluginInfo | undefined {
  return plugins.find((plugin) => plugin.id === id && plugin.tier !== 'builtin') ?? plugins.find((plugin) => plugin.id === id);
}

function installed(plugin: PluginInfo | undefined): string {
  return plugin === undefined ? '-' : `${plugin.version} (${plugin.tier})`;
}
