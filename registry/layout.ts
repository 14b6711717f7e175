/** Text laid out for a terminal. */
import { homedir } from 'node:os';
import { sep } from 'node:path';
import { type CommandIO, displayWidth, printable, type TableLayout } from 'newt-agent';

/** How a table of this plugin looks: cut to the width of a terminal, whole anywhere else. */
export function tableLayout(io: CommandIO): TableLayout {
  return io.interactive ? { width: io.columns, titleStyle: io.style.bold } : {};
}

/** Facts as indented lines: name, value. */
export function factLines(facts: readonly (readonly [name: string, value: string])[], style: (name: string) => string = (name) => name): string[] {
  const width = Math.max(0, ...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `  ${style(name.padEnd(width))}  ${printable(value)}`);
}

/** `text` in lines of at most `width` columns, broken between words; a longer word keeps a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && displayWidth(line) + 1 + displayWidth(word) <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
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
