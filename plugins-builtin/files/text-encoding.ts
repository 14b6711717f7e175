/** Telling encodings apart, and a view of a file's content that loses no byte whatever they are. */

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

export const encodingLabel: Readonly<Record<Encoding, string>> = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16 LE',
  'utf-16be': 'UTF-16 BE',
};

export const byteOrderMark = '\uFEFF';

export interface Mark {
  readonly encoding: Encoding;
  /** Length of the byte-order mark in bytes; 0 where there is none. */
  readonly length: number;
}

/** The encoding a file's first bytes announce; UTF-8 where they announce none. */
export function readMark(head: Uint8Array): Mark {
  const [a, b, c, d] = head;
  if (a === 0xef && b === 0xbb && c === 0xbf) return { encoding: 'utf-8', length: 3 };
  if (a === 0xfe && b === 0xff) return { encoding: 'utf-16be', length: 2 };
  const isUtf32 = c === 0 && d === 0;
  if (a === 0xff && b === 0xfe && !isUtf32) return { encoding: 'utf-16le', length: 2 };
  return { encoding: 'utf-8', length: 0 };
}

/** How many first bytes {@link isBinary} looks at. */
export const sniffLength = 8192;

/** True when the first bytes hold a NUL that the encoding does not explain. */
export function isBinary(head: Uint8Array, mark: Mark): boolean {
  return mark.encoding === 'utf-8' && head.subarray(0, sniffLength).includes(0);
}

/**
 * A file's content as a string with one character for each code unit of its encoding (a byte, or a UTF-16 unit):
 * text operations on it leave every other unit alone, and {@link toBytes} gives back exactly the bytes.
 */
export interface CodeUnits {
  readonly mark: Mark;
  readonly units: string;
  /** The bytes before `units`: the byte-order mark. */
  readonly before: Uint8Array;
  /** The bytes after `units`: half a UTF-16 unit, in a damaged file. */
  readonly after: Uint8Array;
}

export function toCodeUnits(bytes: Buffer): CodeUnits {
  const mark = readMark(bytes);
  const width = mark.encoding === 'utf-8' ? 1 : 2;
  const end = bytes.length - ((bytes.length - mark.length) % width);
  const body = bytes.subarray(mark.length, end);
  return { mark, units: unitsOfBytes(body, mark.encoding), before: bytes.subarray(0, mark.length), after: bytes.subarray(end) };
}

/** The bytes of `content` with other `units`. */
export function toBytes(content: CodeUnits, units: string): Buffer {
  return Buffer.concat([content.before, bytesOfUnits(units, content.mark.encoding), content.after]);
}

/** `text` in the code units of `encoding`, to be searched for or put into {@link CodeUnits}. */
export function encodeUnits(text: string, encoding: Encoding): string {
  return encoding === 'utf-8' ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/** What a person reads in `units`; bytes that are not UTF-8 become U+FFFD. */
export function decodeUnits(units: string, encoding: Encoding): string {
  return encoding === 'utf-8' ? Buffer.from(units, 'latin1').toString('utf8') : units;
}

/** `text` as the bytes of a whole file, with the byte-order mark if `withMark`. */
export function encodeFile(text: string, encoding: Encoding, withMark: boolean): Buffer {
  const marked = withMark ? byteOrderMark + text : text;
  return bytesOfUnits(encodeUnits(marked, encoding), encoding);
}

function unitsOfBytes(bytes: Buffer, encoding: Encoding): string {
  if (encoding === 'utf-8') return bytes.toString('latin1');
  return (encoding === 'utf-16be' ? Buffer.from(bytes).swap16() : bytes).toString('utf16le');
}

function bytesOfUnits(units: string, encoding: Encoding): Buffer {
  if (encoding === 'utf-8') return Buffer.from(units, 'latin1');
  const bytes = Buffer.from(units, 'utf16le');
  return encoding === 'utf-16be' ? bytes.swap16() : bytes;
}
