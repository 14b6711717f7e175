/** Whether a setup does more than answer: what it answers may then be another the next time. */
import type { PluginContext } from '../plugin.ts';

/** Looking at these tells nothing of the world, or nothing that an answer would depend on. */
const harmless: ReadonlySet<string> = new Set(['id', 'config', 'log', 'now', 'random']);

/** `p` for a setup: `used` hears of every call of anything that acts or asks. */
export function watchUse(context: PluginContext, used: () => void): PluginContext {
  return watched(context, used) as PluginContext;
}

function watched(target: object, used: () => void): object {
  const entries = Object.entries(target).map(([name, value]: [string, unknown]) => {
    if (harmless.has(name)) return [name, value];
    if (typeof value === 'object' && value !== null) return [name, watched(value, used)];
    if (typeof value !== 'function') return [name, value];
    const act = value as (...args: unknown[]) => unknown;
    return [name, (...args: unknown[]) => (used(), act(...args))];
  });
  return Object.fromEntries(entries) as object;
}
