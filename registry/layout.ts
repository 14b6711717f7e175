/** Text laid out for a terminal. */
import { homedir } from 'node:os';
import { sep } from 'node:path';

type Paint = (text: string) => string;

export interface Cell {
  readonly text: string;
  /** Applied after padding, so that colour does not count as width. */
  readonly paint?: Paint;
}

/** Rows as lines with aligned columns, two blanks apart; the last column is not padded. */
export function alignRows(rows: readonly (readonly Cell[])[]): string[] {
  const widths = columnWidths(rows);
  return rows.map((row) =>
    row
      .map(({ text, paint = plain }, column) => paint(column === row.length - 1 ? text : text.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** Columns that the cells of `rows` take, without the last one. */
export function widthBeforeLast(rows: readonly (readonly Cell[])[]): number {
  return columnWidths(rows)
    .slice(0, -1)
    .reduce((sum, width) => sum + width + 2, 0);
}

/** Facts as indented lines: dimmed name, value. */
export function factLines(facts: readonly (readonly [name: string, value: string])[], dim: Paint): string[] {
  return alignRows(facts.map(([name, value]) => [{ text: name, paint: dim }, { text: value }])).map((line) => `  ${line}`);
}

/** `text` in lines of at most `width`, broken between words; a longer word keeps a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** The end of `text`, which in a path says most. */
export function keepEnd(text: string, width: number): string {
  return text.length <= width ? text : `…${text.slice(text.length - Math.max(1, width - 1))}`;
}

/** `path` with the home folder written as `~`. */
export function shortPath(path: string, home: string = homedir()): string {
  if (path === home) return '~';
  return home !== '' && path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path;
}

/** `1 file`, `2 files`. */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

function columnWidths(rows: readonly (readonly Cell[])[]): number[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  return Array.from({ length: columns }, (_, column) => Math.max(0, ...rows.map((row) => row[column]?.text.length ?? 0)));
}

function plain(text: string): string {
  return text;
}
