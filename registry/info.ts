/** `agent plugin info` */
import { type Command, type CommandIO, command, configControl, isKernelError, kernelControl, type KernelControl, oneLine, type PluginContext, type PluginInfo, shortPath } from 'newt-agent';
import { discoverPlugin } from '../kernel/discover.ts';
import { digestPlugin } from '../kernel/trust/digest.ts';
import { describeCapabilities } from './capabilities.ts';
import { type Catalog, type CatalogEntry, readCatalog } from './catalog.ts';
import { count, factLines, textColumns } from './layout.ts';
import { type LockEntry, lockFile, readLock } from './lock.ts';
import { pluginSettings, settingLine } from './plugin-settings.ts';
import { reporting } from './report.ts';
import { stateMeaning, stateName, stateStyle } from './states.ts';
import { unknownPlugin } from './unknown.ts';

const shownDigest = 12;
const maxReason = 1_000;

/** One page about a plugin that is there, or that the catalog has. */
export function infoCommand(p: PluginContext): Command {
  return command({
    description: 'Show all about a plugin that is there, or that the catalog has',
    arguments: [{ name: 'id', description: 'Id of the plugin, or name of its package', required: true, values: 'plugins' }],
    options: [{ flags: '--json', description: 'Print JSON' }],
    examples: ['agent plugin info my-plugin', 'agent plugin info agent-plugin-git', 'agent plugin info my-plugin --json | jq .settings'],
    run: reporting(async ({ arguments: { id: given }, options }, { io }) => {
      const control = p.use(kernelControl);
      const wanted = String(given);
      const catalog = catalogOrEmpty();
      const plugins = control.plugins();
      const id = plugins.some((plugin) => plugin.id === wanted) ? wanted : (Object.keys(catalog).find((one) => one === wanted || catalog[one]?.package === wanted) ?? wanted);
      // Its settings are told by its code.
      if (plugins.some((plugin) => plugin.id === id && plugin.state === 'resolved')) await p.activate(`plugin:${id}`);
      const found = control.plugins().filter((plugin) => plugin.id === id);
      const entry = Object.hasOwn(catalog, id) ? catalog[id] : undefined;
      if (found.length === 0 && !entry) throw unknownPlugin(wanted, [...new Set([...plugins.map((plugin) => plugin.id), ...Object.keys(catalog), ...Object.values(catalog).map((one) => one.package)])]);
      const pages = found.map((plugin) => pageOf(plugin, entry, p));
      if (options['json']) io.json({ id, installed: found.length > 0, catalog: entry ?? null, plugins: pages });
      else if (found.length === 0 && entry) printEntry(id, entry, io);
      else for (const [index, page] of pages.entries()) printPage(page, index > 0, io);
      return 0;
    }),
  });
}

function pageOf(plugin: PluginInfo, entry: CatalogEntry | undefined, p: PluginContext) {
  const control = p.use(kernelControl);
  const { id, version, tier, state, path, reason, capabilities, requires, contributes } = plugin;
  const lock = tier === 'npm' ? lockEntryOf(plugin, control) : undefined;
  const faults = control.faultHistory(id);
  const digest = digestOf(plugin);
  return {
    id,
    version,
    tier,
    state,
    reason: reason ?? null,
    path: tier === 'builtin' ? null : path,
    description: entry?.description ?? null,
    source: lock?.source ?? null,
    consentedAt: lock?.addedAt ?? null,
    capabilities,
    agreedTo: lock?.capabilities ?? null,
    requires,
    contributes: contributes.filter((one) => !one.startsWith('hook ')),
    taps: contributes.flatMap((one) => (one.startsWith('hook ') ? [one.slice('hook '.length)] : [])),
    settings: pluginSettings(plugin, p.use(configControl)).map((one) => ({ ...one, description: one.description ?? null, default: one.default ?? null, value: one.value ?? null })),
    faults: { count: faults.reduce((sum, fault) => sum + fault.count, 0), last: faults[0] === undefined ? null : new Date(faults[0].last).toISOString() },
    digest: digest ?? null,
    changedSinceAgreed: lock?.source === 'link' && digest !== undefined ? lock.contentDigest !== digest : null,
  };
}

type Page = ReturnType<typeof pageOf>;

function printPage(page: Page, isNext: boolean, io: CommandIO): void {
  const { bold, cyan, dim } = io.style;
  const name = stateName(page);
  const meaning = stateMeaning(name);
  const points = Map.groupBy(page.contributes, (one) => one.split('/', 1)[0] ?? '');
  const facts: [string, string][] = [
    ['state', `${stateStyle(io.style)(name)}${page.reason === null ? (meaning === undefined ? '' : `: ${meaning}`) : `: ${oneLine(page.reason, maxReason)}`}`],
    ['tier', page.tier],
    ...(page.path === null ? [] : [['path', shortPath(page.path)] as [string, string]]),
    ...(page.source === null ? [] : [['source', `${page.source}, agreed to ${day(page.consentedAt)}`] as [string, string]]),
    ['asks for', describeCapabilities(page.capabilities)],
    ...(page.requires.length === 0 ? [] : [['requires', page.requires.join(', ')] as [string, string]]),
    ...[...points].map(([point, items]): [string, string] => [point, items.map((one) => one.slice(point.length + 1)).join(', ')]),
    ...(page.taps.length === 0 ? [] : [['taps', page.taps.join(', ')] as [string, string]]),
    ...page.settings.map((one, index): [string, string] => [index === 0 ? 'settings' : '', settingLine({ key: one.key, description: one.description ?? undefined, default: one.default ?? undefined, value: one.value ?? undefined })]),
    ['faults', page.faults.count === 0 ? 'none on record' : `${count(page.faults.count, 'fault')} on record, the last ${day(page.faults.last)}: agent plugin faults ${page.id}`],
    ...(page.digest === null ? [] : [['digest', `${page.digest.slice(0, shownDigest)}${page.changedSinceAgreed ? ', another one than when you added it' : ''}`] as [string, string]]),
  ];
  if (isNext) io.print('');
  io.print(`${bold(cyan(page.id))} ${oneLine(page.version, 40)}${page.description === null ? '' : `  ${page.description}`}`);
  for (const line of factLines(facts, { columns: textColumns(io), nameStyle: dim })) io.print(line);
  if (page.state === 'resolved' && page.contributes.length + page.taps.length === 0) io.say(dim('What it brings is known once it is loaded.'));
}

function printEntry(id: string, entry: CatalogEntry, io: CommandIO): void {
  const { bold, cyan, dim } = io.style;
  io.print(`${bold(cyan(id))}  ${entry.description}`);
  const facts: [string, string][] = [
    ['state', 'not installed'],
    ['package', entry.package],
    ['asks for', describeCapabilities(entry.capabilities)],
    ['about', entry.keywords.join(', ')],
    ['add it', `agent plugin add ${id}`],
  ];
  for (const line of factLines(facts, { columns: textColumns(io), nameStyle: dim })) io.print(line);
}

/** What the catalog says is beside the point where it is damaged: search tells of that. */
function catalogOrEmpty(): Catalog {
  try {
    return readCatalog();
  } catch (error) {
    if (isKernelError(error)) return {};
    throw error;
  }
}

/** A folder without a manifest is in the lock under its own name, and tells its id only when it runs. */
function lockEntryOf({ id, path }: PluginInfo, { paths }: KernelControl): LockEntry | undefined {
  const entries = readLock(lockFile(paths));
  return Object.hasOwn(entries, id) ? entries[id] : Object.values(entries).find((entry) => entry.source === 'link' && entry.path === path);
}

/** As it is now; undefined where it cannot be read, which its state says. */
function digestOf({ tier, path }: PluginInfo): string | undefined {
  if (tier === 'builtin') return undefined;
  const found = discoverPlugin(tier, path);
  if (!found || found.problem) return undefined;
  try {
    return digestPlugin(found.entry, found.bare ? undefined : found.path);
  } catch {
    return undefined;
  }
}

function day(time: string | null): string {
  return time === null ? 'at an unknown time' : time.slice(0, 10);
}
