/** Exact replacement in a file's content: what was not asked for keeps every byte. */
import { isUtf8 } from 'node:buffer';
import { OperationalError } from 'newt-agent';
import { mayBeInsideCharacter } from './legacy-boundary.ts';
import { adoptLineEnding, lineEndingTolerant } from './line-endings.ts';
import { describeNearest } from './nearest-match.ts';
import { byteOrderMark, type CodeUnits, decodeUnits, encodeUnits, toBytes, toCodeUnits } from './text-encoding.ts';

interface ReplaceRequest {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: boolean;
}

export interface Replacement {
  readonly bytes: Buffer;
  /** 1-based lines where a replaced occurrence begins. */
  readonly lines: readonly number[];
}

interface Occurrence {
  readonly start: number;
  readonly end: number;
}

const maxListedLines = 20;
const maxOccurrences = 100_000;

/**
 * The content of a file after the replacement.
 *
 * @throws OperationalError when it cannot be done exactly as asked; the message says why and what to do
 */
export function replaceText(before: Buffer, request: ReplaceRequest): Replacement {
  checkTexts(request);
  const content = toCodeUnits(before);
  const { encoding, length } = content.mark;
  const isLegacy = encoding === 'utf-8' && !isUtf8(before);
  if (isLegacy) requireAscii(request);
  const withoutMark = (text: string): string => (length > 0 && text.startsWith(byteOrderMark) ? text.slice(1) : text);
  const wanted = encodeUnits(withoutMark(request.oldText), encoding);
  const replacement = encodeUnits(withoutMark(request.newText), encoding);
  if (wanted === '') throw new OperationalError('old_text is only a byte-order mark. Give the text that is to be replaced.');

  const occurrences = findOccurrences(content.units, wanted, request.replaceAll);
  if (occurrences.length === 0) throw notFound(content, request);
  const lines = lineNumbers(content.units, occurrences);
  if (occurrences.length > 1 && !request.replaceAll) throw notUnique(request.path, lines);
  if (isLegacy) requireBoundaries(content.units, occurrences, lines);

  const bytes = toBytes(content, splice(content.units, occurrences, replacement));
  if (bytes.equals(before)) {
    throw new OperationalError('The replacement would change nothing: edits keep the line endings of the file. Convert line endings with run_command.');
  }
  return { bytes, lines };
}

function checkTexts({ oldText, newText }: ReplaceRequest): void {
  if (oldText === '') throw new OperationalError('old_text is empty. Give the exact text that is to be replaced, or use write_file for a new file.');
  if (oldText === newText) throw new OperationalError('old_text and new_text are the same.');
  if (!oldText.isWellFormed() || !newText.isWellFormed()) {
    throw new OperationalError('old_text or new_text contains half a surrogate pair, which no file can hold. Send the whole character.');
  }
}

function requireAscii({ path, oldText, newText }: ReplaceRequest): void {
  // eslint-disable-next-line no-control-regex -- all of ASCII is meant
  const isAscii = /^[\x00-\x7f]*$/;
  if (isAscii.test(oldText) && isAscii.test(newText)) return;
  throw new OperationalError(
    `${path} is not UTF-8 and does not say which encoding it has, so text beyond ASCII cannot be found or written in it safely. Keep old_text and new_text to ASCII, or convert the file first (run_command: iconv).`,
  );
}

function requireBoundaries(units: string, occurrences: readonly Occurrence[], lines: readonly number[]): void {
  const torn = occurrences.findIndex(({ start }) => mayBeInsideCharacter(units, start));
  if (torn === -1) return;
  throw new OperationalError(
    `The file is not UTF-8, and the match in line ${lines[torn]} may begin inside a two-byte character. Let old_text begin at a blank, a punctuation mark or the start of a line, or convert the file first (run_command: iconv).`,
  );
}

/** All occurrences: side by side for replacing, but overlapping ones too where one must be unique. */
function findOccurrences(units: string, wanted: string, sideBySide: boolean): Occurrence[] {
  const pattern = lineEndingTolerant(wanted);
  const found: Occurrence[] = [];
  for (let match = pattern.exec(units); match; match = pattern.exec(units)) {
    const end = match.index + match[0].length;
    if (found.length === maxOccurrences) {
      throw new OperationalError(`old_text occurs more than ${maxOccurrences} times. Add lines around it, or replace with run_command (sed).`);
    }
    found.push({ start: match.index, end });
    pattern.lastIndex = sideBySide ? end : match.index + 1;
  }
  return found;
}

function splice(units: string, occurrences: readonly Occurrence[], replacement: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of occurrences) {
    parts.push(units.slice(at, start), adoptLineEnding(replacement, units, start, end));
    at = end;
  }
  parts.push(units.slice(at));
  return parts.join('');
}

function lineNumbers(units: string, occurrences: readonly Occurrence[]): number[] {
  let line = 1;
  let newline = units.indexOf('\n');
  return occurrences.map(({ start }) => {
    while (newline !== -1 && newline < start) {
      line += 1;
      newline = units.indexOf('\n', newline + 1);
    }
    return line;
  });
}

function notUnique(path: string, lines: readonly number[]): OperationalError {
  const listed = lines.slice(0, maxListedLines).join(', ');
  const rest = lines.length > maxListedLines ? `, and ${lines.length - maxListedLines} more` : '';
  return new OperationalError(`old_text occurs ${lines.length} times in ${path}, in lines ${listed}${rest}. Add lines around it until it is unique, or set replace_all.`);
}

function notFound(content: CodeUnits, request: ReplaceRequest): OperationalError {
  const nearest = describeNearest(decodeUnits(content.units, content.mark.encoding), request.oldText);
  return new OperationalError(`old_text was not found in ${request.path}. ${nearest}`);
}
