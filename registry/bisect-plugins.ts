/** The plugins that `agent plugin bisect` searches: everything a person added and did not turn off. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type KernelControl, type PluginInfo, z } from 'newt-agent';
import { dependencyOrder } from './bisect-search.ts';
import type { BisectPlugin } from './bisect-state.ts';
import { safeModeReason } from './safe-mode.ts';

/** In dependency order, as far as it is known without running their code, which this process does not. */
export function searchedPlugins(control: Pick<KernelControl, 'plugins'>): BisectPlugin[] {
  const found = new Map<string, BisectPlugin>();
  for (const { id, tier, path, version, requires, excused, reason } of control.plugins()) {
    // Off by the person's word, untrusted, shadowed: it is not what they look for.
    if (tier === 'builtin' || found.has(id) || (excused && reason !== safeModeReason)) continue;
    found.set(id, { id, tier, path, version, requires: [...requires] });
  }
  return dependencyOrder([...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1)));
}

/** Whether there are plugins that say what they require, and how they are called, in their code alone. */
export function areSilent(plugins: readonly BisectPlugin[]): boolean {
  return plugins.some(({ path }) => !existsSync(join(path, 'package.json')));
}

const listed = z.array(z.object({ id: z.string(), path: z.string(), requires: z.array(z.string()) }));

/** The same plugins with what another agent, in which their code ran, has learned of them. @param output of `agent plugin list --json` */
export function withTold(plugins: readonly BisectPlugin[], output: string): BisectPlugin[] {
  const parsed = listed.safeParse(parseOrUndefined(output));
  if (!parsed.success) return [...plugins];
  const told = new Map(parsed.data.map((one): [string, Pick<PluginInfo, 'id' | 'requires'>] => [one.path, one]));
  const taken = new Set<string>();
  return dependencyOrder(
    plugins.map((plugin) => {
      const { id, requires } = told.get(plugin.path) ?? plugin;
      if (id === plugin.id || taken.has(id) || plugins.some((other) => other.id === id)) return { ...plugin, requires: [...requires] };
      taken.add(id);
      return { ...plugin, id, alias: plugin.id, requires: [...requires] };
    }),
  );
}

/** What `plugins.disabled` is to be, so that of `plugins` only those in `on` run. */
export function disabledFor(plugins: readonly BisectPlugin[], on: ReadonlySet<string>, disabled: readonly string[]): string[] {
  const kept = new Set(plugins.flatMap(({ id, alias }) => (on.has(id) ? [id, alias] : [])));
  const off = plugins.flatMap(({ id, alias }) => (on.has(id) ? [] : [id, alias])).filter((name): name is string => name !== undefined && !kept.has(name));
  return [...new Set([...disabled, ...off])];
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
