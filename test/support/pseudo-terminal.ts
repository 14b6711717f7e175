/** The built `agent` command on a real pseudo-terminal, and what a person would see of it. */
import { spawn, spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import headless from '@xterm/headless';

const bin = fileURLToPath(new URL('../../plugins-builtin/bin.cjs', import.meta.url));
const driver = fileURLToPath(new URL('pseudo-terminal.py', import.meta.url));

/** Whether this machine has what it takes: a Python that knows pseudo-terminals. */
export const hasPseudoTerminals = process.platform !== 'win32' && spawnSync('python3', ['-c', 'import os, pty, termios; os.waitstatus_to_exitcode']).status === 0;

export interface PseudoTerminal extends AsyncDisposable {
  keys(text: string): void;
  resize(columns: number, rows: number): void;
  signal(name: NodeJS.Signals): void;
  /** What stands on the screen and in its memory, line by line, as a terminal shows it. */
  lines(): string[];
  screen(): string;
  /** Every byte so far. */
  raw(): string;
  /** Waits until the screen, or its memory, holds `wanted`. @throws with the screen after 20 s */
  see(wanted: string | RegExp): Promise<void>;
  /** Waits until the screen does not hold it any more. */
  lose(wanted: string): Promise<void>;
  readonly ended: Promise<{ readonly code: number; readonly cooked: boolean }>;
}

interface Place {
  readonly root: string;
  readonly home: string;
  readonly workspace: string;
}

const patience = 20_000;

export function openPseudoTerminal({ root, home, workspace }: Place, args: readonly string[], { columns = 80, rows = 30, env = {} as NodeJS.ProcessEnv } = {}): PseudoTerminal {
  const child = spawn('python3', [driver, String(columns), String(rows), process.execPath, bin, ...args], {
    cwd: workspace,
    env: { PATH: process.env['PATH'], HOME: root, LANG: 'C.UTF-8', TERM: 'xterm-256color', NO_COLOR: '1', AGENT_HOME: home, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const terminal = new headless.Terminal({ cols: columns, rows, scrollback: 5_000, allowProposedApi: true });
  const order = (what: object): void => void child.stdin.write(`${JSON.stringify(what)}\n`);
  let raw = '';
  let told = '';
  let onChange: () => void = () => undefined;
  child.stdin.on('error', () => undefined);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    raw += text;
    terminal.write(text, () => onChange());
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
  // It answers what it is asked, as terminals do.
  terminal.onData((text) => order({ keys: text }));
  const lines = (): string[] => {
    const { active } = terminal.buffer;
    return Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true).trimEnd() ?? '');
  };
  const screen = (): string => lines().join('\n').trimEnd();
  const until = (holds: () => boolean, what: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`not seen within ${patience} ms: ${what}\n${screen()}\n${told}`)), patience);
      onChange = () => {
        if (!holds()) return;
        clearTimeout(timer);
        onChange = () => undefined;
        resolve();
      };
      onChange();
    });
  const holds = (wanted: string | RegExp): boolean => (typeof wanted === 'string' ? screen().includes(wanted) : wanted.test(screen()));
  const ended = new Promise<{ code: number; cooked: boolean }>((resolve, reject) => {
    child.once('close', () => {
      const last = told.trim().split('\n').at(-1) ?? '';
      if (last.startsWith('{')) resolve(JSON.parse(last) as { code: number; cooked: boolean });
      else reject(new Error(told));
    });
  });
  // A test that failed before does not wait for it.
  ended.catch(() => undefined);
  return {
    keys: (text) => order({ keys: text }),
    resize(newColumns, newRows) {
      terminal.resize(newColumns, newRows);
      order({ resize: [newColumns, newRows] });
    },
    signal: (name) => order({ signal: constants.signals[name] }),
    lines,
    screen,
    raw: () => raw,
    see: (wanted) => until(() => holds(wanted), String(wanted)),
    lose: (wanted) => until(() => !holds(wanted), `the end of ${wanted}`),
    ended,
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      if (child.exitCode === null && child.signalCode === null) await new Promise((done) => child.once('close', done));
      terminal.dispose();
    },
  };
}
