/** Reading some lines of a file of any size in bounded memory. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { Mark } from './text-encoding.ts';

interface WindowRequest {
  /** 1-based. */
  readonly first: number;
  /** 1-based, inclusive. */
  readonly last: number;
  /** UTF-8 bytes of all lines together; the window ends early rather than exceed it. */
  readonly maxBytes: number;
  /** Bytes each line costs beside its text: its number, where it is shown. */
  readonly lineOverhead: number;
  /** UTF-16 units of one line; the rest of a longer line is left out. */
  readonly maxLineLength: number;
  /** Read to the end of the file for the number of lines and the digest; otherwise stop behind the window. */
  readonly toEnd: boolean;
}

export interface WindowLine {
  readonly number: number;
  readonly text: string;
  /** Bytes of the whole line, when `text` is only its beginning. */
  readonly cutOf?: number;
}

export interface LineWindow {
  readonly lines: readonly WindowLine[];
  /** Lines of the whole file; undefined when the reading stopped before its end. */
  readonly total: number | undefined;
  /** How many of the lines end in CRLF. */
  readonly crlf: number;
  /** False when the lines hold bytes that are not UTF-8. */
  readonly wellFormed: boolean;
  /** True when the file ends without a newline; known only with `total`. */
  readonly openEnd: boolean;
  /** SHA-256 of the file's bytes; known only with `total`. */
  readonly digest: string | undefined;
}

const chunkSize = 256 * 1024;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Reads from the start of `handle`. Aborts with the reason of `signal`. */
export async function readLineWindow(handle: FileHandle, mark: Mark, request: WindowRequest, signal: AbortSignal): Promise<LineWindow> {
  const hash = request.toEnd ? createHash('sha256') : undefined;
  const toUtf8 = utf8Transcoder(mark);
  const splitter = lineSplitter(request);
  const buffer = Buffer.allocUnsafe(chunkSize);
  let atEnd = false;
  for (let position = 0; !atEnd && (request.toEnd || !splitter.isFull()); ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, chunkSize, position);
    const chunk = buffer.subarray(0, bytesRead);
    atEnd = bytesRead === 0;
    position += bytesRead;
    hash?.update(chunk);
    splitter.push(toUtf8(chunk, atEnd));
  }
  return splitter.finish(atEnd, hash?.digest('hex'));
}

/** Lines are split as UTF-8 whatever the file's encoding: there a newline is one byte that is never part of another character. */
function utf8Transcoder(mark: Mark): (chunk: Buffer, atEnd: boolean) => Buffer {
  if (mark.encoding === 'utf-8') {
    let skip = mark.length;
    return (chunk) => {
      const body = chunk.subarray(skip);
      skip -= chunk.length - body.length;
      return body;
    };
  }
  const decoder = new TextDecoder(mark.encoding);
  return (chunk, atEnd) => Buffer.from(decoder.decode(chunk, { stream: !atEnd }), 'utf8');
}

interface LineSplitter {
  push(chunk: Buffer): void;
  /** The window is complete, and something has been seen behind it. */
  isFull(): boolean;
  finish(atEnd: boolean, digest: string | undefined): LineWindow;
}

function lineSplitter(request: WindowRequest): LineSplitter {
  // A UTF-16 unit takes at most three UTF-8 bytes, so this many always hold the allowed beginning of a line.
  const keepBytes = request.maxLineLength * 3 + 4;
  const lines: WindowLine[] = [];
  let number = 1;
  let last = request.last;
  let bytes = 0;
  let crlf = 0;
  let wellFormed = true;
  let held: Buffer[] = [];
  let heldBytes = 0;
  let lineBytes = 0;
  let lastByte = 0;

  function extend(part: Buffer): void {
    if (part.length === 0) return;
    lineBytes += part.length;
    lastByte = part[part.length - 1] ?? 0;
    if (number < request.first || number > last || heldBytes >= keepBytes) return;
    // Copied, because the reader uses its buffer again.
    const kept = Buffer.from(part.subarray(0, keepBytes - heldBytes));
    held.push(kept);
    heldBytes += kept.length;
  }

  function endLine(terminated: boolean): void {
    if (number >= request.first && number <= last) {
      const isCrlf = terminated && lineBytes > 0 && lastByte === carriageReturn;
      add(isCrlf ? lineBytes - 1 : lineBytes, isCrlf);
    }
    number += 1;
    held = [];
    heldBytes = 0;
    lineBytes = 0;
  }

  function add(length: number, isCrlf: boolean): void {
    const source = Buffer.concat(held).subarray(0, length);
    const decoded = source.toString('utf8');
    const text = cutText(decoded, request.maxLineLength);
    const shown = Buffer.from(text, 'utf8');
    const cost = shown.length + request.lineOverhead;
    if (lines.length > 0 && bytes + cost > request.maxBytes) {
      last = number - 1;
      return;
    }
    lines.push(decoded.length > text.length ? { number, text, cutOf: length } : { number, text });
    bytes += cost;
    crlf += isCrlf ? 1 : 0;
    wellFormed &&= source.subarray(0, shown.length).equals(shown);
  }

  return {
    push(chunk) {
      let at = 0;
      for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, at)) {
        extend(chunk.subarray(at, end));
        endLine(true);
        at = end + 1;
      }
      extend(chunk.subarray(at));
    },
    isFull: () => number > last + 1 || (number > last && lineBytes > 0),
    finish(atEnd, digest) {
      const openEnd = atEnd && lineBytes > 0;
      if (openEnd) endLine(false);
      return { lines, total: atEnd ? number - 1 : undefined, crlf, wellFormed, openEnd, digest: atEnd ? digest : undefined };
    },
  };
}

/** The first `length` UTF-16 units of `text`, never ending in half a character. */
function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const isHighSurrogate = (text.charCodeAt(length - 1) & 0xfc00) === 0xd800;
  return text.slice(0, isHighSurrogate ? length - 1 : length);
}
