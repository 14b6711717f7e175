/** `p.exec`: programs that are over when they exit, and that end with the plugin that started them. */
import type { Readable } from 'node:stream';
import { OperationalError } from './heal/fault.ts';
import { setTimeout } from './heal/own-timers.ts';
import type { ExecOptions } from './plugin.ts';
import type { Disposable } from './scope.ts';
import { isSecretName } from './secret-name.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const usualTimeout = 60_000;
const maxOutput = 50_000_000;
/** For output that is on its way when the program exits. What it left running may hold the pipes for ever. */
const outputGrace = 100;
const killGrace = 1_000;

/** Leaders of the groups that may still run, of all plugins: none may outlive the agent. */
const groups = new Set<number>();
process.on('exit', () => {
  for (const group of groups) signalGroup(group, 'SIGKILL');
});

/** What a program of a plugin finds: no secrets but those the plugin was granted by name. */
export function programEnvironment(parent: Environment, capabilities: readonly string[]): Environment {
  return Object.fromEntries(Object.entries(parent).filter(([name]) => !isSecretName(name) || capabilities.includes(`env:${name}`)));
}

/** The programs of one plugin. */
export class Programs implements Disposable {
  readonly #env: () => Environment;
  readonly #end = new AbortController();
  readonly #groups = new Set<number>();
  readonly #running = new Set<Promise<unknown>>();

  constructor(env: () => Environment) {
    this.#env = env;
  }

  /** Runs a program without a shell; stdin is closed unless `input` is given. @throws OperationalError */
  async run(file: string, args: readonly string[], options: ExecOptions): Promise<string> {
    const work = this.#run(file, args, options);
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }

  /** Ends what runs, and what it left running. */
  async dispose(): Promise<void> {
    this.#end.abort();
    for (const group of this.#groups) endGroup(group);
    await Promise.allSettled(this.#running);
  }

  async #run(file: string, args: readonly string[], { cwd, env, input, signal, timeout = usualTimeout }: ExecOptions): Promise<string> {
    const { execa } = await import('execa');
    const cancel = AbortSignal.any([this.#end.signal, ...(signal ? [signal] : [])]);
    if (cancel.aborted) throw new OperationalError(`${file} was cancelled before it started`);
    const child = execa(file, args, {
      reject: false,
      buffer: false,
      // A group of its own, so that what it starts ends with it.
      detached: process.platform !== 'win32',
      extendEnv: false,
      env: { ...this.#env(), ...env },
      ...(input === undefined ? { stdin: 'ignore' as const } : { input }),
      ...(cwd !== undefined && { cwd }),
    });
    let stopped: string | undefined;
    const stop = (why: string): void => {
      stopped ??= why;
      if (child.pid !== undefined) endGroup(child.pid);
    };
    const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => collect(stream, () => stop(`wrote more than ${maxOutput} characters`)));
    const cancelled = (): void => stop('was cancelled');
    cancel.addEventListener('abort', cancelled);
    const timer = setTimeout(stop, timeout, `did not end within ${timeout} ms`);
    if (child.pid !== undefined) this.#track(child.pid);

    // Comes when the pipes are closed as well, or at once when there is no such program.
    const closed = child.then(({ exitCode, signal: killer, shortMessage }) => ({ exitCode, killer, shortMessage }));
    const exited = new Promise<{ exitCode: number | undefined; killer: string | undefined; shortMessage?: string }>((resolve) => {
      child.nodeChildProcess.once('exit', (exitCode, killer) => resolve({ exitCode: exitCode ?? undefined, killer: killer ?? undefined }));
    });
    const { exitCode, killer, shortMessage } = await Promise.race([exited, closed]);
    clearTimeout(timer);
    cancel.removeEventListener('abort', cancelled);
    await within(outputGrace, closed);
    const output = { stdout: stdout?.finish() ?? '', stderr: stderr?.finish() ?? '' };
    this.#forgetEmpty();

    if (exitCode === 0 && stopped === undefined) return output.stdout;
    const ended = exitCode !== undefined ? `ended with exit code ${exitCode}` : killer !== undefined ? `was killed by ${killer}` : undefined;
    const what = stopped ?? ended;
    const said = output.stderr ? `: ${output.stderr.trim().slice(0, 2_000)}` : '';
    throw new OperationalError(`${what === undefined ? (shortMessage ?? `${file} could not be started`) : `${file} ${what}`}${said}`, { exitCode, signal: killer, ...output });
  }

  #track(group: number): void {
    this.#groups.add(group);
    groups.add(group);
  }

  /** The id of a group without members may soon be somebody else's. */
  #forgetEmpty(): void {
    for (const group of this.#groups) {
      if (signalGroup(group, 0)) continue;
      this.#groups.delete(group);
      groups.delete(group);
    }
  }
}

/** Gathers what comes until `finish`; whoever writes on after that is read, so that it does not fail, and not waited for. */
function collect(stream: Readable, full: () => void): { finish(): string } {
  let text = '';
  const gather = (chunk: string): void => {
    if (text.length <= maxOutput) text += chunk;
    if (text.length > maxOutput) full();
  };
  stream.setEncoding('utf8').on('data', gather);
  return {
    finish() {
      stream.off('data', gather).resume();
      (stream as Readable & { unref?(): void }).unref?.();
      return text;
    },
  };
}

/** Asks the processes of a group to end, and ends those that do not. */
function endGroup(group: number): void {
  if (signalGroup(group, 'SIGTERM')) setTimeout(signalGroup, killGrace, group, 'SIGKILL').unref();
}

/** @returns whether there is still a process */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(process.platform === 'win32' ? group : -group, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}
