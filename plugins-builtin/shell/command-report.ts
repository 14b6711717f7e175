/** What the model is told of a command that ended. */
import type { ToolResult } from 'newt-agent';
import type { CapturedOutput } from './captured-output.ts';
import type { LeftBehind, ProcessEnd } from './run-process.ts';

/**
 * The output, what else there is to know, and a last line such as `(exit code 1, 0.4 s)`. Everything
 * but exit code 0 is marked as an error, and none of it is a fault: it is what the command did.
 *
 * @param limit seconds the command was allowed
 */
export function commandReport(end: ProcessEnd, output: CapturedOutput, limit: number, note: string | undefined): ToolResult {
  const text = output.text.trimEnd();
  const lines = [
    note && `(${note})`,
    text,
    end.left && leftBehindLine(end.left, end.group, output),
    output.file && fileLine(output),
    lastLine(end, text === '', limit),
  ];
  return {
    text: lines.filter(Boolean).join('\n'),
    isError: end.stopped !== undefined || end.exitCode !== 0,
    data: { exitCode: end.exitCode, signal: end.signal, ms: Math.round(end.ms) },
  };
}

function lastLine({ exitCode, signal, ms, stopped }: ProcessEnd, silent: boolean, limit: number): string {
  const seconds = `${(ms / 1_000).toFixed(1)} s`;
  const start = silent ? '(no output, ' : '(';
  if (stopped === 'cancel') return `${start}cancelled, ${seconds})`;
  if (stopped === 'limit') {
    return (
      `${start}timed out after ${limit} s and was killed)\n` +
      'If it waited for an answer: there is no terminal, and its input is empty. If it needs longer, pass `timeout`, ' +
      'or let it run in the background with `command >file 2>&1 &`.'
    );
  }
  return signal ? `${start}killed by ${signal}, ${seconds})` : `${start}exit code ${exitCode}, ${seconds})`;
}

function leftBehindLine({ inGroup, processes }: LeftBehind, group: number, output: CapturedOutput): string {
  const pids = processes.map(({ pid }) => pid).join(', ');
  const known = pids && `pid ${pids}; `;
  const groups = [...new Set([...(inGroup ? [group] : []), ...processes.map((entry) => entry.group)])];
  const stop = groups.length > 0 ? `stop: kill -TERM ${groups.map((one) => `-${one}`).join(' ')}; ` : '';
  const what = inGroup ? 'a process of this command still runs' : 'a process outside the group of this command still runs and holds its output';
  return `(${what} (${known}${stop}${output.file ? 'further output: the file below; ' : ''}it ends with the session))`;
}

function fileLine({ file, bytes }: CapturedOutput): string {
  if (!file) return '';
  return file.gap ? `(full output: ${file.path}, not all of ${bytes} bytes: ${file.gap})` : `(full output: ${file.path}, ${bytes} bytes)`;
}
