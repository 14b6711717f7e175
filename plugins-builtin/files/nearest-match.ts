/** Where a text that was not found nearly is, and what differs: what a model needs for the next try. */

interface Candidate {
  /** 0-based line of the file at which the window begins. */
  readonly start: number;
  readonly score: number;
}

const maxFileLines = 50_000;
const maxWantedLines = 40;
const maxShown = 160;
const maxListed = 3;
/** Characters of a line that count for its similarity. */
const maxCompared = 200;
/** Below this share of common letter pairs two lines are not called similar. */
const minSimilarity = 0.5;

/**
 * Tells, in one to three sentences, which lines of `text` are most like `wanted` and where they first differ.
 * Looks at the first 50,000 lines.
 */
export function describeNearest(text: string, wanted: string): string {
  if (text === '') return 'The file is empty.';
  const copied = withoutLineNumbers(wanted);
  if (copied !== undefined && text.replaceAll('\r\n', () => '\n').includes(copied)) {
    return 'It contains the line numbers that read_file shows; leave them out.';
  }
  if (wanted.includes('\r\n') && !text.includes('\r\n')) return 'old_text has CRLF line endings, the file has LF.';
  const fileLines = splitLines(text, maxFileLines);
  const wantedLines = splitLines(wanted, maxWantedLines);
  const nearest = similarWindows(fileLines, wantedLines);
  const best = nearest[0];
  if (!best) return 'No line of the file is similar. Read the file again.';
  const others = nearest.slice(1, maxListed).map(({ start }) => start + 1);
  const also = others.length > 0 ? ` (equally near: line ${others.join(', ')})` : '';
  return `Nearest is line ${best.start + 1}${also}. ${firstDifference(fileLines, wantedLines, best.start)}`;
}

function splitLines(text: string, limit: number): string[] {
  return text.split('\n', limit).map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}

/** `text` without the gutter of read_file, if every line has one. */
function withoutLineNumbers(text: string): string | undefined {
  const lines = splitLines(text, maxFileLines);
  const gutter = /^ *\d+\t/;
  const body = lines.at(-1) === '' ? lines.slice(0, -1) : lines;
  return body.every((line) => gutter.test(line)) ? body.map((line) => line.replace(gutter, () => '')).join('\n') : undefined;
}

/** The windows with the most lines equal but for white space at the ends; else those around the most similar single line. */
function similarWindows(fileLines: readonly string[], wantedLines: readonly string[]): Candidate[] {
  const trimmedFile = fileLines.map((line) => line.trim());
  const trimmedWanted = wantedLines.map((line) => line.trim());
  const equal = bestWindows(trimmedFile, (start) => countEqual(trimmedFile, trimmedWanted, start));
  if (equal.length > 0) return equal;
  const anchor = longestLine(trimmedWanted);
  const anchorPairs = letterPairs(trimmedWanted[anchor] ?? '');
  const similar = bestWindows(trimmedFile, (line) => {
    const score = similarity(anchorPairs, trimmedFile[line] ?? '');
    return score >= minSimilarity ? score : 0;
  });
  return similar.map(({ start, score }) => ({ start: Math.max(0, start - anchor), score }));
}

function bestWindows(fileLines: readonly string[], scoreAt: (start: number) => number): Candidate[] {
  let best: Candidate[] = [];
  for (let start = 0; start < fileLines.length; start += 1) {
    const score = scoreAt(start);
    if (score === 0) continue;
    if (score > (best[0]?.score ?? 0)) best = [{ start, score }];
    else if (score === best[0]?.score && best.length < maxListed) best.push({ start, score });
  }
  return best;
}

/** Blank lines and lone brackets are everywhere, so they only weigh in beside a line that says something. */
function countEqual(fileLines: readonly string[], wantedLines: readonly string[], start: number): number {
  let equal = 0;
  let telling = false;
  wantedLines.forEach((line, offset) => {
    if (fileLines[start + offset] !== line) return;
    equal += 1;
    telling ||= line.length > 2;
  });
  return telling ? equal : 0;
}

function longestLine(lines: readonly string[]): number {
  return lines.reduce((longest, line, index) => (line.length > (lines[longest]?.length ?? 0) ? index : longest), 0);
}

/** Dice's coefficient over pairs of neighbouring characters. */
function similarity(pairs: ReadonlyMap<string, number>, line: string): number {
  const others = letterPairs(line);
  let common = 0;
  let total = 0;
  for (const [pair, count] of pairs) {
    common += Math.min(count, others.get(pair) ?? 0);
    total += count;
  }
  for (const count of others.values()) total += count;
  return total === 0 ? 0 : (2 * common) / total;
}

function letterPairs(line: string): Map<string, number> {
  const pairs = new Map<string, number>();
  const end = Math.min(line.length, maxCompared) - 1;
  for (let at = 0; at < end; at += 1) {
    const pair = line.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

function firstDifference(fileLines: readonly string[], wantedLines: readonly string[], start: number): string {
  const offset = wantedLines.findIndex((line, index) => fileLines[start + index] !== line && !(index === wantedLines.length - 1 && line === ''));
  if (offset === -1) return 'The lines are the same; look at how old_text begins and ends.';
  const wanted = wantedLines[offset] ?? '';
  const actual = fileLines[start + offset];
  if (actual === undefined) return `The file ends before line ${start + offset + 1}, where old_text goes on with\n  ${quote(wanted, 0)}`;
  const column = commonPrefix(wanted, actual);
  const kind = wanted.trim() === actual.trim() ? ' (only white space differs)' : '';
  return `First difference in line ${start + offset + 1}, column ${column + 1}${kind}:\n  file:     ${quote(actual, column)}\n  old_text: ${quote(wanted, column)}`;
}

function commonPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}

/** JSON notation, which shows tabs and blanks; long lines are cut around `column`. */
function quote(line: string, column: number): string {
  const from = line.length <= maxShown ? 0 : Math.max(0, column - maxShown / 2);
  const cut = line.slice(from, from + maxShown);
  return `${from > 0 ? '…' : ''}${JSON.stringify(cut)}${from + maxShown < line.length ? '…' : ''}`;
}
