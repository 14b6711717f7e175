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
    note && `[${note}]`,
    text,
    end.left && leftBehindLine(end.left, end.group),
    output.file && fileLine(output),
    end.stopped === 'limit' && limitHint,
    lastLine(end, text === '', limit),
  ];
  return {
    text: lines.filter(Boolean).join('\n'),
    isError: end.stopped !== undefined || end.exitCode !== 0,
    data: { exitCode: end.exitCode, signal: end.signal, ms: Math.round(end.ms) },
  };
}

const limitHint =
  '[if it waited for an answer: there is no terminal, and its input is empty; if it needs longer, pass `timeout`, or start it in the background with its output in a file]';

function lastLine({ exitCode, signal, ms, stopped }: ProcessEnd, silent: boolean, limit: number): string {
  const seconds = `${(ms / 1_000).toFixed(1)} s`;
  const start = silent ? '(no output, ' : '(';
  if (stopped === 'cancel') return `${start}cancelled, ${seconds})`;
  if (stopped === 'limit') return `${start}timed out after ${limit} s and was killed)`;
  return signal ? `${start}killed by ${signal}, ${seconds})` : `${start}exit code ${exitCode}, ${seconds})`;
}

function leftBehindLine({ inGroup, holdsOutput, processes }: LeftBehind, group: number): string {
  const groups = [...new Set([...(inGroup ? [group] : []), ...processes.map((entry) => entry.group)])];
  const who = inGroup ? 'a process of this command still runs' : 'a process outside the group of this command still runs and holds its output';
  const pids = processes.length > 0 ? ` (pid ${processes.map(({ pid }) => pid).join(', ')})` : '';
  const parts = [
    who + pids,
    groups.length > 0 && `stop it with: kill -TERM ${groups.map((one) => `-${one}`).join(' ')}`,
    holdsOutput && 'its further output goes to the file below',
    groups.length > 0 && 'it ends with the session',
  ];
  return `[${parts.filter(Boolean).join('; ')}]`;
}

function fileLine({ file, bytes }: CapturedOutput): string {
  if (!file) return '';
  return file.gap ? `[full output: ${file.path}, not all of ${bytes} bytes: ${file.gap}]` : `[full output: ${file.path}, ${bytes} bytes]`;
}
