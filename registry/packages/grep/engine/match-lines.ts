/** Matching line by line. Runs, as source text, in the search process. */
import type { ContextRecord, EngineRecord, MatchRecord } from './protocol.ts';

export interface LineSearch {
  readonly pattern: RegExp;
  readonly context: number;
  /** Takes a match, and tells whether it is to be shown. */
  count(): boolean;
  emit(record: EngineRecord): void;
  excerpt(line: string, at: number): string;
}

/** The column of a UTF-16 index in a line: characters, from 1. Refers to nothing outside of itself. */
export function columnOf(line: string, index: number): number {
  let column = 1;
  for (let at = 0; at < index; column += 1) at += (line.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return column;
}

/** Reports the lines that match, with the lines around them, in order and each once. Refers to nothing but its arguments. */
export function matchLines(path: string, text: string, { pattern, context, count, emit, excerpt }: LineSearch, column: typeof columnOf): void {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const lineAt = (at: number): string => {
    const line = lines[at] ?? '';
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  };
  const around = (at: number): ContextRecord => ({ type: 'context', path, line: at + 1, text: excerpt(lineAt(at), 0) });
  // One behind the last line that was reported, and one behind the last that is context of a match before.
  let reported = 0;
  let wanted = 0;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lineAt(at);
    const found = pattern.exec(line);
    if (found && count()) {
      for (let before = Math.max(reported, at - context); before < at; before += 1) emit(around(before));
      emit({ type: 'match', path, line: at + 1, column: column(line, found.index), text: excerpt(line, found.index) } satisfies MatchRecord);
      reported = at + 1;
      wanted = at + 1 + context;
    } else if (at < wanted) {
      emit(around(at));
      reported = at + 1;
    }
  }
}
