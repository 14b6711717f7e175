/** Where installed plugins lie: one tree for each plugin and version, never changed once it is there. */
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { KernelError } from 'newt-agent';
import type { HomePaths } from '../../kernel/paths.ts';
import { digestFolder } from '../../kernel/trust/digest.ts';
import { type InstalledVersion, lockFile, lockName } from '../lock.ts';

/** A lock file, and the folder of the trees it speaks of. */
export interface InstallTarget {
  readonly lock: string;
  /** `<trees>/<id>/<version>-<short hash>/node_modules/…` */
  readonly trees: string;
  /** Where what was done is written down; one for all targets. */
  readonly journal: string;
  /** The project's `.agent` folder; undefined for the person's own plugins. */
  readonly project: string | undefined;
}

/** The person's own plugins. */
export function globalTarget(paths: HomePaths): InstallTarget {
  return { lock: lockFile(paths), trees: join(paths.data, 'plugins'), journal: journalOf(paths), project: undefined };
}

/** The plugins a project states. They lie with the person's, by project: in the project they would be code of its repository. */
export function projectTarget(paths: HomePaths, folder: string): InstallTarget {
  return { lock: join(folder, lockName), trees: join(paths.data, 'project-plugins', hash('sha256', folder).slice(0, 16)), journal: journalOf(paths), project: folder };
}

function journalOf(paths: HomePaths): string {
  return join(paths.data, 'plugins', 'journal.jsonl');
}

/** The name of a version's tree: the same packages have the same. */
export function treeName({ version, packages }: Pick<InstalledVersion, 'version' | 'packages'>): string {
  const listed = Object.keys(packages).sort().map((place) => [place, packages[place]?.version, packages[place]?.integrity]);
  return `${version}-${hash('sha256', JSON.stringify(listed)).slice(0, 12)}`;
}

export function treeFolder({ trees }: InstallTarget, id: string, entry: Pick<InstalledVersion, 'version' | 'packages'>): string {
  return join(trees, id, treeName(entry));
}

/** The folder of the plugin's own package. */
export function pluginFolder(target: InstallTarget, id: string, entry: Pick<InstalledVersion, 'version' | 'packages' | 'name'>): string {
  return join(treeFolder(target, id, entry), 'node_modules', entry.name);
}

/**
 * What is wrong with the tree of an entry: undefined when every file is as it was when the person agreed. Reads all
 * of it, so it is no work for a start: it belongs to the moment before the plugin's code is loaded.
 */
export function verifyTree(target: InstallTarget, id: string, entry: Pick<InstalledVersion, 'version' | 'packages' | 'contentDigest'>): 'missing' | 'changed' | undefined {
  const folder = treeFolder(target, id, entry);
  if (!existsSync(folder)) return 'missing';
  return isTree(folder, entry.contentDigest) ? undefined : 'changed';
}

/** Whether every file of a tree is as it was when its digest was taken. */
export function isTree(folder: string, contentDigest: string): boolean {
  try {
    return digestFolder(folder) === contentDigest;
  } catch (error) {
    // Grown beyond all bounds, or not readable: not what was agreed to either.
    if (error instanceof KernelError || (error instanceof Error && 'syscall' in error)) return false;
    throw error;
  }
}
