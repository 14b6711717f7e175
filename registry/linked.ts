/** From the lock file to the plugins of the npm tier. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { discoverPlugin } from '../kernel/discover.ts';
import type { Candidate } from '../kernel/lifecycle.ts';
import { complete } from '../kernel/manifest.ts';
import { type LockEntry, readLock } from './lock.ts';

/**
 * One candidate for each entry of the lock file, by id. What is not as the person agreed to it is reported as
 * unusable, never left out: a guard among the plugins must not go unnoticed.
 *
 * @throws KernelError what `readLock` throws
 */
export function linkedCandidates(file: string): Candidate[] {
  return Object.entries(readLock(file)).map(([id, entry]) => linkedCandidate(id, entry));
}

function linkedCandidate(id: string, entry: LockEntry): Candidate {
  const { path, version, capabilities } = entry;
  const found = existsSync(path) ? discoverPlugin('npm', path) : undefined;
  const agreed = { ...complete({ id, version, capabilities }, id), ...(found && !found.bare && { requires: found.manifest.requires }) };
  const unusable = (reason: string, hint: string): Candidate => ({ tier: 'npm', path, entry: path, manifest: agreed, bare: false, problem: { reason, hint } });

  if (!found) {
    const [what, back] = existsSync(path) ? ['holds no plugin any more', 'restore it'] : ['does not exist any more', 'put it back'];
    return unusable(`the linked folder ${path} ${what}`, `${back}, or run: agent plugin remove ${id}`);
  }
  if (found.problem) return unusable(found.problem.reason, found.problem.hint);
  // The fallback id of a bare folder is its name, which may be none.
  const stated = found.bare ? id : found.manifest.id;
  if (stated !== id) return unusable(`${basename(path)} now calls itself "${stated}", it was added as "${id}"`, `agent plugin add ${path}`);
  const grown = found.manifest.capabilities.filter((capability) => !capabilities.includes(capability));
  if (grown.length > 0) return unusable(`it now asks for more than you agreed to: ${grown.join(', ')}`, `look at it, then run: agent plugin add ${path}`);
  return found.bare ? { ...found, manifest: { ...found.manifest, id } } : found;
}
