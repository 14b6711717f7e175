/** What the person typed, kept across sessions: one file of JSON lines, for this user alone. */
import { appendFileSync, chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export interface History {
  /** The oldest first. */
  readonly entries: readonly string[];
  /** @returns why it could not be kept; undefined when it was, or is not meant to be */
  add(text: string): string | undefined;
}

/** As many as the editor goes back to. */
export const maxEntries = 100;
/** The file is rewritten at a start that finds more. */
const maxLines = 500;
/** A pasted log is not worth keeping. */
const maxEntryLength = 10_000;

export function openHistory(file: string): History {
  const kept = readEntries(file);
  let last = kept.at(-1);
  return {
    entries: kept.slice(-maxEntries),
    add(text) {
      // A blank in front keeps it out, as in shells.
      if (/^\s/.test(text) || !text.trim() || text === last || text.length > maxEntryLength) return undefined;
      last = text;
      try {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        appendFileSync(file, `${JSON.stringify(text)}\n`, { mode: 0o600 });
        return undefined;
      } catch (error) {
        return (error as Error).message;
      }
    },
  };
}

function readEntries(file: string): string[] {
  let lines: string[];
  try {
    lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return []; // none yet, or not readable: a chat works without, and `add` tells
  }
  const entries = lines.flatMap((line) => parse(line) ?? []);
  if (lines.length > maxLines) rewrite(file, entries.slice(-maxEntries));
  return entries;
}

function parse(line: string): string | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'string' ? entry : undefined;
  } catch {
    return undefined; // a torn line
  }
}

function rewrite(file: string, entries: readonly string[]): void {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 });
    chmodSync(draft, 0o600);
    renameSync(draft, file);
  } catch {
    // It stays long; the next start tries again.
  }
}
