/** One process from start to end: when it is over, and how it is stopped. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { StreamName } from './captured-output.ts';
import { followOutput, quiet } from './output-grace.ts';
import { endGroups, isGroupAlive } from './process-group.ts';
import { groupMembers, holdersOf, outputEnds, type ProcessEntry } from './process-table.ts';

interface ProcessOptions {
  readonly file: string;
  readonly args: readonly string[];
  /** The program begins only after a line on descriptor 3, so that it cannot end before it is known what it holds. */
  readonly waits?: boolean;
  readonly verbatim?: boolean;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Milliseconds. */
  readonly limit: number;
  readonly signal: AbortSignal;
  /** The process is the leader of this new group. */
  onStart(group: number): void;
  /** Also called after the end, as long as a process that was left behind writes. */
  onOutput(stream: StreamName, bytes: Buffer): void;
  /** Nobody can write any more. */
  onClose(): void;
}

export interface LeftBehind {
  /** A process of the group still runs. */
  readonly inGroup: boolean;
  /** A process holds the output open. */
  readonly holdsOutput: boolean;
  /** Those of them that are known. */
  readonly processes: readonly ProcessEntry[];
}

export interface ProcessEnd {
  readonly group: number;
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Milliseconds to the exit. */
  readonly ms: number;
  readonly stopped: 'limit' | 'cancel' | undefined;
  readonly left: LeftBehind | undefined;
}

type Exit = Pick<ProcessEnd, 'exitCode' | 'signal'>;

const killGrace = 2_000;
const afterKill = 500;

/**
 * Runs a program as the leader of its own session, which has no terminal: it can neither ask on
 * `/dev/tty` nor be reached by the terminal's Ctrl-C. Standard input is empty.
 *
 * It is over when it exits, not when its pipes close: what it left running may hold them for ever.
 *
 * @throws the error of `spawn`: no such program, arguments too long, no more processes
 */
export async function runProcess(options: ProcessOptions): Promise<ProcessEnd> {
  const begun = performance.now();
  const child = spawn(options.file, options.args, {
    cwd: options.cwd,
    env: options.env,
    // On Windows this would open a console window; there are no groups to gain.
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'pipe', 'pipe', ...(options.waits ? ['pipe' as const] : [])],
    windowsHide: true,
    ...(options.verbatim && { windowsVerbatimArguments: true }),
  });
  const exit = new Promise<Exit>((resolve, reject) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal })).on('error', reject);
  });
  const group = child.pid;
  if (group === undefined) {
    await exit;
    throw new Error('spawn gave neither a process nor an error');
  }

  const ends = outputEnds(group);
  const output = followOutput(child, options);
  options.onStart(group);
  begin(child);

  const { stopped, end } = await firstOf(exit, options, async () => {
    const outside = holdersOf(ends).map((holder) => holder.group);
    await endGroups([...new Set([group, ...outside])], killGrace);
  });
  const ms = performance.now() - begun;

  const closed = await output.settled();
  // What still starts may be about to leave the group, and what was signalled to end.
  if (closed && isGroupAlive(group)) await delay(quiet);
  return { group, ...end, ms, stopped, left: leftBehind(group, closed, ends) };
}

function leftBehind(group: number, closed: boolean, ends: readonly string[]): LeftBehind | undefined {
  const inGroup = isGroupAlive(group);
  if (closed && !inGroup) return undefined;
  const found = [...(groupMembers(group) ?? []), ...(closed ? [] : holdersOf(ends))];
  return { inGroup, holdsOutput: !closed, processes: [...new Map(found.map((entry) => [entry.pid, entry])).values()] };
}

function begin(child: ChildProcess): void {
  const start = child.stdio[3];
  if (!(start instanceof Socket)) return;
  start.on('error', () => start.destroy());
  start.end('\n', () => start.destroy());
}

/** Waits for the exit; at the limit or on cancel it calls `stop` and then waits no longer than that takes. */
async function firstOf(exit: Promise<Exit>, { limit, signal }: ProcessOptions, stop: () => Promise<void>): Promise<{ stopped: ProcessEnd['stopped']; end: Exit }> {
  const listening = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const interrupted = new Promise<'limit' | 'cancel'>((resolve) => {
    timer = setTimeout(resolve, limit, 'limit');
    if (signal.aborted) resolve('cancel');
    signal.addEventListener('abort', () => resolve('cancel'), { signal: listening.signal });
  });
  try {
    const first = await Promise.race([exit, interrupted]);
    if (typeof first === 'object') return { stopped: undefined, end: first };
    await stop();
    // A process in uninterruptible sleep survives SIGKILL until its disk answers.
    const end = await Promise.race([exit, delay(afterKill, { exitCode: null, signal: null }, { ref: false })]);
    return { stopped: first, end };
  } finally {
    clearTimeout(timer);
    listening.abort();
  }
}
