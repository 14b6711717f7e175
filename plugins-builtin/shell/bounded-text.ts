/** A text of any length in bounded memory: its head and its tail. */
import { StringDecoder } from 'node:string_decoder';

interface BoundedText {
  push(text: string): void;
  /** Whether {@link toString} leaves something out. */
  readonly truncated: boolean;
  toString(): string;
}

/**
 * Keeps the first `headBytes` and the last `tailBytes` of what is pushed (UTF-8, cut between characters
 * and, where one is near, between lines), and all of it while it fits.
 */
export function boundedText(headBytes: number, tailBytes: number): BoundedText {
  // Counted in UTF-16 units, each of which is at least one byte: always enough to cut the bytes from.
  let head = '';
  let tail = '';
  let bytes = 0;

  return {
    push(text) {
      bytes += Buffer.byteLength(text);
      const room = headBytes - head.length;
      head += text.slice(0, room);
      if (text.length <= room) return;
      tail += text.slice(room);
      if (tail.length > 2 * tailBytes) tail = tail.slice(-tailBytes);
    },
    get truncated() {
      return bytes > headBytes + tailBytes;
    },
    toString() {
      if (!this.truncated) return head + tail;
      const kept = Buffer.from(head + tail);
      const first = headOf(kept.subarray(0, headBytes));
      const last = tailOf(kept.subarray(-tailBytes));
      return `${first}\n[… ${bytes - Buffer.byteLength(first) - Buffer.byteLength(last)} bytes not shown …]\n${last}`;
    },
  };
}

const nearestLine = 2_000;
const newline = 0x0a;

function headOf(bytes: Buffer): string {
  const lineEnd = bytes.lastIndexOf(newline);
  return lineEnd > bytes.length - nearestLine ? bytes.toString('utf8', 0, lineEnd) : new StringDecoder('utf8').write(bytes);
}

function tailOf(bytes: Buffer): string {
  const lineEnd = bytes.indexOf(newline);
  if (lineEnd >= 0 && lineEnd < nearestLine) return bytes.toString('utf8', lineEnd + 1);
  const start = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return bytes.toString('utf8', start);
}
