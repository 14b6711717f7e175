/** `git diff --numstat -z`: how much of which file changed. */
import { listed, nameText, plural } from './bounded-text.ts';

export interface FileStat {
  readonly path: string;
  readonly from?: string;
  /** Lines; undefined for a binary file. */
  readonly added?: number;
  readonly deleted?: number;
}

export function parseNumstat(output: string): FileStat[] {
  const fields = output.split('\0');
  const stats: FileStat[] = [];
  for (let at = 0; at < fields.length; at += 1) {
    // `git show` puts a line end between its header and this.
    const [, added = '', deleted = '', path = ''] = /^\n*(\d+|-)\t(\d+|-)\t([\s\S]*)$/.exec(fields[at] ?? '') ?? [];
    if (added === '') continue;
    const lines = added === '-' ? {} : { added: Number(added), deleted: Number(deleted) };
    // Of a renamed file both names follow as fields of their own.
    stats.push(path !== '' ? { path, ...lines } : { from: fields[at + 1] ?? '', path: fields[at + 2] ?? '', ...lines });
    if (path === '') at += 2;
  }
  return stats;
}

const maxShown = 100;

/** One line a file, and the sum. */
export function statLines(stats: readonly FileStat[], shown: (path: string) => string): string[] {
  const lines = stats.map(({ path, from, added, deleted }) => `  ${from === undefined ? '' : `${nameText(shown(from))} → `}${nameText(shown(path))}  ${added === undefined ? 'binary' : `+${added} -${deleted}`}`);
  const sum = (pick: (one: FileStat) => number | undefined): number => stats.reduce((all, one) => all + (pick(one) ?? 0), 0);
  return [...listed(lines, maxShown), `${plural(stats.length, 'file')}, +${sum(({ added }) => added)} -${sum(({ deleted }) => deleted)}`];
}

export function changedLines(stats: readonly FileStat[]): number {
  return stats.reduce((all, { added = 0, deleted = 0 }) => all + added + deleted, 0);
}
