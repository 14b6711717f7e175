/** A program on a real terminal (a pty that Python opens), which can be looked at and hung up from outside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Holds the terminal open, so that its settings can be read when everybody else is gone. One request a line, one answer a line. */
const driver = `
import fcntl, json, os, pty, resource, select, signal, subprocess, sys, termios
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
master, slave = pty.openpty()
leader = os.fork()
if leader == 0:
    os.close(master)
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for descriptor in (0, 1, 2): os.dup2(slave, descriptor)
    if slave > 2: os.close(slave)
    os.execvp(sys.argv[1], sys.argv[1:])
shown = b''
asked = b''
while True:
    ready, _, _ = select.select([0] if master is None else [0, master], [], [])
    if master in ready: shown += os.read(master, 65536)
    if 0 not in ready: continue
    piece = os.read(0, 65536)
    if not piece: break
    asked += piece
    while b'\\n' in asked:
        line, asked = asked.split(b'\\n', 1)
        answer = ''
        if line == b'settings': answer = subprocess.run(['stty', '-a'], stdin=slave, capture_output=True, text=True, timeout=5).stdout
        elif line == b'output': answer = shown.decode('utf8', 'replace')
        elif line.startswith(b'type '): os.write(master, line[5:] + b'\\n')
        elif line == b'hangup':
            os.close(master); os.close(slave)
            master = None
        print(json.dumps(answer), flush=True)
try: os.killpg(leader, signal.SIGKILL)
except ProcessLookupError: pass
`;

export interface TerminalProcess extends AsyncDisposable {
  /** What `stty -a` says of the terminal. */
  settings(): Promise<string>;
  /** Everything that was written to it so far. */
  output(): Promise<string>;
  /** Types a line. */
  type(line: string): Promise<void>;
  /** Closes it, as its window would. */
  hangUp(): Promise<void>;
}

const patience = 10_000;

/** Starts a program as the leader of the terminal's session. Disposing kills it and whoever is in its process group. */
export function startOnTerminal(command: readonly string[], options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }): TerminalProcess {
  const child: ChildProcess = spawn('python3', ['-c', driver, ...command], { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
  const answers: ((answer: string) => void)[] = [];
  if (child.stdout) createInterface(child.stdout).on('line', (line) => answers.shift()?.(JSON.parse(line) as string));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const ask = (request: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const late = setTimeout(reject, patience, new Error(`no answer to ${request}`));
      answers.push((answer) => {
        clearTimeout(late);
        resolve(answer);
      });
      child.stdin?.write(`${request}\n`);
    });
  return {
    settings: () => ask('settings'),
    output: () => ask('output'),
    type: async (line) => void (await ask(`type ${line}`)),
    hangUp: async () => void (await ask('hangup')),
    async [Symbol.asyncDispose]() {
      child.stdin?.end();
      const late = setTimeout(() => child.kill('SIGKILL'), patience);
      await ended;
      clearTimeout(late);
    },
  };
}
