/** What ended an earlier process is a fault of this run: the first that can count it. */
import { basename, relative } from 'node:path';
import { KernelError } from '../errors.ts';
import type { PluginRecord } from '../lifecycle.ts';
import { realPath } from '../paths.ts';
import type { Supervisor } from './supervisor.ts';
import { takeStalls } from './watchdog.ts';
import { nowhere } from './watchdog-thread.ts';

/** @param folder of the watchdog's records */
export function blameStalls(folder: string, records: readonly PluginRecord[], supervisor: Supervisor): void {
  for (const { path, id, file, line, ms } of takeStalls(folder)) {
    const record = records.find(({ candidate }) => (realPath(candidate.path) ?? candidate.path) === path);
    if (record?.state !== 'resolved') continue;
    // As it called itself when it ran: the person knows it by that.
    if (record.candidate.bare) record.manifest = { ...record.manifest, id };
    const place = line === nowhere ? 'native code' : `${relative(path, file) || basename(file)}:${line}`;
    supervisor.fault(record, 'outside of a call', 'hang', new KernelError('STALL', { seconds: Math.round(ms / 1_000), place }));
  }
}

/** The plugins, not of the agent itself, that have an item of this name. */
export function whoContributes(point: string, item: string, records: readonly PluginRecord[]): PluginRecord[] {
  return records.filter(({ tier, contributes }) => tier !== 'builtin' && contributes.includes(`${point}/${item}`));
}

/** @param how what is known of the end; without it, the process may as well have been killed */
export function blameItem(point: string, item: string, how: string | undefined, records: readonly PluginRecord[], supervisor: Supervisor): void {
  const where = `${point}/${item}`;
  const [record] = whoContributes(point, item, records);
  const slot = record?.slots.find(({ key }) => key === where || key === `${where}.run`);
  if (record && slot) supervisor.fault(record, slot.key, how === undefined ? 'killed' : 'crash', new KernelError('CRASH', { how: how ?? 'out of memory, or killed from outside' }), slot);
}
