/**
 * The part of the built-in search that runs in a worker, where a pattern that backtracks for ever can be stopped.
 *
 * {@link searchLoop} is sent there as source text: so it works from TypeScript and from a bundle alike, but may refer to
 * nothing outside of itself.
 */
import type * as fs from 'node:fs';
import type * as threads from 'node:worker_threads';
import type { excerpt as Excerpt } from './excerpt.ts';

export interface SearchStart {
  readonly source: string;
  readonly flags: string;
  readonly maxFileBytes: number;
  readonly maxTextLength: number;
  /** One 32-bit counter: the index, within the batch, of the file that is being searched. */
  readonly progress: SharedArrayBuffer;
}

export interface SearchBatch {
  /** Absolute paths. */
  readonly files: readonly string[];
  /** Stop after this many matching lines. */
  readonly limit: number;
}

interface FileMatch {
  /** Index in the batch. */
  readonly file: number;
  readonly line: number;
  /** The line, or of a long one the part around the match. */
  readonly text: string;
}

export interface BatchResult {
  readonly matches: readonly FileMatch[];
  readonly skipped: readonly { readonly file: number; readonly reason: 'too large' | 'unreadable' }[];
}

/** Answers every {@link SearchBatch} it receives with a {@link BatchResult}. */
export function searchLoop(
  { parentPort, workerData }: typeof threads,
  { closeSync, fstatSync, openSync, readFileSync, constants }: typeof fs,
  excerpt: typeof Excerpt,
): void {
  const { source, flags, maxFileBytes, maxTextLength, progress } = workerData as SearchStart;
  const pattern = new RegExp(source, flags);
  const current = new Int32Array(progress);

  function readText(path: string): { readonly text?: string; readonly skip?: 'too large' | 'unreadable' } {
    let descriptor: number | undefined;
    try {
      // Whatever has taken the file's place since it was listed: a link must not lead out, a pipe must not block.
      descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) return {};
      if (stats.size > maxFileBytes) return { skip: 'too large' };
      return { text: decode(readFileSync(descriptor)) };
    } catch {
      return { skip: 'unreadable' };
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  }

  function decode(bytes: Buffer): string | undefined {
    const [first, second] = bytes;
    if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
    if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
    if (bytes.subarray(0, 8192).includes(0)) return undefined;
    return new TextDecoder().decode(bytes);
  }

  function searchText(text: string, file: number, limit: number, matches: FileMatch[]): void {
    let number = 0;
    for (let start = 0; start < text.length && matches.length < limit; ) {
      const newline = text.indexOf('\n', start);
      const end = newline === -1 ? text.length : newline;
      const line = text.slice(start, end > start && text[end - 1] === '\r' ? end - 1 : end);
      number += 1;
      const match = pattern.exec(line);
      if (match) matches.push({ file, line: number, text: excerpt(line, match.index, maxTextLength) });
      start = end + 1;
    }
  }

  parentPort?.on('message', ({ files, limit }: SearchBatch) => {
    const matches: FileMatch[] = [];
    const skipped: BatchResult['skipped'][number][] = [];
    files.forEach((path, file) => {
      if (matches.length >= limit) return;
      Atomics.store(current, 0, file);
      const { text, skip } = readText(path);
      if (skip) skipped.push({ file, reason: skip });
      if (text !== undefined) searchText(text, file, limit, matches);
    });
    parentPort.postMessage({ matches, skipped } satisfies BatchResult);
  });
}
