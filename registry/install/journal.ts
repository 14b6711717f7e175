/** What was installed, changed and removed, and when: append-only lines, written before the change and closed after it. */
import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeAtomic } from '../../kernel/atomic-write.ts';
import { makeFolder } from '../../kernel/paths.ts';

export interface JournalLine {
  /** ISO time. */
  readonly at: string;
  /** Ties the lines of one change together. */
  readonly change: string;
  readonly state: 'begun' | 'done' | 'undone' | 'interrupted';
  readonly action?: 'add' | 'update' | 'remove' | 'rollback' | 'sync' | 'mend';
  readonly plugin?: string;
  readonly lock?: string;
  /** Names of trees; null where there is none. */
  readonly from?: string | null;
  readonly to?: string | null;
  readonly accepted?: readonly string[];
}

const maxBytes = 256_000;
/** What is kept when it is full. */
const keptBytes = 128_000;

/** Adds a line. Only who holds the lock file may. @throws the error of the file system */
export function note(journal: string, line: JournalLine): void {
  makeFolder(dirname(journal));
  if ((statSync(journal, { throwIfNoEntry: false })?.size ?? 0) > maxBytes) writeAtomic(journal, latest(readJournal(journal)));
  appendFileSync(journal, text([line]), { mode: 0o600 });
}

/** All lines that can be read, oldest first. */
export function readJournal(journal: string): JournalLine[] {
  let all: string;
  try {
    all = readFileSync(journal, 'utf8');
  } catch {
    return [];
  }
  return all.split('\n').flatMap((line) => {
    try {
      const parsed = JSON.parse(line) as JournalLine | null;
      return parsed && typeof parsed.change === 'string' && typeof parsed.state === 'string' ? [parsed] : [];
    } catch {
      return []; // the torn line of a process that was killed
    }
  });
}

/** Changes that were begun and never closed: their process is gone, since nobody else may write now. */
export function openChanges(journal: string): JournalLine[] {
  const open = new Map<string, JournalLine>();
  for (const line of readJournal(journal)) {
    if (line.state === 'begun') open.set(line.change, line);
    else open.delete(line.change);
  }
  return [...open.values()];
}

function latest(lines: readonly JournalLine[]): string {
  let kept = '';
  for (const line of [...lines].reverse()) {
    const next = text([line]);
    if (kept.length + next.length > keptBytes) break;
    kept = next + kept;
  }
  return kept;
}

function text(lines: readonly JournalLine[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
