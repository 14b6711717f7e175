/** From the lock files to the plugins of the npm tier. */
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { discoverPlugin } from '../kernel/discover.ts';
import type { Candidate } from '../kernel/lifecycle.ts';
import { complete } from '../kernel/manifest.ts';
import { isInside, realPath } from '../kernel/paths.ts';
import { type InstallTarget, isTree, pluginFolder, treeFolder, verifyTree } from './install/tree.ts';
import { keepCandidates, keptCandidates } from './installed-cache.ts';
import { beyondAgreement, entryOf, type InstalledEntry, type LinkEntry, lockText, readLock } from './lock.ts';

/**
 * One candidate for each entry of the lock file, by id. What is not as the person agreed to it is reported as
 * unusable, never left out: a guard among the plugins must not go unnoticed. Trees are not read: a plugin is looked at
 * when it is loaded.
 *
 * @param cache folder where what was read is kept
 * @throws KernelError what `readLock` throws
 */
export function installedCandidates(target: InstallTarget, cache: string): Candidate[] {
  const text = lockText(target.lock);
  if (text === undefined) return [];
  const file = join(cache, `installed-${hash('sha256', target.lock).slice(0, 16)}.json`);
  const kept = keptCandidates(file, text);
  if (kept) return kept.map(({ candidate, tree }) => ({ ...candidate, changed: () => changeOf(tree, candidate.digest ?? '', target) }));
  const candidates = readCandidates(target);
  const trees = Object.entries(readLock(target.lock)).map(([id, entry]) => (entry.source === 'link' ? undefined : treeFolder(target, id, entry)));
  // A linked folder may be another at each start, and what cannot be used is looked at anew.
  if (trees.every((tree) => tree !== undefined) && candidates.every(({ problem }) => !problem)) {
    keepCandidates(file, text, candidates.map(({ tier, path, entry, manifest, bare, digest }, index) => ({ candidate: { tier, path, entry, manifest, bare, ...(digest !== undefined && { digest }) }, tree: trees[index] ?? '' })));
  }
  return candidates;
}

function changeOf(tree: string, digest: string, target: InstallTarget): string | undefined {
  return isTree(tree, digest) ? undefined : `its files in ${tree} are not the ones you agreed to. To fix it: run: ${mending(target)}`;
}

function readCandidates(target: InstallTarget): Candidate[] {
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
  const folder = pluginFolder(target, id, entry);
  const path = realPath(folder) ?? folder;
  const unusable = unusableAs(id, path, entry.version, entry.capabilities);
  const mend = `run: ${mending(target)}`;
  const found = existsSync(path) ? discoverPlugin('npm', path) : undefined;
  if (!found) return unusable(existsSync(path) ? `its folder ${path} holds no plugin any more` : `${entry.name} ${entry.version} is not installed on this machine`, mend);
  if (!isInside(realPath(path) ?? path, found.entry) && !found.problem) return unusable('its agent.main leads out of the package', `run: agent plugin remove ${id}`);
  if (found.bare && !found.problem) return unusable(`its folder ${path} no longer states what it is`, mend);
  return {
    ...checked(found, id, entry.capabilities, unusable, mend),
    digest: entry.contentDigest,
    changed: () => changeOf(treeFolder(target, id, entry), entry.contentDigest, target),
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
