/** Text laid out for a terminal. */
import { type CommandIO, displayWidth, printable, type TableLayout, wrap } from 'newt-agent';

/** How a table of this plugin looks: cut to the width of a terminal, whole anywhere else. */
export function tableLayout(io: CommandIO): TableLayout {
  return io.interactive ? { width: io.columns, titleStyle: io.style.bold } : {};
}

/** Columns that text may take: nobody but a terminal breaks lines. */
export function textColumns({ interactive, columns }: CommandIO): number {
  return interactive ? columns : Infinity;
}

export interface FactLayout {
  readonly columns?: number;
  readonly nameStyle?: (name: string) => string;
}

/** Facts as indented lines: name, value. A value that is too long goes on under itself. */
export function factLines(facts: readonly (readonly [name: string, value: string])[], { columns = Infinity, nameStyle = (name) => name }: FactLayout = {}): string[] {
  const width = Math.max(0, ...facts.map(([name]) => displayWidth(name)));
  const margin = ' '.repeat(width + 4);
  return facts.flatMap(([name, value]) => {
    const [first = '', ...others] = wrap(printable(value), columns - margin.length);
    return [`  ${nameStyle(name + ' '.repeat(width - displayWidth(name)))}  ${first}`, ...others.map((line) => margin + line)];
  });
}

/** `1 file`, `2 files`. */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}
