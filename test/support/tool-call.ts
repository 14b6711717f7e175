/** A tool call on a real folder, for tests of tools without the session loop. */
import { mkdtemp, readlink, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { OperationalError, type Tool, type ToolCall, type ToolResult } from 'newt-agent';

export interface Workspace extends AsyncDisposable {
  /** Absolute real path of an empty folder of its own. */
  readonly cwd: string;
  /** Calls of one workspace share one session. */
  call(signal?: AbortSignal): ToolCall;
  /** Checks `input` against the schema, as the loop does, and runs the tool. */
  run(tool: Tool, input: unknown, signal?: AbortSignal): Promise<ToolResult>;
  /** What a person would be shown before the call. */
  preview(tool: Tool, input: unknown): Promise<string | undefined>;
}

/** A workspace in a new temporary folder; `await using` removes it. */
export async function temporaryWorkspace(): Promise<Workspace> {
  const parent = await realpath(await mkdtemp(join(tmpdir(), 'newt-tools-')));
  const memory = new Map<string, unknown>();
  const call = (signal = new AbortController().signal): ToolCall => ({
    id: 'call-1',
    signal,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    session: { id: 'session-1', cwd: parent, memory, spillFolder: parent },
    resolve: (path) => confine(parent, path),
    output() {},
    fail(message, details) {
      throw new OperationalError(message, details);
    },
  });
  return {
    cwd: parent,
    call,
    async run(tool, input, signal) {
      const answer = await tool.run((await tool.input.parseAsync(input)) as never, call(signal));
      return typeof answer === 'string' ? { text: answer } : answer;
    },
    async preview(tool, input) {
      return tool.preview?.((await tool.input.parseAsync(input)) as never, call());
    },
    [Symbol.asyncDispose]: () => rm(parent, { recursive: true, force: true }),
  };
}

async function confine(cwd: string, path: string): Promise<string> {
  const real = await realPath(resolve(cwd, path));
  if (relative(cwd, real).split('/')[0] === '..') throw new OperationalError(`${path} is outside the workspace.`);
  return real;
}

/** `realpath` for paths whose end may not exist yet, also behind a dangling link. */
async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return path;
  }
  const target = await readlink(path).catch(() => undefined);
  if (target !== undefined) return realPath(resolve(dirname(path), target));
  return join(await realPath(dirname(path)), basename(path));
}
