/** Text of models, tools and plugins as a terminal may show it: harmless, measured, in columns. */
import { sep } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { homeFolder } from '../../../kernel/index.ts';

/** ECMA-48: CSI sequences; strings (OSC, DCS, SOS, PM, APC) up to BEL or ST, within a line; then the short forms. */
// eslint-disable-next-line no-control-regex -- control characters are what is being removed
const controlSequence = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\n\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]/g;
/** What is left of the C0 and C1 controls, and the characters that reorder the text around them. */
// eslint-disable-next-line no-control-regex -- as above
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
/** A sequence, a line end or a surrogate pair that the next piece may complete. */
// eslint-disable-next-line no-control-regex -- as above
const unfinished = /(?:(?:\u001b\[|\u009b)[0-?]*[ -/]*|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\n\u0080-\u009f]*\u001b?|\u001b[ -/]*|\r|[\ud800-\udbff])$/;
const longestSequence = 4_096;

/** The text without anything that could steer a terminal or reorder its characters; newlines and tabs stay. */
export function printable(text: string): string {
  return text.replace(controlSequence, '').replace(control, '');
}

/** What {@link revealed} shows: controls but newline and tab, and characters that hide, join or reorder text. */
// eslint-disable-next-line no-control-regex -- as above
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** The text with what {@link printable} would remove made visible: for what a person is asked to approve. */
export function revealed(text: string): string {
  return text.replace(unseen, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });
}

export interface PrintableStream {
  /** What of the text so far is safe to show. */
  push(text: string): string;
  /** What was held back for a continuation that never came. */
  end(): string;
}

/** {@link printable} for text that comes in pieces: a sequence split over them does not get through. */
export function createPrintableStream(): PrintableStream {
  let held = '';
  return {
    push(text) {
      const joined = held + text;
      const start = unfinished.exec(joined)?.index ?? joined.length;
      // Beyond any real sequence it is text that only began like one.
      const end = joined.length - start > longestSequence ? joined.length : start;
      held = joined.slice(end);
      return printable(joined.slice(0, end));
    },
    end() {
      const rest = printable(held);
      held = '';
      return rest;
    },
  };
}

let segmenter: Intl.Segmenter | undefined;
const narrow = /^[\u0020-\u007e]*$/;
const wide =
  /^(?:\p{Emoji_Presentation}|.\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}])/u;
const invisible = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;

/** Terminal columns of a line, as UAX #11 and the emoji presentation have it; styling counts for nothing. */
export function displayWidth(text: string): number {
  const plain = text.includes('\u001b') ? stripVTControlCharacters(text) : text;
  if (narrow.test(plain)) return plain.length;
  let width = 0;
  for (const { segment } of graphemes(plain)) width += graphemeWidth(segment);
  return width;
}

/** A line of plain text cut to `width` columns, with an ellipsis where something was cut. */
export function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let cut = '';
  let left = width - 1;
  for (const { segment } of graphemes(text)) {
    left -= graphemeWidth(segment);
    if (left < 0) break;
    cut += segment;
  }
  return width > 0 ? `${cut}…` : '';
}

/** White space and the sign of a list or a warning: what follows them is what the next line stands under. */
const lead = /^ *(?:[-⚠✗·●$] )?/u;

/**
 * Text in lines of at most `columns`, broken between words. What is broken goes on under the text of its
 * line, `indent` columns in at least. A word that is too long for a line keeps one of its own, and can be copied.
 */
export function wrap(text: string, columns: number, indent = 0): string[] {
  return text.split('\n').flatMap((line) => (displayWidth(line) <= columns ? [line] : wrapLine(line, columns, indent)));
}

function wrapLine(text: string, columns: number, indent: number): string[] {
  const start = displayWidth(lead.exec(stripVTControlCharacters(text))?.[0] ?? '');
  const margin = ' '.repeat(Math.max(start, indent));
  const lines: string[] = [];
  let line = '';
  let width = 0;
  for (const [, gap = '', word = ''] of text.matchAll(/( *)([^ ]+)/g)) {
    const wordWidth = displayWidth(word);
    // Nothing is broken off behind the lead alone.
    if (width > start && width + gap.length + wordWidth > columns) {
      lines.push(line);
      [line, width] = [margin + word, margin.length + wordWidth];
    } else [line, width] = [line + gap + word, width + gap.length + wordWidth];
  }
  return [...lines, line];
}

/** `text` as a shell takes it for one word. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** `path` with the home folder written as `~`. */
export function shortPath(path: string, home: string = homeFolder() ?? ''): string {
  if (path === home) return '~';
  return home !== '' && path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path;
}

/** Most text is ASCII: the segmenter is made when there is something else. */
function graphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}

function graphemeWidth(grapheme: string): number {
  return wide.test(grapheme) ? 2 : invisible.test(grapheme) ? 0 : 1;
}

export interface Column {
  readonly title: string;
  /** Applied to a cell after it was cut and before it is padded. */
  readonly style?: (cell: string) => string;
}

export interface TableLayout {
  /** Columns of the terminal; the widest cells are cut to fit. Default: nothing is cut. */
  readonly width?: number;
  readonly titleStyle?: (title: string) => string;
}

const gap = 2;
const narrowestColumn = 8;

/** Rows of plain text as aligned columns under their titles. */
export function table(rows: readonly (readonly string[])[], columns: readonly Column[], { width = Infinity, titleStyle = (title) => title }: TableLayout = {}): string {
  const cells = rows.map((row) => columns.map((_, index) => printable(row[index] ?? '').replace(/\s+/g, ' ').trim()));
  const natural = columns.map(({ title }, index) => Math.max(displayWidth(title), ...cells.map((row) => displayWidth(row[index] ?? ''))));
  const widths = fit(natural, width - gap * (columns.length - 1));
  const line = (row: readonly string[], styleOf: (index: number) => ((cell: string) => string) | undefined): string =>
    row
      .map((cell, index) => {
        const room = widths[index] ?? 0;
        const shown = truncate(cell, room);
        return (styleOf(index)?.(shown) ?? shown) + (index === row.length - 1 ? '' : ' '.repeat(room - displayWidth(shown)));
      })
      .join(' '.repeat(gap))
      .trimEnd();
  return [line(columns.map(({ title }) => title), () => titleStyle), ...cells.map((row) => line(row, (index) => columns[index]?.style))].join('\n');
}

/** Widths that add up to `room` at most, taken from the widest; nothing gets unreadably narrow. */
function fit(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  for (let excess = widths.reduce((sum, one) => sum + one, 0) - room; excess > 0; excess -= 1) {
    const widest = Math.max(...widths);
    if (widest <= narrowestColumn) break;
    widths[widths.lastIndexOf(widest)] = widest - 1;
  }
  return widths;
}
