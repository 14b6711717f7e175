/** What a plugin may guard whose manifest cannot be used: a guard does not fail open because a file of it is damaged. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** In the place of a hook: whatever gate there is. */
const anyGate = 'gate:*';
const gateName = /"(gate:[a-z]+\.[a-z]+)"/g;

/** The gates the plugin in `folder` speaks of, as capabilities; every gate, where what it says cannot be read. */
export function gatesOf(folder: string): string[] {
  try {
    const parsed = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8').replace(/^\uFEFF/, '')) as { agent?: unknown };
    const { agent } = parsed;
    if (agent === undefined && typeof parsed === 'object' && !Array.isArray(parsed)) return [];
    if (typeof agent !== 'object' || agent === null || Array.isArray(agent)) return [anyGate];
    const stated = JSON.stringify(agent);
    // A name that is nearly one may have been one.
    return [...stated.matchAll(gateName)].map(([, name = '']) => name).concat(/\bgate\b/i.test(stated.replace(gateName, '')) ? anyGate : []);
  } catch (error) {
    // Without a manifest it is a plugin of one module, which cannot guard.
    return existsSync(folder) && (error as NodeJS.ErrnoException).code === 'ENOENT' ? [] : [anyGate];
  }
}

/** Whether somebody with these capabilities, who is not there, may have guarded `hook`. */
export function mayGuard(capabilities: readonly string[], hook: string): boolean {
  return capabilities.includes(`gate:${hook}`) || capabilities.includes(anyGate);
}
