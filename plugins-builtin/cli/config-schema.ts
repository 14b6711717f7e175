/** The schemas of plugins' settings, as far as they are known without running anything that does not run anyway. */
import { join } from 'node:path';
import { isOperational, kernelControl, type PluginContext, type PluginInfo, z } from 'newt-agent';

/** JSON Schemas by plugin id. @param ofProject only of what every clone of the project has */
export async function settingsSchemas(p: PluginContext, ofProject: boolean): Promise<Record<string, object>> {
  // What has not been loaded yet tells its settings only then.
  await p.activate('onInspect');
  const plugins = p.use(kernelControl).plugins().filter(({ tier, state }) => tier !== 'builtin' && state !== 'refused' && (!ofProject || tier === 'project'));
  const found = await Promise.all(plugins.map(async (plugin) => [plugin.id, (await statedSchema(p, plugin)) ?? toldSchema(plugin)] as const));
  return Object.fromEntries(found.filter((one): one is readonly [string, object] => one[1] !== undefined));
}

/** What the plugin's code said when it was loaded. */
function toldSchema({ config }: PluginInfo): object | undefined {
  if (config === undefined) return undefined;
  try {
    return z.toJSONSchema(config, { io: 'input', unrepresentable: 'any', target: 'draft-7' });
  } catch {
    return undefined; // A schema that JSON Schema has no words for, or of another version of zod.
  }
}

/** What its package.json says. */
async function statedSchema(p: PluginContext, { path }: PluginInfo): Promise<object | undefined> {
  let stated: unknown;
  try {
    const read = JSON.parse(await p.fs.read(join(path, 'package.json'))) as { agent?: { config?: unknown } } | null;
    stated = read?.agent?.config;
  } catch (error) {
    if (isOperational(error) || error instanceof SyntaxError) return undefined; // A plugin of one file has none.
    throw error;
  }
  if (typeof stated !== 'object' || stated === null) return undefined;
  try {
    // An editor drops a whole schema for one part that is none.
    z.fromJSONSchema(stated as Parameters<typeof z.fromJSONSchema>[0]);
    return stated;
  } catch {
    return undefined;
  }
}
