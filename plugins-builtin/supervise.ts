/** `agent run --supervised`: a parent without plugins, which starts the agent again when one of them brought it down. */
import { spawn } from 'node:child_process';
import { realpathSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { homePaths } from '../kernel/paths.ts';
import { latestLog, sessionsFolder } from './agent/latest-log.ts';
import { decidesOnSignal } from './public.ts';
import { tetherVariable } from './tether.ts';

const flag = '--supervised';
/** Starts after the first. */
const maxRestarts = 3;
/** Answered when it died once too often, as of a process the watchdog ended. */
const givenUp = 70;
/** Signals that end a process that did something wrong, and the one the system takes when memory is out. */
const deadly: readonly NodeJS.Signals[] = ['SIGABRT', 'SIGKILL', 'SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGTRAP', 'SIGFPE'];
const withValue = ['-m', '--model', '--max-rounds', '--cwd'];

interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export function isSupervised(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  return words.find((word) => word !== '--safe-mode') === 'run' && words.includes(flag);
}

/** Runs the command line without the flag, and answers its exit code; 70 when it died four times. */
export async function supervise(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const given = argv.filter((word) => word !== flag);
  const began = Date.now();
  let args = given;
  let how: string | undefined;
  for (let restarts = 0; ; restarts += 1) {
    const end = await run(args, { ...env, ...(how !== undefined && { AGENT_ENDED_BY: how }) }, restarts > 0);
    how = deathOf(end);
    if (how === undefined) return end.code ?? 128 + constants.signals[end.signal ?? 'SIGTERM'];
    if (restarts === maxRestarts) {
      process.stderr.write(`agent: the agent died ${restarts + 1} times, the last time of ${how}; its log is whole\n  to go on: agent run --continue   what failed: agent plugin list\n`);
      return givenUp;
    }
    args = hasSession(argv, env, began) ? goingOn(given) : given;
    process.stderr.write(`agent: the agent died (${how}); starting again by itself, ${restarts + 1} of ${maxRestarts}\n`);
  }
}

/** Undefined for an end of its own: an answer, a failure, a usage error, a person's Ctrl-C. */
function deathOf({ code, signal }: End): string | undefined {
  if (signal !== null) return deadly.includes(signal) ? signal : undefined;
  if (code === givenUp) return 'a hang';
  const name = deadly.find((one) => code === 128 + constants.signals[one]);
  return name;
}

function run(args: readonly string[], env: NodeJS.ProcessEnv, again: boolean): Promise<End> {
  return new Promise((resolve, reject) => {
    const entry = process.argv[1] ?? '';
    // The pipe tells the child when this process is gone, however it went.
    const child = spawn(process.execPath, [entry, ...args], { env: { ...env, [tetherVariable]: '3' }, stdio: [again ? 'ignore' : 'inherit', 'inherit', 'inherit', 'pipe'] });
    // The terminal sends Ctrl-C to both, and the child decides what it means.
    const ignore = decidesOnSignal((): void => undefined);
    const pass = decidesOnSignal((signal: NodeJS.Signals): void => void child.kill(signal));
    process.on('SIGINT', ignore).on('SIGTERM', pass).on('SIGHUP', pass);
    const settle = (): void => void process.off('SIGINT', ignore).off('SIGTERM', pass).off('SIGHUP', pass);
    child.once('error', (error) => {
      settle();
      reject(error);
    });
    child.once('exit', (code, signal) => {
      settle();
      resolve({ code, signal });
    });
  });
}

/** Whether the run that died had come as far as its log. */
function hasSession(argv: readonly string[], env: NodeJS.ProcessEnv, since: number): boolean {
  const at = argv.indexOf('--cwd');
  const log = latestLog(sessionsFolder(homePaths(env).state, realpathSync((at < 0 ? undefined : argv[at + 1]) ?? '.')));
  return log !== undefined && (statSync(log, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= since;
}

/** The same run without its words, which its log holds. */
function goingOn(argv: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (word === '--') break;
    if (!word.startsWith('-') || word === '-c' || word === '--continue') continue;
    kept.push(word);
    if (withValue.includes(word)) kept.push(argv[(at += 1)] ?? '');
  }
  return ['run', '--continue', ...kept];
}
