/** From the lock file to the plugins of the npm tier. */
import { existsSync } from 'node:fs';
import { discoverPlugin } from '../kernel/discover.ts';
import type { Candidate } from '../kernel/lifecycle.ts';
import { complete } from '../kernel/manifest.ts';
import { beyondAgreement, type LockEntry, readLock } from './lock.ts';

/**
 * One candidate for each entry of the lock file, by id. What is not as the person agreed to it is reported as
 * unusable, never left out: a guard among the plugins must not go unnoticed.
 *
 * @throws KernelError what `readLock` throws
 */
export function linkedCandidates(file: string): Candidate[] {
  return Object.entries(readLock(file)).map(([id, entry]) => linkedCandidate(id, entry));
}

function linkedCandidate(id: string, { path, version, capabilities }: LockEntry): Candidate {
  const found = existsSync(path) ? discoverPlugin('npm', path) : undefined;
  // With the gates it was added with: while it cannot run, they deny.
  const agreed = complete({ id, version, capabilities: capabilities ?? [] }, id);
  const unusable = (reason: string, hint: string): Candidate => ({ tier: 'npm', path, entry: path, manifest: agreed, bare: true, problem: { reason, hint } });

  if (!found) {
    const [what, back] = existsSync(path) ? ['holds no plugin any more', 'restore it'] : ['does not exist any more', 'put it back'];
    return unusable(`the linked folder ${path} ${what}`, `${back}, or run: agent plugin remove ${id}`);
  }
  if (found.problem) return unusable(found.problem.reason, found.problem.hint);
  const again = `look at it, then run: agent plugin add ${path}`;
  if (found.manifest.id !== id) return unusable(`it now calls itself "${found.manifest.id}", it was added as "${id}"`, again);
  const grown = beyondAgreement(capabilities, found.bare ? null : found.manifest.capabilities);
  if (grown === null) return unusable('it no longer states in a package.json what it asks for', again);
  if (grown.length > 0) return unusable(`it now asks for more than you agreed to: ${grown.join(', ')}`, again);
  return found;
}
