/** `p.exec`: programs that are over when they exit, and that end with the plugin that started them. */
import type { Readable } from 'node:stream';
import { OperationalError } from './heal/fault.ts';
import { setTimeout } from './heal/own-timers.ts';
import type { ExecOptions } from './plugin.ts';
import type { ProcessGuardian } from './process-guardian.ts';
import type { Disposable } from './scope.ts';
import { isSecretName } from './secret-name.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Ended = { readonly exitCode?: number | undefined; readonly signal?: string | undefined; readonly shortMessage?: string };

const usualTimeout = 60_000;
const maxOutput = 50_000_000;
/** For output that is on its way when the program exits. What it left running may hold the pipes for ever. */
const outputGrace = 100;
const killGrace = 1_000;
/** A group of its own, so that what a program starts ends with it; what execa would do when the agent ends is done here. */
const manner = { reject: false, buffer: false, extendEnv: false, cleanup: false, killDescendants: true, forceKillAfterDelay: killGrace } as const;

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
  readonly #guardian: () => Promise<ProcessGuardian>;
  readonly #end = new AbortController();
  readonly #groups = new Map<number, Promise<Disposable | undefined>>();
  readonly #running = new Set<Promise<unknown>>();

  /** @param guardian rejects where nobody is it: programs run without one */
  constructor(env: () => Environment, guardian: () => Promise<ProcessGuardian>) {
    this.#env = env;
    this.#guardian = guardian;
  }

  /** Runs a program without a shell; stdin is closed unless `input` is given. @throws OperationalError */
  run(file: string, args: readonly string[], options: ExecOptions): Promise<string> {
    const work = this.#run(file, args, options);
    this.#running.add(work);
    return work.finally(() => this.#running.delete(work));
  }

  /** Ends what runs, and what it left running. */
  async dispose(): Promise<void> {
    this.#end.abort();
    for (const group of this.#groups.keys()) endGroup(group);
    await Promise.allSettled(this.#running);
    setTimeout(() => this.#forgetEmpty(), 2 * killGrace).unref();
  }

  async #run(file: string, args: readonly string[], { cwd, env, input, signal, timeout = usualTimeout }: ExecOptions): Promise<string> {
    const cancel = AbortSignal.any([this.#end.signal, ...(signal ? [signal] : [])]);
    const [{ execa }, guardian] = await Promise.all([import('execa'), cancel.aborted ? undefined : this.#guardian().catch(() => undefined)]);
    if (cancel.aborted) throw new OperationalError(`${file} was cancelled before it started`);
    const child = execa(file, args, {
      ...manner,
      env: { ...this.#env(), ...env },
      ...(input === undefined ? { stdin: 'ignore' as const } : { input }),
      ...(cwd !== undefined && { cwd }),
    });
    const { pid } = child;
    if (pid !== undefined) {
      groups.add(pid);
      // It is there for the worst case: one that fails must not bring it about.
      this.#groups.set(pid, (async () => guardian?.guard(pid))().catch(() => undefined));
    }
    let stopped: string | undefined;
    const stop = (why: string): void => {
      stopped ??= why;
      child.kill();
    };
    const outputs = [child.stdout, child.stderr].map((stream) => collect(stream, () => stop(`wrote more than ${maxOutput} characters`)));
    cancel.onabort = () => stop('was cancelled');
    const timer = setTimeout(stop, timeout, `did not end within ${timeout} ms`);

    // `child` itself settles when the pipes are closed as well, or at once when there is no such program.
    const exited = new Promise<Ended>((resolve) => child.nodeChildProcess.once('exit', (exitCode, killer) => resolve({ exitCode: exitCode ?? undefined, signal: killer ?? undefined })));
    const { exitCode, signal: killer, shortMessage }: Ended = await Promise.race([exited, child]);
    clearTimeout(timer);
    cancel.onabort = null;
    // It went; what it started may have ignored the signal.
    if (stopped !== undefined && pid !== undefined) endGroup(pid);
    await Promise.race([child, new Promise((resolve) => setTimeout(resolve, outputGrace).unref())]);
    const [stdout = '', stderr = ''] = outputs.map((one) => one.finish());
    this.#forgetEmpty();

    if (exitCode === 0 && stopped === undefined) return stdout;
    const what = stopped ?? (exitCode !== undefined ? `ended with exit code ${exitCode}` : killer !== undefined ? `was killed by ${killer}` : undefined);
    const said = stderr ? `: ${stderr.trim().slice(0, 2_000)}` : '';
    throw new OperationalError(`${what === undefined ? (shortMessage ?? `${file} could not be started`) : `${file} ${what}`}${said}`, { exitCode, signal: killer, stdout, stderr });
  }

  /** The id of a group without members may soon be somebody else's. */
  #forgetEmpty(): void {
    for (const [group, guard] of this.#groups) {
      if (signalGroup(group, 0)) continue;
      this.#groups.delete(group);
      groups.delete(group);
      void guard.then((one) => one?.dispose()).catch(() => undefined);
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
