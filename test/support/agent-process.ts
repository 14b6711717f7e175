/** The built `agent` command as a process of its own, in a home and a workspace of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readEventLog } from '../../plugins-builtin/agent/api/event-reader.ts';
import type { Event } from '../../plugins-builtin/public.ts';

const bin = fileURLToPath(new URL('../../plugins-builtin/bin.cjs', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

export interface RunOptions {
  readonly input?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Milliseconds after which the process is killed; default one minute. */
  readonly deadline?: number;
  /** Hears of the process as soon as it runs. */
  readonly onStart?: (child: ChildProcess) => void;
  /** Hears of standard output as it comes. */
  readonly onOutput?: (text: string, child: ChildProcess) => void;
}

export interface Place {
  readonly root: string;
  readonly home: string;
  readonly workspace: string;
  /** Writes files below the workspace. */
  write(files: Readonly<Record<string, string | Buffer>>): void;
  /** Writes files below the folder of the global plugins. */
  plugins(files: Readonly<Record<string, string>>): void;
  agent(args: readonly string[], options?: RunOptions): Promise<Finished>;
  /** The records of the only session so far, or of the last one. */
  events(): readonly Event[];
  /** {@link events}, or none where no session was begun. */
  eventsOrNone(): readonly Event[];
  remove(): void;
}

const usualDeadline = 60_000;

/**
 * @param model base URL of a scripted server; the model is called `env/test`
 * @param config text of the person's `config.yaml`
 */
export function createPlace(model?: string, config?: string): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'agent-e2e-')));
  const home = join(root, 'home');
  const workspace = join(root, 'workspace');
  mkdirSync(workspace, { recursive: true });
  const write = (base: string, files: Readonly<Record<string, string | Buffer>>) => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(base, name)), { recursive: true });
      writeFileSync(join(base, name), content);
    }
  };
  if (config !== undefined) write(home, { 'config/config.yaml': config });
  const sessions = join(home, 'state', 'sessions');
  const events = (): readonly Event[] => {
    const files = readdirSync(sessions, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl')).map((name) => join(sessions, name));
    // By time: two runs within a second have names in no order.
    const [last = ''] = files.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
    return readEventLog(last).events;
  };
  return {
    root,
    home,
    workspace,
    write: (files) => write(workspace, files),
    plugins: (files) => write(join(home, 'config', 'plugins'), files),
    agent: (args, options = {}) => {
      const env: NodeJS.ProcessEnv = { PATH: process.env['PATH'], HOME: root, LANG: 'C.UTF-8', AGENT_HOME: home, ...(model !== undefined && { AGENT_BASE_URL: model, AGENT_MODEL: 'test' }), ...options.env };
      return runProcess(args, { ...options, env, cwd: options.cwd ?? workspace });
    },
    events,
    eventsOrNone: () => (existsSync(sessions) ? events() : []),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function runProcess(args: readonly string[], { input, env, cwd, deadline = usualDeadline, onStart, onOutput }: RunOptions & { env: NodeJS.ProcessEnv; cwd: string }): Promise<Finished> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...args], { cwd, env, stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] });
    const watch = setTimeout(() => child.kill('SIGKILL'), deadline);
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      onOutput?.(text, child);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(watch);
      resolve({ code, signal, stdout, stderr, ms: performance.now() - started });
    });
    child.stdin?.on('error', () => undefined).end(input);
    onStart?.(child);
  });
}
