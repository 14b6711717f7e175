/** From the lock files to the plugins of the npm tier. */
import { existsSync } from 'node:fs';
import { discoverPlugin } from '../kernel/discover.ts';
import type { Candidate } from '../kernel/lifecycle.ts';
import { complete } from '../kernel/manifest.ts';
import { isInside, realPath } from '../kernel/paths.ts';
import { type InstallTarget, pluginFolder, treeFolder, verifyTree } from './install/tree.ts';
import { beyondAgreement, entryOf, type InstalledEntry, type LinkEntry, readLock } from './lock.ts';

/**
 * One candidate for each entry of the lock file, by id. What is not as the person agreed to it is reported as
 * unusable, never left out: a guard among the plugins must not go unnoticed. Trees are not read: whoever loads a plugin
 * asks `verifyTree` first.
 *
 * @throws KernelError what `readLock` throws
 */
export function installedCandidates(target: InstallTarget): Candidate[] {
  return Object.entries(readLock(target.lock)).map(([id, entry]) => (entry.source === 'link' ? linkedCandidate(id, entry, target) : installedCandidate(id, entry, target)));
}

function linkedCandidate(id: string, { path, version, capabilities }: LinkEntry, { project }: InstallTarget): Candidate {
  const unusable = unusableAs(id, path, version, capabilities);
  if (project !== undefined) return unusable('a project cannot link a folder of this machine', 'put the plugin into .agent/plugins');
  const found = existsSync(path) ? discoverPlugin('npm', path) : undefined;
  if (!found) {
    const [what, back] = existsSync(path) ? ['holds no plugin any more', 'restore it'] : ['does not exist any more', 'put it back'];
    return unusable(`the linked folder ${path} ${what}`, `${back}, or run: agent plugin remove ${id}`);
  }
  return checked(found, id, capabilities, unusable, `look at it, then run: agent plugin add ${path}`);
}

function installedCandidate(id: string, entry: InstalledEntry, target: InstallTarget): Candidate {
  const path = pluginFolder(target, id, entry);
  const unusable = unusableAs(id, path, entry.version, entry.capabilities);
  const mend = `run: ${mending(target)}`;
  const found = existsSync(path) ? discoverPlugin('npm', path) : undefined;
  if (!found) return unusable(existsSync(path) ? `its folder ${path} holds no plugin any more` : `${entry.name} ${entry.version} is not installed on this machine`, mend);
  if (!isInside(realPath(path) ?? path, found.entry) && !found.problem) return unusable('its agent.main leads out of the package', `run: agent plugin remove ${id}`);
  if (found.bare && !found.problem) return unusable(`its folder ${path} no longer states what it is`, mend);
  return {
    ...checked(found, id, entry.capabilities, unusable, mend),
    digest: entry.contentDigest,
    changed: () => {
      const problem = treeProblem(target, id);
      return problem && `${problem.reason}. To fix it: ${problem.hint}`;
    },
  };
}

/**
 * What keeps an installed plugin from being loaded: its tree is not, file by file, the one that was agreed to. Reads all
 * of the tree, so it is asked when the plugin is about to be loaded, not at a start.
 *
 * @returns undefined where all is well, and for a plugin that is used where it lies
 * @throws KernelError what `readLock` throws
 */
export function treeProblem(target: InstallTarget, id: string): { readonly reason: string; readonly hint: string } | undefined {
  const entry = entryOf(readLock(target.lock), id);
  if (!entry || entry.source === 'link') return undefined;
  const problem = verifyTree(target, id, entry);
  if (problem === undefined) return undefined;
  const reason = problem === 'missing' ? `${entry.name} ${entry.version} is not installed on this machine` : `its files in ${treeFolder(target, id, entry)} are not the ones you agreed to`;
  return { reason, hint: `run: ${mending(target)}` };
}

function mending({ project }: InstallTarget): string {
  return `agent plugin sync${project === undefined ? '' : ' --project'}`;
}

type Unusable = (reason: string, hint: string) => Candidate;

/** With the gates it was added with: while it cannot run, they deny. */
function unusableAs(id: string, path: string, version: string, capabilities: readonly string[] | null): Unusable {
  const agreed = complete({ id, version, capabilities: capabilities ?? [] }, id);
  return (reason, hint) => ({ tier: 'npm', path, entry: path, manifest: agreed, bare: true, problem: { reason, hint } });
}

function checked(found: Candidate, id: string, capabilities: readonly string[] | null, unusable: Unusable, again: string): Candidate {
  if (found.problem) return unusable(found.problem.reason, found.problem.hint);
  if (found.manifest.id !== id) return unusable(`it now calls itself "${found.manifest.id}", it was added as "${id}"`, again);
  const grown = beyondAgreement(capabilities, found.bare ? null : found.manifest.capabilities);
  if (grown === null) return unusable('it no longer states in a package.json what it asks for', again);
  if (grown.length > 0) return unusable(`it now asks for more than you agreed to: ${grown.join(', ')}`, again);
  return found;
}
