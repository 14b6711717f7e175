/** Bytes of a file as text, and back. Runs in the agent and, as source text, in the search process. */

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

export interface DecodedText {
  readonly text: string;
  readonly encoding: Encoding;
  /** Length of the byte-order mark in bytes. */
  readonly mark: number;
  /** False for bytes that are none of the encoding: what stands for them in `text` cannot be written back. */
  readonly exact: boolean;
}

/** Undefined for binary content. Refers to nothing outside of itself. */
export function decodeText(bytes: Uint8Array): DecodedText | undefined {
  const [a, b, c, d] = bytes;
  const isUtf32 = a === 0xff && b === 0xfe && c === 0 && d === 0;
  const encoding = a === 0xfe && b === 0xff ? 'utf-16be' : a === 0xff && b === 0xfe && !isUtf32 ? 'utf-16le' : 'utf-8';
  const mark = encoding !== 'utf-8' ? 2 : a === 0xef && b === 0xbb && c === 0xbf ? 3 : 0;
  if (encoding === 'utf-8' && bytes.subarray(0, 8_192).includes(0)) return undefined;
  const body = bytes.subarray(mark);
  try {
    return { text: new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(body), encoding, mark, exact: true };
  } catch {
    return { text: new TextDecoder(encoding, { ignoreBOM: true }).decode(body), encoding, mark, exact: false };
  }
}

/** The bytes of a file with other text: encoding and byte-order mark as they were. */
export function encodeText(text: string, { encoding, mark }: Pick<DecodedText, 'encoding' | 'mark'>): Buffer {
  const marked = mark > 0 ? `\uFEFF${text}` : text;
  if (encoding === 'utf-8') return Buffer.from(marked, 'utf8');
  const bytes = Buffer.from(marked, 'utf16le');
  return encoding === 'utf-16be' ? bytes.swap16() : bytes;
}
