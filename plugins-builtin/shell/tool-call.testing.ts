/** A workspace, and tool calls in it, without an agent around them. */
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { OperationalError, type Tool, type ToolCall, type ToolResult, type ToolSession } from 'newt-agent';
import { type CommandGroups, commandGroups } from './command-groups.ts';
import { createGuardian } from './guardian.ts';
import { runCommandTool, type RunCommandOptions } from './run-command.ts';

export interface Workspace {
  /** Holds the workspace; every process of a test has its working folder in here. */
  readonly root: string;
  readonly session: ToolSession;
  readonly groups: CommandGroups;
  readonly shown: string[];
  run(input: Readonly<Record<string, unknown>>, options?: RunOptions): Promise<Finished>;
  call(subject: Tool, input: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<Finished>;
  /** Pids of the processes that work in {@link root}. */
  processes(): number[];
  remove(): Promise<void>;
}

interface RunOptions extends Partial<RunCommandOptions> {
  readonly signal?: AbortSignal;
}

export interface Finished extends ToolResult {
  /** Milliseconds until the tool answered. */
  readonly took: number;
}

export function workspace(): Workspace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'newt-shell-')));
  const cwd = join(root, 'project');
  mkdirSync(cwd);
  const session: ToolSession = { id: 'session', cwd, memory: new Map(), spillFolder: join(root, 'spill') };
  const groups = commandGroups(createGuardian((reason) => { throw new Error(reason); }));
  const shown: string[] = [];
  let calls = 0;
  const call = async (subject: Tool, input: Readonly<Record<string, unknown>>, signal = new AbortController().signal): Promise<Finished> => {
    calls += 1;
    const begun = performance.now();
    const result = await answer(subject, input, toolCall(session, `call/${calls}`, signal, (text) => shown.push(text)));
    return { ...result, took: performance.now() - begun };
  };

  return {
    root,
    session,
    groups,
    shown,
    call,
    run: (input, { signal, ...options } = {}) => call(runCommandTool({ timeout: 20, allowExec: true, groups, ...options }), input, signal),
    processes: () => processesIn(root),
    async remove() {
      await groups.endAll();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function toolCall(session: ToolSession, id: string, signal: AbortSignal, output: (text: string) => void): ToolCall {
  const silent = (): void => undefined;
  return {
    id,
    session,
    signal,
    output,
    log: { debug: silent, info: silent, warn: silent, error: silent },
    fail: (message) => {
      throw new OperationalError(message);
    },
    async resolve(path) {
      const real = resolve(session.cwd, path);
      if (real !== session.cwd && !real.startsWith(`${session.cwd}/`)) throw new OperationalError(`${path} lies outside the workspace`);
      return real;
    },
  };
}

async function answer(subject: Tool, input: unknown, call: ToolCall): Promise<ToolResult> {
  const result = await subject.run(subject.input.parse(input), call);
  return typeof result === 'string' ? { text: result } : result;
}

function processesIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && workingFolderOf(name).startsWith(folder))
    .map(Number);
}

function workingFolderOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

/** Waits until `condition` holds; the test's own time limit ends a wait in vain. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((wake) => setTimeout(wake, 10));
}
