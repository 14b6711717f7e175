/** What a person is told to expect of a plugin that was added. */
import { type PluginInfo, shortPath } from 'newt-agent';

/** What happens to it at the next start. */
export function outlook(id: string, plugins: readonly PluginInfo[], disabled: unknown): string[] {
  if (Array.isArray(disabled) && disabled.includes(id)) return ['It stays off: plugins.disabled in your configuration names it.'];
  const stronger = plugins.find((plugin) => plugin.id === id && (plugin.tier === 'project' || plugin.tier === 'global'));
  if (stronger?.state === 'refused') return [`The ${stronger.tier} plugin at ${shortPath(stronger.path)} has the same id. It is not running now; when it does, it shadows this one.`];
  if (stronger) return [`The ${stronger.tier} plugin at ${shortPath(stronger.path)} has the same id and shadows it while it is there.`];
  return ['It is loaded at the next start. To see how it fares: agent plugin list'];
}
