/** What a whole-file write is about to replace. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { openIfPresent } from './regular-file.ts';
import { type Mark, readMark } from './text-encoding.ts';

export interface ExistingFile {
  /** SHA-256 of the content. */
  readonly digest: string;
  readonly lines: number;
  readonly bytes: number;
  readonly mark: Mark;
  /** False for bytes that are not text in the encoding the file announces. */
  readonly wellFormed: boolean;
}

const chunkSize = 256 * 1024;
const lineFeed = 0x0a;

/** Reads the file in chunks, because it may be far larger than what replaces it; undefined when there is none. */
export async function inspectExisting(real: string, given: string, signal: AbortSignal): Promise<ExistingFile | undefined> {
  const handle = await openIfPresent(real, given);
  if (!handle) return undefined;
  try {
    return await inspect(handle, signal);
  } finally {
    await handle.close();
  }
}

async function inspect(handle: FileHandle, signal: AbortSignal): Promise<ExistingFile> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(chunkSize);
  let mark: Mark = { encoding: 'utf-8', length: 0 };
  let validate = wellFormedness(mark);
  let bytes = 0;
  let newlines = 0;
  let lastByte = lineFeed;
  for (let atEnd = false; !atEnd; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, chunkSize, bytes);
    const chunk = buffer.subarray(0, bytesRead);
    atEnd = bytesRead === 0;
    if (bytes === 0) {
      mark = readMark(chunk);
      validate = wellFormedness(mark);
    }
    bytes += bytesRead;
    hash.update(chunk);
    validate(chunk, atEnd);
    lastByte = chunk.at(-1) ?? lastByte;
    for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, at + 1)) newlines += 1;
  }
  const openLine = lastByte === lineFeed ? 0 : 1;
  return { digest: hash.digest('hex'), lines: newlines + openLine, bytes, mark, wellFormed: validate(Buffer.alloc(0), true) };
}

/** Takes a file in chunks and answers whether all of it so far was well-formed. */
function wellFormedness(mark: Mark): (chunk: Uint8Array, atEnd: boolean) => boolean {
  const decoder = new TextDecoder(mark.encoding, { fatal: true });
  let wellFormed = true;
  return (chunk, atEnd) => {
    try {
      if (wellFormed) decoder.decode(chunk, { stream: !atEnd });
    } catch {
      wellFormed = false;
    }
    return wellFormed;
  };
}
