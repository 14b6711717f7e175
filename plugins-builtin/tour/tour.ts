/** The three acts of the tour. Each is a command a person could type, run by this same binary. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { type CommandIO, decidesOnSignal, shellWord } from 'newt-agent';
import { setStage, type Stage } from './stage.ts';

const task = 'create a Python script that prints the Fibonacci numbers';
/** No act takes longer; a stuck one must not hold the terminal. */
const actDeadline = 60_000;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export async function runTour(io: CommandIO, keep: boolean, signal: AbortSignal): Promise<number> {
  const stage = setStage();
  // The terminal tells the act as well; what is left here is to wait for it and to clean up.
  const interrupted = new AbortController();
  const stop = decidesOnSignal((): void => interrupted.abort());
  for (const name of signals) process.on(name, stop);
  try {
    return await acts(io, stage, AbortSignal.any([signal, interrupted.signal]));
  } finally {
    for (const name of signals) process.off(name, stop);
    if (keep) io.say(io.style.dim(`The workspace is kept: ${stage.root}`));
    else rmSync(stage.root, { recursive: true, force: true });
  }
}

async function acts(io: CommandIO, stage: Stage, signal: AbortSignal): Promise<number> {
  const title = (text: string) => io.print(`\n${io.style.bold(text)}`);
  const type = async (...words: string[]): Promise<number> => {
    if (signal.aborted) return 130;
    io.print(`\n${io.style.dim('$')} ${io.style.cyan(`agent ${words.map(shellWord).join(' ')}`)}`);
    return agent(stage, words, signal);
  };

  title('1. Plugins from four tiers: built in, project, global, npm');
  let code = await type('trust', 'grant');
  code ||= await type('plugin', 'add', stage.linked, '--yes');
  code ||= await type('plugin', 'list');
  if (code) return code;

  title('2. Plugins that break: the run goes on, and says who, why and what next');
  stage.addBroken();
  code = await type('run', '--yes', '-m', 'tour/containment', 'try the broken plugins');
  if (code) return code;
  io.print(io.style.dim('\nThe next start knows them and does not wait for them again:'));
  code = await type('plugin', 'list');
  if (code) return code;

  stage.removeBroken();
  title('3. One coding task, through the loop and the tools every run uses');
  code = await type('run', '--yes', '-m', 'tour/fibonacci', task);
  if (code) return code;

  title('Your turn');
  io.print('  export AGENT_BASE_URL=http://127.0.0.1:8000/v1 AGENT_MODEL=your-model   # any OpenAI-compatible server');
  io.print('  agent run "explain this project"');
  return 0;
}

/** Runs one command of this binary in the tour's workspace, on this terminal. */
function agent(stage: Stage, words: readonly string[], signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [process.argv[1] ?? '', ...words], { cwd: stage.workspace, env: stage.env, stdio: ['ignore', 'inherit', 'inherit'], timeout: actDeadline });
    const stop = () => child.kill('SIGTERM');
    signal.addEventListener('abort', stop, { once: true });
    child.once('error', reject);
    child.once('exit', (code) => {
      signal.removeEventListener('abort', stop);
      resolve(signal.aborted ? 130 : (code ?? 1));
    });
  });
}
