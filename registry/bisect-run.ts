/** One run of the command of `agent plugin bisect`: in a process group of its own, with a deadline, and nothing left behind. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { describeError, type Disposable, oneLine, type ProcessGuardian } from 'newt-agent';
import { refused } from './report.ts';
import type { Verdict } from './bisect-search.ts';

export interface Ended {
  readonly verdict: Verdict;
  /** `exit code 1`, `SIGKILL`, `ended after 600 s` */
  readonly how: string;
  /** The last of what it wrote, both streams. */
  readonly tail: string;
  /** Everything it wrote to standard output, up to a megabyte. */
  readonly output: string;
  readonly ms: number;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Whether it may be that there is no such command. */
  readonly isFirst: boolean;
  /** Ends the group should this process be killed; undefined where nobody can. */
  readonly guardian: ProcessGuardian | undefined;
}

/** As `git bisect run` has it: the command could not tell. */
const skipCode = 125;
/** What a shell answers for a command it cannot run, or cannot find. */
const unstartable: readonly unknown[] = [126, 127];
const tailLength = 4_000;
const maxOutput = 1_000_000;
const killGrace = 1_000;
/** For output that is on its way when the command exits. */
const outputGrace = 100;

/**
 * @returns undefined when `signal` ended it: such a run says nothing
 * @throws OperationalError when there is no such command
 */
export async function runCommand(command: readonly string[], { cwd, env, timeout, signal, isFirst, guardian }: RunOptions): Promise<Ended | undefined> {
  if (signal.aborted) return undefined;
  const began = performance.now();
  const [file, args] = waiting(program(command));
  const child = spawn(file, args, { cwd, env, detached: process.platform !== 'win32', stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true });
  let guard: Disposable | undefined;
  if (child.pid !== undefined) guard = guardian?.guard(child.pid);
  child.stdin.on('error', () => undefined).end('go\n');
  let tail = '';
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-tailLength);
    if (output.length < maxOutput) output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (tail = (tail + text).slice(-tailLength)));

  const exited = new Promise<{ code: number | null; killer: NodeJS.Signals | null }>((resolve, reject) => {
    child.once('error', (error) => reject(cannotStart(command, describeError(error))));
    child.once('exit', (code, killer) => resolve({ code, killer }));
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const clock = new AbortController();
  const late = pause(timeout, 'late' as const, { signal: clock.signal }).catch(() => 'late' as const);
  const cancelled = new Promise<'cancelled'>((resolve) => signal.addEventListener('abort', () => resolve('cancelled'), { once: true, signal: clock.signal }));
  try {
    const first = await Promise.race([exited, late, cancelled]);
    // What the command left running would be there in the next run.
    await endGroup(child);
    if (first === 'cancelled') return undefined;
    await Promise.race([closed, pause(outputGrace)]);
    const rest = { tail, output, ms: Math.round(performance.now() - began) };
    if (first === 'late') return { verdict: 'bad', how: `ended after ${timeout / 1_000} s`, ...rest };
    const { code, killer } = first;
    if (isFirst && unstartable.includes(code)) throw cannotStart(command, tail.trim());
    return { verdict: code === 0 ? 'good' : code === skipCode ? 'skip' : 'bad', how: code === null ? (killer ?? 'killed') : `exit code ${code}`, ...rest };
  } finally {
    clock.abort();
    for (const stream of [child.stdout, child.stderr]) stream.removeAllListeners('data').destroy();
    guard?.dispose();
  }
}

function cannotStart([file = '']: readonly string[], why: string): Error {
  return refused(`${file} cannot be started: ${oneLine(why, 300)}`, 'what is behind -- must be a command that runs in this folder');
}

/** `agent` is this one, which need not be on the path. One word with blanks in it is a line for the shell. */
function program(command: readonly string[]): readonly [string, readonly string[]] {
  const [file = '', ...args] = command;
  if (file === 'agent') return [process.execPath, [process.argv[1] ?? '', ...args]];
  if (args.length === 0 && /\s/.test(file)) return process.platform === 'win32' ? ['cmd.exe', ['/d', '/s', '/c', file]] : ['/bin/sh', ['-c', file]];
  return [file, args];
}

/**
 * The same, begun when a line comes on standard input, which it does not get: it is guarded by then. Should this process be
 * killed before, it does not begin.
 */
function waiting([file, args]: readonly [string, readonly string[]]): readonly [string, readonly string[]] {
  if (process.platform === 'win32') return [file, args];
  return ['/bin/sh', ['-c', 'read -r go && exec "$0" "$@" </dev/null', file, ...args]];
}

/** Asks the group to end, and kills what has not after a second. */
async function endGroup({ pid }: ChildProcess): Promise<void> {
  if (pid === undefined || !signalGroup(pid, 'SIGTERM')) return;
  for (const until = performance.now() + killGrace; performance.now() < until; await pause(20)) if (!signalGroup(pid, 0)) return;
  signalGroup(pid, 'SIGKILL');
}

/** @returns whether there was somebody to hear it */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(process.platform === 'win32' ? group : -group, signal);
  } catch {
    return false;
  }
}
