/** Runs the search process, and reads what it answers. */
import { dirname } from 'node:path';
import { isOperational, oneLine, OperationalError, type PluginContext } from 'newt-agent';
import { decodeText } from './engine/decode-text.ts';
import { excerpt } from './engine/excerpt.ts';
import { codeMatcher } from './engine/match-code.ts';
import { columnOf, matchLines } from './engine/match-lines.ts';
import type { ContextRecord, EngineRecord, EngineRequest, MatchRecord, RewriteRecord, SkipReason } from './engine/protocol.ts';
import { runEngine } from './engine/run-engine.ts';
import { walkFiles } from './engine/walk-files.ts';
import { ownFile } from './own-file.ts';

export interface Skipped {
  readonly reason: SkipReason;
  readonly count: number;
  /** Some of them. */
  readonly named: readonly string[];
}

export interface Outcome {
  /** Matches and the lines around them, in order. */
  readonly lines: readonly (MatchRecord | ContextRecord)[];
  readonly rewrites: readonly RewriteRecord[];
  readonly skipped: readonly Skipped[];
  readonly files: number;
  /** Matches beyond those reported. */
  readonly more: number;
  readonly countedAll: boolean;
  readonly hint?: string;
  /** Set when the search did not come to its end: why, and what to do. Then there may be more of everything. */
  readonly stopped?: string;
}

export type Engine = (request: Omit<EngineRequest, 'base'>, signal: AbortSignal) => Promise<Outcome>;

/** Megabytes of JavaScript heap: far more than ten megabytes of text need. */
const heap = 512;

/**
 * The search as a process of its own, which ends when `seconds` are over, when it crashes, and with the plugin.
 *
 * @throws OperationalError for what cannot be searched for, and when the process could not be started
 */
export function createEngine(p: Pick<PluginContext, 'exec'>, seconds: number): Engine {
  return async (request, signal) => {
    const script = scriptFor({ ...request, base: ownFile });
    let output: string;
    let stopped: string | undefined;
    try {
      // No options of this process, and none of its environment, are meant for the search.
      output = await p.exec(process.execPath, [`--max-old-space-size=${heap}`, '--input-type=commonjs', '-'], { cwd: dirname(ownFile), input: script, env: { NODE_OPTIONS: '' }, timeout: seconds * 1_000, signal });
    } catch (error) {
      signal.throwIfAborted();
      if (!isOperational(error) || typeof error.details['stdout'] !== 'string') throw error;
      const { exitCode, stdout } = error.details;
      // Without a code it was ended from outside: by the time limit, or by the system after a crash of native code.
      const isLate = /did not end within/.test(error.message);
      output = stdout;
      stopped = isLate ? `it was stopped after ${seconds} s` : exitCode === 1 ? failed(error) : `its process ended (${oneLine(error.message.split(':', 1)[0] ?? '', 100).replace(`${process.execPath} `, '')})`;
    }
    return outcomeOf(output, stopped);
  };
}

/** A programming error of the search process. */
function failed(error: OperationalError): string {
  const said = /^\w*Error: .*$/m.exec(String(error.details['stderr'] ?? ''))?.[0];
  return `it failed (${oneLine(said ?? error.message, 200)})`;
}

/** One script that holds the functions and what to do with them. */
export function scriptFor(request: EngineRequest): string {
  const parts = Object.entries({ codeMatcher, columnOf, decodeText, excerpt, matchLines, walkFiles }).map(([name, part]) => `${name}: ${part.toString()}`);
  // Packages of grammars tell on standard output where they look.
  return `console.debug = () => {};\n(${runEngine.toString()})(require('node:module').createRequire, ${JSON.stringify(request)}, {\n${parts.join(',\n')}\n});\n`;
}

function outcomeOf(output: string, stopped: string | undefined): Outcome {
  const records = output.split('\n').flatMap((line) => parseRecord(line) ?? []);
  for (const record of records) if (record.type === 'refused') throw new OperationalError(record.why, { package: record.package });
  const done = records.find((record) => record.type === 'done');
  const last = records.findLast((record) => record.type === 'file')?.path;
  const why = stopped ?? (done ? undefined : 'its answer was cut off');
  return {
    lines: records.filter((record) => record.type === 'match' || record.type === 'context'),
    rewrites: records.filter((record) => record.type === 'rewrite'),
    skipped: records.filter((record) => record.type === 'skip'),
    files: done?.files ?? 0,
    more: done?.more ?? 0,
    countedAll: done?.countedAll ?? false,
    ...(done?.hint !== undefined && { hint: done.hint }),
    ...(why !== undefined && { stopped: `${why}${last === undefined ? '' : `, near ${last}`}` }),
  };
}

/** Undefined for the torn last line of a search that was ended from outside. */
function parseRecord(line: string): EngineRecord | undefined {
  if (line === '') return undefined;
  try {
    return JSON.parse(line) as EngineRecord;
  } catch {
    return undefined;
  }
}
