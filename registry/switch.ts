/** What `agent plugin enable` and `agent plugin disable` share: the list `plugins.disabled`, layer by layer. */
import { type ConfigControl, kernelControl, type PluginContext, type PluginInfo, shortPath } from 'newt-agent';
import { refused } from './report.ts';
import { unknownPlugin } from './unknown.ts';

export const disabledKey = 'plugins.disabled';

export interface Disabled {
  /** What counts in this folder. */
  readonly effective: readonly string[];
  /** What the person's own file says. */
  readonly own: readonly string[];
  /** What is stronger than that file and says something else: where, and how it is changed. */
  readonly stronger: { readonly place: string; readonly fix: string } | undefined;
}

/** As the files and the environment are now, not as this process found them. */
export async function readDisabled(control: ConfigControl): Promise<Disabled> {
  const { config } = await control.inspect();
  const layers = config.explain(disabledKey);
  const [top] = layers;
  const own = layers.find(({ file }) => file === control.globalFile)?.value;
  const isOwn = top === undefined || top.file === control.globalFile;
  const place = top?.variable === undefined ? `${shortPath(top?.file ?? '')}${top?.line === undefined ? '' : `:${top.line}`}` : `$${top.variable}`;
  const fix = top?.variable === undefined ? `agent config unset ${disabledKey} --project` : `unset ${top.variable}`;
  return { effective: idsIn(config.get(disabledKey)), own: idsIn(own), stronger: isOwn ? undefined : { place, fix } };
}

/** The plugins meant by the words of a command line, each once, in that order. @throws OperationalError for an id nobody has */
export function namedIds(given: unknown, known: readonly string[]): string[] {
  const ids = [...new Set([given].flat().map(String))];
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown !== undefined) throw unknownPlugin(unknown, known);
  if (ids.length === 0) throw refused('there is no plugin named', 'agent plugin list shows all');
  return ids;
}

/** All plugins by their ids. What is shadowed has the id of what shadows it. */
export function pluginsById(p: PluginContext): ReadonlyMap<string, PluginInfo> {
  const plugins = p.use(kernelControl).plugins();
  return new Map([...plugins].sort((a, b) => Number(a.state !== 'refused') - Number(b.state !== 'refused')).map((plugin) => [plugin.id, plugin]));
}

/** Hooks a plugin allows or denies at. */
export function gatesOf({ capabilities }: Pick<PluginInfo, 'capabilities'>): string[] {
  return capabilities.flatMap((capability) => (capability.startsWith('gate:') ? [capability.slice('gate:'.length)] : []));
}

function idsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
