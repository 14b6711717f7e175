/** The findings as a person reads them. */
import { type CommandIO, displayWidth, type Level, type Style, truncate, wrap } from 'newt-agent';
import type { Reported } from './examine.ts';

const marks: Readonly<Record<Level, string>> = { ok: '✓', info: '·', warn: '!', error: '✗' };
const widestName = 16;

export function needsPerson(report: readonly Reported[]): boolean {
  return report.some(({ level }) => level === 'error');
}

/** One row a finding: mark, what, detail; what to do about it on lines of its own. */
export function printReport(report: readonly Reported[], io: CommandIO): void {
  const { style } = io;
  const columns = io.interactive ? io.columns : Infinity;
  const names = Math.min(widestName, Math.max(...report.map(({ what }) => displayWidth(what))));
  const margin = names + 4;
  for (const { level, what, detail, fix } of report) {
    const [first = '', ...others] = wrap(detail, columns - margin);
    io.print(`${markStyle(level, style)(marks[level])} ${truncate(what, names).padEnd(names)}  ${level === 'info' ? style.dim(first) : first}`);
    for (const line of others) io.print(`${' '.repeat(margin)}${level === 'info' ? style.dim(line) : line}`);
    if (fix === undefined) continue;
    for (const [index, line] of wrap(fix, columns - margin - 2).entries()) io.print(`${' '.repeat(margin)}${style.cyan(`${index === 0 ? '→ ' : '  '}${line}`)}`);
  }
  io.print(`\n${summary(report, style)}`);
}

function summary(report: readonly Reported[], style: Style): string {
  const amount = (level: Level, noun: string): string[] => {
    const found = report.filter((one) => one.level === level).length;
    return found === 0 ? [] : [`${found} ${noun}${found === 1 ? '' : 's'}`];
  };
  const parts = [...amount('error', 'problem'), ...amount('warn', 'warning')];
  if (parts.length === 0) return style.green('All is well.');
  return needsPerson(report) ? style.red(`${parts.join(', ')}: see →`) : style.yellow(`It works, with ${parts.join(', ')}.`);
}

function markStyle(level: Level, { green, dim, yellow, red }: Style): (text: string) => string {
  return { ok: green, info: dim, warn: yellow, error: red }[level];
}
