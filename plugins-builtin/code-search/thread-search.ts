/** The built-in search: the walk here, reading and matching in a worker. */
import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { OperationalError } from 'newt-agent';
import { excerpt } from './excerpt.ts';
import type { Limiter } from './limiter.ts';
import { type BatchResult, type SearchBatch, searchLoop, type SearchStart } from './search-loop.ts';
import { compilePattern, type Match, maxFileBytes, maxTextLength, type SearchQuery } from './search-query.ts';
import type { SkipNotes } from './skip-notes.ts';
import { walk } from './walk.ts';

const batchSize = 64;
/** Milliseconds one file may take; matching 10 MB with a sane pattern takes a small part of it. */
const defaultPatience = 10_000;
/** A worker takes some ten megabytes, and a model may ask for hundreds of searches at once. */
export const mostThreads = 2;

/**
 * Searches in path order and answers at most `query.limit` matching lines.
 *
 * @param inTurn lets at most {@link mostThreads} of all searches run at a time
 * @throws OperationalError for a pattern that is malformed, or does not come to an end on some file
 */
export async function searchInThread(query: SearchQuery, skipped: SkipNotes, inTurn: Limiter, patience = defaultPatience): Promise<Match[]> {
  const { source, flags } = compilePattern(query.pattern, query.ignoreCase);
  return inTurn(query.signal, () => searchWith({ source, flags }, query, skipped, patience));
}

async function searchWith({ source, flags }: Pick<SearchStart, 'source' | 'flags'>, query: SearchQuery, skipped: SkipNotes, patience: number): Promise<Match[]> {
  const thread = startThread({ source, flags, maxFileBytes, maxTextLength }, patience, query.signal);
  const found: Match[] = [];
  try {
    for await (const paths of batches(filesOf(query, skipped))) {
      const files = paths.map((path) => join(query.place.root, path));
      const result = await thread.search({ files, limit: query.limit - found.length });
      for (const { file, reason } of result.skipped) skipped.note(reason, paths[file] ?? '');
      for (const { file, line, text } of result.matches) found.push({ path: paths[file] ?? '', line, text });
      if (found.length >= query.limit) break;
    }
    return found;
  } finally {
    await thread.stop();
  }
}

async function* filesOf({ place, glob, signal }: SearchQuery, skipped: SkipNotes): AsyncGenerator<string> {
  if (place.isFile) {
    yield place.path;
    return;
  }
  const enter = glob?.mayMatchBelow;
  for await (const file of walk({ root: place.root, folder: place.path, signal, enter, onSkip: skipped.note })) {
    if (!file.isLink && (glob?.matches(file.name) ?? true)) yield file.path;
  }
}

async function* batches(paths: AsyncIterable<string>): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const path of paths) {
    batch.push(path);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

interface SearchThread {
  /** One batch at a time. */
  search(batch: SearchBatch): Promise<BatchResult>;
  stop(): Promise<unknown>;
}

function startThread(start: Omit<SearchStart, 'progress'>, patience: number, signal: AbortSignal): SearchThread {
  const progress = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const current = new Int32Array(progress);
  const worker = new Worker(workerSource(), {
    eval: true,
    workerData: { ...start, progress } satisfies SearchStart,
    // Loaders and flags of this process are not meant for the search.
    execArgv: [],
    env: {},
  });
  return {
    stop: () => worker.terminate(),
    async search(batch) {
      const giveUp = new AbortController();
      let seen = -1;
      const watchdog = setInterval(() => {
        const index = Atomics.load(current, 0);
        if (index === seen) giveUp.abort(endless(batch.files[index] ?? '', patience));
        seen = index;
      }, patience);
      try {
        worker.postMessage(batch);
        const [result] = (await once(worker, 'message', { signal: AbortSignal.any([signal, giveUp.signal]) })) as [BatchResult];
        return result;
      } catch (error) {
        signal.throwIfAborted();
        giveUp.signal.throwIfAborted();
        throw new OperationalError(`The search stopped: ${error instanceof Error ? error.message : String(error)}.`);
      } finally {
        clearInterval(watchdog);
      }
    },
  };
}

function workerSource(): string {
  return `(${searchLoop.toString()})(require('node:worker_threads'), require('node:fs'), ${excerpt.toString()})`;
}

function endless(file: string, patience: number): OperationalError {
  return new OperationalError(
    `The search was stopped: the pattern took more than ${patience / 1000} s on ${file}. It probably backtracks without end; avoid nested repetition such as (a+)+, or search for a plain part of it.`,
  );
}
