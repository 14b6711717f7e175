/** The switch: one replacement of the lock file, after which the new tree counts, and before which the old one does. */
import { randomUUID } from 'node:crypto';
import { existsSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isKernelError } from 'newt-agent';
import { makeFolder } from '../../kernel/paths.ts';
import { entryOf, type InstalledEntry, type InstalledVersion, type LockEntries, type LockEntry, updateLock } from '../lock.ts';
import { diskProblem } from '../report.ts';
import { type JournalLine, note, openChanges } from './journal.ts';
import { damagedSuffix, namesIn, type Staged, sweepStaging } from './stage.ts';
import { type InstallTarget, treeFolder, treeName, verifyTree } from './tree.ts';

export interface Switch {
  readonly target: InstallTarget;
  readonly action: NonNullable<JournalLine['action']>;
  readonly id: string;
  /** The tree of the entry; undefined where it is there already, or where there is none. */
  readonly staged?: Staged | undefined;
  /** Looks at what is in the lock file now, and answers what is to be there. @throws to leave everything as it is */
  readonly change: (entries: LockEntries) => LockEntry | undefined;
  readonly accepted?: readonly string[];
  /** Hears where a tree that was damaged has been put; without, it is removed. */
  readonly keepDamaged?: (aside: string) => void;
  readonly now: () => number;
}

/** How long a tree that nobody states any more stays for agents that still run from it, in milliseconds. */
const keptTree = 86_400_000;

/**
 * Puts an entry and its tree in place, or takes both away. A process that dies in here leaves the old state or the new.
 *
 * @returns the entry that is there now
 * @throws OperationalError, KernelError: nothing was changed
 */
export async function commit({ target, action, id, staged, change, accepted, keepDamaged, now }: Switch): Promise<LockEntry | undefined> {
  let entry: LockEntry | undefined;
  let before: LockEntry | undefined;
  const made: { tree?: string | undefined; line?: JournalLine } = {};
  const at = (): string => new Date(now()).toISOString();
  try {
    await updateLock(
      target.lock,
      (entries) => {
        sweepStaging(target);
        closeInterrupted(target, entries, at());
        before = entryOf(entries, id);
        entry = change(entries);
        if (entry === before && (!staged || !entry || entry.source === 'link' || verifyTree(target, id, entry) === undefined)) return entries;
        made.line = { at: at(), change: randomUUID(), state: 'begun', action, plugin: id, lock: target.lock, from: nameOf(before), to: nameOf(entry), ...(accepted && accepted.length > 0 && { accepted }) };
        note(target.journal, made.line);
        if (staged && entry && entry.source !== 'link' && putInPlace(target, id, entry, staged, keepDamaged)) made.tree = treeFolder(target, id, entry);
        const { [id]: _, ...others } = entries;
        return entry ? { ...others, [id]: entry } : others;
      },
      (entries) => {
        made.tree = undefined;
        // It has happened. What is left to do, the next writer does where the disk does not let us.
        onDisk(() => made.line && note(target.journal, { at: at(), change: made.line.change, state: 'done' }));
        onDisk(() => sweepTrees(target, entries, before, now()));
      },
    );
  } catch (error) {
    // The lock file is as it was; a tree it does not state goes again.
    if (made.tree !== undefined && !versionsOf(before).some((one) => treeFolder(target, id, one) === made.tree)) rmSync(made.tree, { recursive: true, force: true });
    throw diskProblem(error, dirname(target.lock));
  } finally {
    if (!keepDamaged) staged?.discard();
  }
  return entry;
}

function nameOf(entry: LockEntry | undefined): string | null {
  return !entry || entry.source === 'link' ? null : treeName(entry);
}

/** @returns false where the same tree, whole, is there already */
function putInPlace(target: InstallTarget, id: string, entry: InstalledVersion, { folder }: Staged, keepDamaged: Switch['keepDamaged']): boolean {
  const place = treeFolder(target, id, entry);
  if (verifyTree(target, id, entry) === undefined) return false;
  makeFolder(dirname(place));
  // One that is damaged makes room; it goes with the staged ones.
  if (existsSync(place)) {
    const aside = `${folder}${damagedSuffix}`;
    renameSync(place, aside);
    renameSync(folder, place);
    if (keepDamaged) keepDamaged(aside);
    else rmSync(aside, { recursive: true, force: true });
    return true;
  }
  renameSync(folder, place);
  return true;
}

/** What a process that died had begun: the lock file tells whether it came to be. */
function closeInterrupted({ journal, lock }: InstallTarget, entries: LockEntries, at: string): void {
  for (const { change, plugin = '', to = null, lock: of } of openChanges(journal)) {
    if (of !== lock) continue;
    note(journal, { at, change, state: nameOf(entryOf(entries, plugin)) === to ? 'done' : 'interrupted' });
  }
}

/**
 * Removes the trees of plugins that are not in the lock file, at once, and older versions after a day: an agent that was
 * started with one may still load from it.
 */
function sweepTrees(target: InstallTarget, entries: LockEntries, before: LockEntry | undefined, now: number): void {
  for (const id of namesIn(target.trees).filter((name) => /^[a-z][a-z0-9-]*$/.test(name))) {
    const entry = entryOf(entries, id);
    const folder = join(target.trees, id);
    if (!entry || entry.source === 'link') {
      rmSync(folder, { recursive: true, force: true });
      continue;
    }
    const stated = versionsOf(entry).map(treeName);
    const dropped = versionsOf(before).map(treeName).filter((name) => !stated.includes(name));
    for (const tree of namesIn(folder).filter((one) => !stated.includes(one)).map((one) => join(folder, one))) {
      // It counts as in use from now on.
      if (dropped.includes(basename(tree))) utimesSync(tree, now / 1_000, now / 1_000);
      if (now - (statSync(tree, { throwIfNoEntry: false })?.mtimeMs ?? now) > keptTree) rmSync(tree, { recursive: true, force: true });
    }
  }
}

function versionsOf(entry: LockEntry | undefined): InstalledVersion[] {
  return !entry || entry.source === 'link' ? [] : [entry, ...(entry.previous ? [entry.previous] : [])];
}

function onDisk(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error) && !isKernelError(error)) throw error;
  }
}

/** An entry whose predecessor can be rolled back to. */
export function withPrevious(entry: InstalledVersion, before: LockEntry | undefined): InstalledEntry {
  if (!before || before.source === 'link') return entry;
  if (treeName(before) === treeName(entry)) return { ...entry, ...(before.previous && { previous: before.previous }) };
  const { previous: _, ...last } = before;
  return { ...entry, previous: last };
}
