/** `agent plugin rollback` */
import { type Command, command, kernelControl, oneLine, type PluginContext } from 'newt-agent';
import { commit } from './install/commit.ts';
import { refuseBuiltin } from './install/install.ts';
import { planOf, type Restorable, stageLocked } from './install/restore.ts';
import type { Staged } from './install/stage.ts';
import { treeName, verifyTree } from './install/tree.ts';
import { installOptions, openRun } from './install-run.ts';
import { interruptible } from './interrupts.ts';
import { entryOf, type InstalledEntry, readLock } from './lock.ts';
import type { RegistryConfig } from './manifest.ts';
import { failed, refused, reporting } from './report.ts';
import { installedOf } from './update.ts';

const names: readonly string[] = ['--offline', '--project', '--json'];

/** Puts the version before the last update back, which was agreed to then. A second time undoes the first. */
export function rollbackCommand(p: PluginContext<RegistryConfig>): Command {
  return command({
    description: 'Go back to the version a plugin had before its last update',
    arguments: [{ name: 'id', description: 'Id of the plugin', required: true, values: 'plugins' }],
    options: installOptions.filter(({ flags }) => names.includes(flags)),
    examples: ['agent plugin rollback git'],
    run: interruptible(reporting(async ({ arguments: { id: given }, options }, { io, signal }) => {
      const id = String(given);
      const run = await openRun(p, options, io, signal, undefined, false);
      const { target, session, catalog } = run;
      const entries = readLock(target.lock);
      const entry: InstalledEntry = installedOf(id, entryOf(entries, id), Object.keys(entries));
      const { previous } = entry;
      if (!previous) throw refused(`${id} has had no other version`, 'nothing can be gone back to');
      refuseBuiltin(id, run.plugins);
      let staged: Staged | undefined;
      if (verifyTree(target, id, previous) !== undefined) {
        const restorable: Restorable = { id, entry: previous, target, session, catalog, version: p.use(kernelControl).version };
        staged = await stageLocked(await planOf(restorable), restorable);
      }
      const { previous: _, ...last } = entry;
      await commit({
        target, action: 'rollback', id, staged, now: run.now,
        change(now) {
          const there = entryOf(now, id);
          if (!there || there.source === 'link' || treeName(there) !== treeName(entry)) throw failed(`${id} was changed meanwhile`, 'look at it, then try again: agent plugin list');
          return { ...previous, previous: last };
        },
      });
      if (run.json) io.json({ id, from: entry.version, to: previous.version });
      else io.print(`${io.style.cyan(id)} is at ${oneLine(previous.version, 40)} again, it was at ${oneLine(entry.version, 40)}`);
      return 0;
    })),
  });
}
