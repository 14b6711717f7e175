/** The tool `run_command`. */
import { tool, type Tool, type ToolCall, type ToolResult, z } from 'newt-agent';
import { captureOutput } from './captured-output.ts';
import { childEnvironment } from './child-environment.ts';
import type { CommandGroups } from './command-groups.ts';
import { commandReport } from './command-report.ts';
import { type ProcessEnd, runProcess } from './run-process.ts';
import { findShell, type ShellProgram } from './shell-program.ts';
import { workingFolder } from './working-folder.ts';

export interface RunCommandOptions {
  /** Seconds a command may take when the call does not say. */
  readonly timeout: number;
  readonly allowExec: boolean;
  readonly groups: CommandGroups;
  /** Names of variables that no command is given, beside those whose names tell. */
  readonly hidden?: readonly string[];
  readonly shell?: ShellProgram;
}

const longestTimeout = 3_600;
/** Above the longest command, its kill in steps and the wait for its output. */
const deadline = longestTimeout + 60;

/** Builds the tool for one configuration. What it starts is recorded in `groups`. */
export function runCommandTool({ timeout: configured, allowExec, groups, hidden, shell = findShell() }: RunCommandOptions): Tool {
  const usual = Math.min(configured, longestTimeout);
  return tool({
    description:
      `Run a ${shell.name} command in a new shell in the workspace folder. No terminal, empty stdin: use flags instead of prompts and editors. ` +
      'Start servers in the background with their output in a file.',
    input: z.object({
      command: z.string(),
      timeout: z.number().positive().max(longestTimeout).optional().describe(`seconds, default ${usual}`),
      cwd: z.string().optional().describe('folder, default the workspace'),
    }),
    effect: 'exec',
    idempotent: false,
    deadline,
    preview: ({ command }) => command,
    async run({ command, timeout = usual, cwd }, call) {
      const refusal = allowExec ? objection(command) : 'running commands is forbidden by `tools.allow_exec: false` in the configuration; nothing ran';
      if (refusal) return failure(refusal);
      if (call.signal.aborted) return failure('cancelled before it started; nothing ran');
      const folder = await workingFolder(cwd, call);
      const output = captureOutput(call.session.spillFolder, spillName(call.id), (text) => call.output(text));
      let end: ProcessEnd;
      try {
        end = await runProcess({
          file: shell.file,
          args: shell.args(command),
          waits: shell.waits,
          verbatim: shell.verbatim,
          cwd: folder.path,
          env: childEnvironment(folder.path, hidden),
          limit: timeout * 1_000,
          signal: call.signal,
          onStart: (group) => groups.add(call.session, group),
          onOutput: output.push,
          onClose: output.close,
        });
      } catch (error) {
        return spawnFailure(shell, error);
      }
      output.finish();
      if (end.left?.holdsOutput) output.keepFile();
      else output.close();
      recordLeftBehind(end, groups, call);
      return commandReport(end, output, timeout, folder.note);
    },
  });
}

function objection(command: string): string | undefined {
  if (command.trim() === '') return 'the command is empty; nothing ran';
  return command.includes('\0') ? 'the command contains a NUL character, which no program can be given; nothing ran' : undefined;
}

function failure(text: string): ToolResult {
  return { text, isError: true };
}

const causes: Readonly<Record<string, string>> = {
  ENOENT: 'no such program or folder',
  EACCES: 'permission denied',
  E2BIG: 'the command is too long for the system; write it to a file and run that',
  EAGAIN: 'the system allows no more processes now',
  ENOMEM: 'out of memory',
  EMFILE: 'too many open files',
};

/** @param error what `spawn` threw or emitted */
function spawnFailure(shell: ShellProgram, error: unknown): ToolResult {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return failure(`${shell.name} could not be started: ${causes[code] ?? message}${code && ` (${code})`}; nothing ran`);
}

/** Groups that processes made for themselves end with the session like the command's own. */
function recordLeftBehind(end: ProcessEnd, groups: CommandGroups, call: ToolCall): void {
  for (const { group } of end.left?.processes ?? []) groups.add(call.session, group);
  groups.settle();
}

function spillName(callId: string): string {
  return `command-${callId.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)}.log`;
}
