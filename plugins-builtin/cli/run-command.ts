/** `agent run`: one task from its words to its exit code. */
import { type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  command,
  type Command,
  type CommandIO,
  configurationError,
  type Invocation,
  type PluginContext,
  type Session,
  type SessionOptions,
  sessions,
} from 'newt-agent';
import { exitCodes, sayError, sayFailure } from './failure.ts';
import { listenForInterrupts } from './interrupts.ts';
import { withQuestions } from './questions.ts';
import { textView } from './render-text.ts';
import { isTerminal } from './terminal.ts';
import { jsonView, pipedView, type View } from './view.ts';

/** How long a session may take to close when the person insists on quitting, in milliseconds. */
export const lastGrace = 500;

export function runCommand(p: PluginContext): Command {
  return command({
    description: 'Work on a task in this folder',
    arguments: [{ name: 'task', description: 'What to do; standard input is added to it', variadic: true, values: 'files' }],
    options: [
      { flags: '-m, --model <provider/model>', description: 'Model to use' },
      { flags: '--json', description: 'Print the event log, one JSON object a line' },
      { flags: '-y, --yes', description: 'Write files and run commands without asking' },
      { flags: '--max-rounds <n>', description: 'Stop after this many rounds' },
      { flags: '-c, --continue', description: 'Go on with the last session of this folder' },
      // What it does happens before there is a kernel: see supervise.ts beside the composition root.
      { flags: '--supervised', description: 'Start again by itself when a plugin brings the process down' },
      { flags: '--cwd <folder>', description: 'Folder to work in', values: 'folders' },
    ],
    examples: [
      'agent run "create a Python script that prints the Fibonacci numbers"',
      'agent run --yes "make the tests pass"',
      'git diff | agent run "review this change"',
      'agent run --continue "now add a test for it"',
      'agent run --json "list the TODOs" | jq -r \'select(.type == "stop").data.text\'',
    ],
    run: (invocation, { io, signal }) => runTask(p, invocation, io, signal),
  });
}

type Task = Pick<SessionOptions, 'cwd' | 'model' | 'mode' | 'maxRounds'> & { readonly prompt: string; readonly goesOn: boolean };

/** What is said where somebody goes on without a word. */
const goOn = 'Go on with the task where it stopped.';

async function runTask(p: PluginContext, invocation: Invocation, io: CommandIO, outer: AbortSignal): Promise<number> {
  let task: Task;
  try {
    task = await readTask(invocation, io);
  } catch (error) {
    return sayError(io, error);
  }
  const { prompt, goesOn, ...options } = task;
  const isJson = invocation.options['json'] === true;
  const view = viewFor(io, isJson);
  let session: Session | undefined;
  const close = async (): Promise<void> => {
    const open = session;
    session = undefined;
    await open?.close();
  };
  const interrupts = listenForInterrupts(
    () => view.cancelling(),
    (code) => void Promise.race([close().catch(() => undefined), new Promise((ready) => setTimeout(ready, lastGrace))]).then(() => process.exit(code)),
  );
  const { show, ask } = withQuestions(() => view, (question, hangsUp) => io.confirm(question, hangsUp), isTerminal(io) ? io.questionStyle : io.style, () => io.columns);
  try {
    const resume = goesOn ? await lastSession(p, options.cwd) : undefined;
    session = await p.use(sessions).open({ ...options, ...(resume !== undefined && { resume }), ask, onEvent: show });
    const result = await session.run(prompt, AbortSignal.any([outer, interrupts.signal]));
    if (result.code !== 0 && !isJson) sayFailure(io, result.text || result.reason);
    await close().catch((error: unknown) => void sayError(io, error));
    return result.reason === 'cancelled' ? (interrupts.code ?? result.code) : result.code;
  } catch (error) {
    // A run answers whatever becomes of it, so it is the way to one that failed.
    sayError(io, error);
    return interrupts.code ?? exitCodes.usage;
  } finally {
    await close().catch(() => undefined);
    await interrupts.dispose();
  }
}

/** @throws OperationalError for what the person got wrong */
async function readTask({ arguments: { task = [] }, options }: Invocation, io: CommandIO): Promise<Task> {
  const { model, maxRounds, yes, cwd } = options;
  const words = [task].flat().join(' ').trim();
  const folder = workspace(cwd);
  const rounds = roundsOf(maxRounds);
  const goesOn = options['continue'] === true;
  const input = (await (isTerminal(io) ? io.input(words !== '' || goesOn) : io.input()))?.trim() ?? '';
  const prompt = [words, input].filter(Boolean).join('\n\n') || (goesOn ? goOn : '');
  if (!prompt) throw configurationError('there is no task', 'agent run "what to do"');
  return {
    prompt,
    goesOn,
    cwd: folder,
    mode: yes === true ? 'auto' : undefined,
    ...(typeof model === 'string' && { model }),
    ...(rounds !== undefined && { maxRounds: rounds }),
  };
}

/** @throws OperationalError */
export function roundsOf(given: string | boolean | undefined): number | undefined {
  const rounds = given === undefined ? undefined : Number(given);
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0)) throw configurationError(`--max-rounds takes a whole number above 0, not "${String(given)}"`);
  return rounds;
}

/** @throws OperationalError when there is none */
export async function lastSession(p: PluginContext, cwd: string): Promise<string> {
  const last = await p.use(sessions).latest(cwd);
  if (last === undefined) throw configurationError(`there is no session of ${cwd} to go on with`, 'leave out --continue to begin one');
  return last;
}

export function workspace(given: string | boolean | undefined): string {
  let folder: string;
  try {
    folder = resolve(typeof given === 'string' ? given : '.');
  } catch {
    throw configurationError('the current folder is gone', 'change to one that exists, or name one with --cwd');
  }
  const stat = statOf(folder);
  if (!stat) throw configurationError(`there is no folder ${folder}`, 'name one that exists with --cwd');
  if (!stat.isDirectory()) throw configurationError(`${folder} is not a folder`, 'name a folder with --cwd');
  return folder;
}

function statOf(folder: string): Stats | undefined {
  try {
    return statSync(folder, { throwIfNoEntry: false });
  } catch (error) {
    throw configurationError(`${folder} cannot be used: ${(error as Error).message}`, 'name another folder with --cwd');
  }
}

function viewFor(io: CommandIO, isJson: boolean): View {
  if (isJson) return jsonView(io);
  if (!isTerminal(io)) return pipedView(io, io.style);
  return io.interactive ? textView(io) : pipedView(io, io.remarkStyle);
}
