/** What is told of a search: one form for text and for code. */
import { isOperational, type Json, oneLine, type ToolResult } from 'newt-agent';
import type { MatchRecord, SkipReason } from './engine/protocol.ts';
import type { Outcome, Skipped } from './engine-process.ts';
import { type Place, shownPath } from './place.ts';

const shownCapture = 160;

const reasons: Readonly<Record<SkipReason, string>> = {
  binary: 'binary, not searched',
  'too large': 'too large, not searched',
  unreadable: 'could not be read',
  'too deep': 'nested too deep to search',
  node_modules: 'not searched, because there is no .gitignore (give it as path to search it)',
  'not UTF-8': 'not UTF-8 or UTF-16 throughout, not rewritten',
};

export interface Asked {
  /** What was searched for, in words: `No line matches x in src.` */
  readonly nothing: string;
  readonly limit: number;
  readonly maxLimit: number;
}

/**
 * `path:line:column: the line` for a match, `path-line- the line` for one near it, what the names of a pattern stand for
 * below; then what was left out. `data` says the same for programs.
 */
export function searchResult(place: Place, outcome: Outcome, asked: Asked): ToolResult {
  const { lines, skipped, more, countedAll, hint, stopped } = outcome;
  const hasContext = lines.some(({ type }) => type === 'context');
  const text: string[] = [];
  let last: { readonly path: string; readonly line: number } | undefined;
  for (const record of lines) {
    const path = shownPath(place, record.path);
    if (hasContext && last && (last.path !== record.path || record.line > last.line + 1)) text.push('--');
    text.push(record.type === 'match' ? matchText(path, record) : `${path}-${record.line}- ${record.text}`);
    last = record;
  }
  const matches = lines.filter((record) => record.type === 'match');
  if (matches.length === 0 && stopped === undefined) text.push(asked.nothing, ...(hint === undefined ? [] : [hint]));
  if (more > 0) text.push(`(${countedAll ? '' : 'at least '}${more} more; narrow the pattern, path or glob${asked.limit < asked.maxLimit ? ', or raise max_results' : ''})`);
  text.push(...skipLines(place, skipped));
  if (stopped !== undefined) text.push(`(The search is incomplete: ${stopped}. Narrow the path or simplify the pattern${matches.length === 0 ? '; nothing was found until then' : ''}.)`);
  return {
    text: text.join('\n'),
    ...(stopped !== undefined && matches.length === 0 && { isError: true }),
    data: { matches: matches.map(({ type: _, path, ...match }) => ({ path: place.prefix + path, ...match })), more, complete: stopped === undefined, skipped: skippedData(place, skipped) } as Json,
  };
}

function matchText(path: string, { line, column, text, endLine, captures = {} }: MatchRecord): string {
  const end = endLine === undefined || endLine === line ? '' : ` (to line ${endLine})`;
  const named = Object.entries(captures).map(([name, value]) => `    $${name} = ${oneLine(value, shownCapture)}`);
  return [`${path}:${line}:${column}: ${text}${end}`, ...named].join('\n');
}

/** One line for each reason why files were passed over that nobody asked to pass over. */
export function skipLines(place: Place, skipped: readonly Skipped[]): string[] {
  return skipped.map(({ reason, count, named }) => `(${named.map((path) => shownPath(place, path)).join(', ')}${count > named.length ? ` and ${count - named.length} more` : ''}: ${reasons[reason]})`);
}

function skippedData(place: Place, skipped: readonly Skipped[]): Json {
  return skipped.map(({ reason, count, named }) => ({ reason, count, named: named.map((path) => place.prefix + path) }));
}

/** Runs a tool; a failure of the world is its answer. */
export async function answering(work: () => Promise<ToolResult>, consequence = ''): Promise<ToolResult> {
  try {
    return await work();
  } catch (error) {
    if (!isOperational(error)) throw error;
    return { text: `${error.message}${consequence && ` ${consequence}`}`, isError: true };
  }
}
