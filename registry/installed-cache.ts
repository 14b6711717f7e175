/** What the lock file of installed plugins comes to, kept so that a start need not check 200 entries and read 200 manifests. */
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeAtomic } from '../kernel/atomic-write.ts';
import type { Candidate } from '../kernel/lifecycle.ts';
import { readPlainFile } from '../kernel/paths.ts';

/** A plugin whose tree is never written to: what was once read of it holds while the lock file is the same. */
export interface KeptCandidate {
  readonly candidate: Pick<Candidate, 'tier' | 'path' | 'entry' | 'manifest' | 'bare' | 'digest'>;
  readonly tree: string;
}

const format = 1;

/**
 * What was kept of this very lock file; undefined where there is nothing, it is not what was written, or a tree is gone.
 * The trees themselves are looked at when a plugin is loaded.
 */
export function keptCandidates(file: string, lockText: string): readonly KeptCandidate[] | undefined {
  try {
    const text = readPlainFile(file);
    const end = text.indexOf('\n');
    const body = text.slice(end + 1);
    if (text.slice(0, end) !== headOf(lockText, body)) return undefined;
    const kept = JSON.parse(body) as KeptCandidate[];
    return kept.every(({ candidate }) => existsSync(candidate.entry)) ? kept : undefined;
  } catch {
    return undefined;
  }
}

export function keepCandidates(file: string, lockText: string, kept: readonly KeptCandidate[]): void {
  const body = JSON.stringify(kept);
  try {
    writeAtomic(file, `${headOf(lockText, body)}\n${body}`);
  } catch {
    // A disk that cannot be written costs the next start its speed, and nothing else.
  }
}

function headOf(lockText: string, body: string): string {
  return hash('sha256', JSON.stringify([format, lockText, body]));
}
