/**
 * The agent dies, in every way there is, on a real terminal, while a command and a program of a plugin run that ignore
 * every signal but SIGKILL, and with the terminal in raw mode. They are gone, and the terminal is what it was.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { call, openStage, type Stage } from '../support/stage.ts';
import { startOnTerminal, type TerminalProcess } from '../support/terminal-process.ts';

// Each waits for processes; two at a time keep two cores busy without making them late.
vi.setConfig({ maxConcurrency: 2 });

const bin = fileURLToPath(new URL('../../plugins-builtin/bin.cjs', import.meta.url));
/** From the signal on; the agent itself gives what it runs 2 s before it kills it. */
const soon = 5_000;

/** A shell and its child, in one group, that only SIGKILL ends. It says who they are. */
const stubborn = (name: string): string => `trap "" TERM HUP INT; sleep 300 & echo $$ $! >${name}.part; mv ${name}.part ${name}.pids; wait; wait; sleep 300`;

/** Changes the terminal as a full-screen program does, runs a program, and ends the agent from the inside when asked to. */
const worker = `import { changingTerminal, definePlugin, tool, z } from 'newt-agent';
import { existsSync, openSync, writeFileSync, writeSync } from 'node:fs';
const fill = () => { const all = []; for (;;) all.push(new Array(100_000).fill({})); };
export default definePlugin({ id: 'worker', capabilities: ['exec'] }, (p) => ({
  tools: {
    work: tool({ description: 'Works.', input: z.object({}), effect: 'read', async run(_input, call) {
      const { cwd } = call.session;
      p.every(50, () => { if (existsSync(cwd + '/fill')) fill(); });
      await changingTerminal(p);
      process.stdin.setRawMode(true);
      writeSync(openSync('/dev/tty', 'w'), '\\x1b[?2004h\\x1b[?25l\\x1b[?1049h\\x1b[>7u');
      writeFileSync(cwd + '/agent.pid', String(process.pid));
      p.exec('sh', ['-c', ${JSON.stringify(stubborn('program'))}], { cwd }).catch((error) => p.log.info(error.message));
      return 'at work';
    } }),
  },
}));
`;

/** Loaded before the agent: what the watchdog does, with the function it keeps, and without its wait for a stall. */
const ender = `const { existsSync } = require('node:fs');
const end = process.reallyExit.bind(process);
setInterval(() => { if (existsSync('exit')) end(70); }, 50).unref();
`;

interface Scene extends AsyncDisposable {
  readonly stage: Stage;
  readonly terminal: TerminalProcess;
  readonly agent: number;
  readonly guardian: number;
  /** The command, the program, and their children. */
  readonly workers: readonly number[];
}

/** @param shell `bash` has a line editor, and job control */
async function setScene(shell: 'sh' | 'bash' = 'sh'): Promise<Scene> {
  const stage = await openStage((_request, n) => (n === 0 ? { toolCalls: [call('use_tool', { name: 'work', args: {} }), call('run_command', { command: stubborn('command') })] } : { text: 'done' }));
  const { place, server } = stage;
  place.plugins({ 'worker.ts': worker });
  const preloaded = join(place.root, 'ender.cjs');
  writeFileSync(preloaded, ender);
  const line = `'${process.execPath}' '${bin}' run --yes go; echo "ended with $?"`;
  const terminal = startOnTerminal(shell === 'sh' ? ['sh', '-c', `${line}; exec sleep 60`] : ['bash', '--norc', '--noprofile', '-i'], {
    cwd: place.workspace,
    env: { PATH: process.env['PATH'], HOME: place.root, LANG: 'C.UTF-8', TERM: 'xterm', AGENT_HOME: place.home, AGENT_BASE_URL: server.url, AGENT_MODEL: 'test', SOME_TOKEN: 'secret-of-the-agent', NODE_OPTIONS: `--max-old-space-size=96 --require ${preloaded}` },
  });
  if (shell === 'bash') await terminal.type(line);
  const read = (name: string): string => readFileSync(join(place.workspace, name), 'utf8');
  try {
    await within(20_000, () => expect(['command.pids', 'program.pids', 'agent.pid'].filter((name) => !existsSync(join(place.workspace, name)))).toEqual([]));
  } catch (error) {
    const said = await terminal.output();
    await terminal[Symbol.asyncDispose]();
    await stage[Symbol.asyncDispose]();
    throw new Error(said, { cause: error });
  }
  const agent = Number(read('agent.pid'));
  const workers = [...read('command.pids').trim().split(' '), ...read('program.pids').trim().split(' ')].map(Number);
  const guardians = children(agent).filter((pid) => commandOf(pid).includes('terminal=$rest'));
  expect(guardians).toHaveLength(1);
  const guardian = guardians[0] ?? NaN;
  return {
    stage,
    terminal,
    agent,
    guardian,
    workers,
    async [Symbol.asyncDispose]() {
      await terminal[Symbol.asyncDispose]();
      for (const pid of [agent, ...workers, guardian]) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
      await stage[Symbol.asyncDispose]();
    },
  };
}

const raw = /-icanon[^]*-echo\b/;
const cooked = /(?<!-)\bicanon\b[^]*(?<!-)\becho\b/;

const within = (ms: number, check: () => void | Promise<void>): Promise<void> => vi.waitFor(check, { timeout: ms, interval: 50 });

/** To be called when the agent has been told to die. */
async function expectGone({ agent, guardian, workers }: Scene): Promise<void> {
  await within(soon, () => expect(workers.filter(isRunning)).toEqual([]));
  await within(soon, () => expect([agent, guardian].filter(isRunning)).toEqual([]));
}

describe.concurrent('the agent dies', () => {
  test.for([
    ['of SIGTERM', 'SIGTERM', 143],
    ['of SIGHUP', 'SIGHUP', 129],
    ['of SIGKILL', 'SIGKILL', 137],
    ['of an abort', 'SIGABRT', 134],
    ['of memory that is exhausted', 'fill', 134],
    ['by the hand of the watchdog', 'exit', 70],
  ] as const)('%s', { timeout: 60_000 }, async ([, way, code]) => {
    await using scene = await setScene();
    const { stage, terminal, agent, workers } = scene;
    expect(await terminal.settings()).toMatch(raw);
    expect(workers.filter(isRunning)).toEqual(workers);

    if (way === 'fill' || way === 'exit') stage.place.write({ [way]: '' });
    else process.kill(agent, way);
    await expectGone(scene);

    await within(soon, async () => expect(await terminal.settings()).toMatch(cooked));
    await within(soon, async () => expect(await terminal.output()).toContain(`ended with ${code}`));
    const [, after = ''] = (await terminal.output()).split('\u001b[>7u');
    for (const ending of ['\u001b[?2004l', '\u001b[?1049l', '\u001b[<u', '\u001b[?25h']) expect(after).toContain(ending);
  });

  test('under a shell that is at its prompt again before the guardian looks, or after it', { timeout: 60_000 }, async () => {
    await using scene = await setScene('bash');
    const { terminal, agent } = scene;
    process.kill(agent, 'SIGKILL');
    await expectGone(scene);
    // Typed before the prompt, it would be shown twice by the terminal and the shell all the same.
    await within(soon, async () => expect(await terminal.output()).toMatch(/ended with 137\r?\n[\s\S]*bash-[\d.]+[#$] /));
    // A line editor that had its settings taken away would show this twice, and run it under them.
    await terminal.type("stty -a; echo 'en'd");
    await within(soon, async () => expect(await terminal.output()).toMatch(/\nend\r?\n/));
    const [, after = ''] = (await terminal.output()).split(/ended with 137/);
    expect(after).toMatch(cooked);
    expect(after.split("echo 'en'd")).toHaveLength(2);
  });

  test('with its terminal', { timeout: 60_000 }, async () => {
    await using scene = await setScene();
    await scene.terminal.hangUp();
    await expectGone(scene);
  });
});

test('the guardian has a session of its own, no terminal, and nothing of the environment', { timeout: 60_000 }, async () => {
  await using scene = await setScene();
  const { guardian } = scene;
  const stat = readFileSync(`/proc/${guardian}/stat`, 'latin1');
  const [, , group, session, terminal] = stat.slice(stat.lastIndexOf(')') + 2).split(' ').map(Number);
  expect({ group, session, terminal }).toEqual({ group: guardian, session: guardian, terminal: 0 });
  const open = readdirSync(`/proc/${guardian}/fd`).map((descriptor) => readlinkSync(`/proc/${guardian}/fd/${descriptor}`));
  expect(open.filter((target) => /pts|tty/.test(target))).toEqual([]);
  // `sh` adds PWD and its kin for itself; this is what it was started with.
  expect(readFileSync(`/proc/${guardian}/environ`, 'utf8').split('\0').filter(Boolean)).toEqual([expect.stringMatching(/^PATH=/)]);
  process.kill(scene.agent, 'SIGKILL');
  await expectGone(scene);
});

/** A killed process that nobody has collected yet is no running one. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

function children(parent: number): number[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && new RegExp(`^PPid:\\s+${parent}$`, 'm').test(textOf(`/proc/${name}/status`))).map(Number);
}

function commandOf(pid: number): string {
  return textOf(`/proc/${pid}/cmdline`);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
