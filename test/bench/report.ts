/** One line per budget of the design: what was measured, the budget, and whether it was met. */
export interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly budget: number;
}

export function printRows(rows: readonly Row[]): boolean {
  const width = Math.max(...rows.map(({ what }) => what.length));
  for (const { what, value, unit, budget } of rows) {
    const met = value <= budget;
    process.stdout.write(`${met ? 'ok  ' : 'MISS'}  ${what.padEnd(width)}  ${value.toFixed(value < 10 ? 2 : 1).padStart(8)} ${unit} (budget ${budget})\n`);
  }
  return rows.every(({ value, budget }) => value <= budget);
}
