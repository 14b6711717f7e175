/** `agent plugin sync` */
import { type Command, type CommandIO, command, kernelControl, oneLine, type PluginContext } from 'newt-agent';
import { commit } from './install/commit.ts';
import { askConsent, showPlan } from './install/consent.ts';
import { type InstallRun, refuseBuiltin } from './install/install.ts';
import { planOf, type Restorable, stageLocked } from './install/restore.ts';
import { concernsOf } from './install/policy.ts';
import { treeName, verifyTree } from './install/tree.ts';
import { installOptions, openRun } from './install-run.ts';
import { interruptible } from './interrupts.ts';
import { entryOf, type InstalledEntry, readLock } from './lock.ts';
import type { RegistryConfig } from './manifest.ts';
import { failed, reporting } from './report.ts';

interface Synced {
  readonly id: string;
  readonly version: string;
  readonly result: 'unchanged' | 'installed' | 'declined' | 'planned';
}

/** Makes this machine have exactly what the lock file states. What is there and whole is left alone. */
export function syncCommand(p: PluginContext<RegistryConfig>): Command {
  return command({
    description: 'Install exactly what the lock file states, and mend what is damaged',
    options: [...installOptions],
    examples: ['agent plugin sync', 'agent plugin sync --project --yes'],
    run: interruptible(reporting(async ({ options }, { io, signal }) => {
      const run = await openRun(p, options, io, signal, undefined, false);
      const done: Synced[] = [];
      for (const [id, entry] of Object.entries(readLock(run.target.lock))) {
        if (entry.source !== 'link') done.push(await sync(id, entry, run, p.use(kernelControl).version));
      }
      if (run.json) io.json(done);
      else tell(done, io);
      return done.some(({ result }) => result === 'declined') ? 1 : 0;
    })),
  });
}

async function sync(id: string, entry: InstalledEntry, run: InstallRun, version: string): Promise<Synced> {
  const { target, session, catalog, consent, io, plugins } = run;
  const told = (result: Synced['result']): Synced => ({ id, version: entry.version, result });
  if (verifyTree(target, id, entry) === undefined) return told('unchanged');
  refuseBuiltin(id, plugins);
  const restorable: Restorable = { id, entry, target, session, catalog, version };
  const plan = await planOf(restorable);
  const concerns = concernsOf(plan, { settings: session.settings, catalog, now: session.now, isYoung: () => false, before: undefined });
  if (!run.json || !consent.yes) showPlan(plan, concerns, session.now, io);
  if (run.dryRun) return told('planned');
  const accepted = await askConsent(`Install ${id} ${entry.version} as the lock file states it?`, concerns, consent, io, session.signal);
  if (!accepted) return told('declined');
  const staged = await stageLocked(plan, restorable);
  await commit({
    target, action: 'sync', id, staged, accepted, now: run.now,
    change(entries) {
      const there = entryOf(entries, id);
      if (!there || there.source === 'link' || treeName(there) !== treeName(entry)) throw failed(`the lock file was changed meanwhile: ${id} is not what it was`, 'try again: agent plugin sync');
      return there;
    },
  });
  return told('installed');
}

function tell(done: readonly Synced[], io: CommandIO): void {
  for (const { id, version, result } of done) {
    if (result === 'installed') io.print(`Installed ${io.style.cyan(id)} ${oneLine(version, 40)}`);
    if (result === 'declined') io.say(`${id} was left out.`);
  }
  if (done.every(({ result }) => result === 'unchanged')) io.print(done.length === 0 ? 'The lock file states no package.' : 'Everything is as the lock file states it.');
}
