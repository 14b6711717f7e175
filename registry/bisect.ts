/** `agent plugin bisect` */
import { rmSync } from 'node:fs';
import { constants } from 'node:os';
import { join, resolve } from 'node:path';
import { type Command, type CommandIO, command, configControl, decidesOnSignal, type Invocation, kernelControl, oneLine, type PluginContext, processGuardian, type ProcessGuardian } from 'newt-agent';
import { claimLock } from '../kernel/lock-file.ts';
import type { HomePaths } from '../kernel/paths.ts';
import { freshHome } from './bisect-home.ts';
import { areSilent, disabledFor, searchedPlugins, withTold } from './bisect-plugins.ts';
import { commandText, outcomeJson, printOutcome, progressLine } from './bisect-report.ts';
import { runCommand } from './bisect-run.ts';
import { idsOn, nextStep, type Outcome } from './bisect-search.ts';
import { bisectFolder, type BisectState, forgetBisect, readBisect, writeBisect } from './bisect-state.ts';
import { count } from './layout.ts';
import { failed, refused, reporting } from './report.ts';
import { readDisabled } from './switch.ts';

const usualTimeout = 600;
const longestTimeout = 86_400;
/** For another agent to say what plugins of one module require, in milliseconds. */
const askPatience = 30_000;
const example = 'agent plugin bisect -- agent run --yes "say hello"';

/** Finds the plugin that makes a command fail, by running it with ever fewer of them. */
export function bisectCommand(p: PluginContext): Command {
  return command({
    description: 'Find the plugin that makes a command fail, by running it with ever fewer of them',
    arguments: [{ name: 'command', description: 'What to run, behind --: exit code 0 is good, 125 cannot tell, any other is bad', variadic: true }],
    options: [
      { flags: '--timeout <seconds>', description: `How long a run may take; one that takes longer is bad (default ${usualTimeout})` },
      { flags: '--continue', description: 'Go on with the last search, as the same command does by itself' },
      { flags: '--reset', description: 'Forget the last search' },
      { flags: '--pair', description: 'Look whether it takes a second plugin too: a few more runs' },
      { flags: '--json', description: 'Print what was found as JSON' },
    ],
    examples: [example, 'agent plugin bisect --timeout 60 -- npm test', "agent plugin bisect -- sh -c '! agent run --yes hello | grep -q Sorry'", 'agent plugin bisect --continue'],
    run: reporting(async (invocation, { io, signal }) => {
      const { paths } = p.use(kernelControl);
      if (invocation.options['reset']) {
        const had = forgetBisect(paths.state);
        if (wordsOf(invocation).length === 0) {
          io.print(had ? 'Forgot the last search.' : 'There was no search to forget.');
          return 0;
        }
      }
      const claim = claimLock(join(paths.state, 'bisect.lock'));
      if ('pid' in claim) throw failed(`another search is under way, in process ${claim.pid}`, 'wait for it, or end it: it can be gone on with');
      const stop = stopBySignal(signal);
      try {
        const bisect = await begin(p, invocation, io, stop.signal);
        const outcome = bisect && (await search(p, bisect, invocation, io, stop.signal));
        if (bisect && outcome) return finish(outcome, bisect, invocation, io);
        io.progress?.(undefined);
        io.say('Stopped. The same command goes on where it was; agent plugin bisect --reset forgets it');
        return stop.code();
      } finally {
        stop.dispose();
        rmSync(join(bisectFolder(paths.state), 'home'), { recursive: true, force: true });
        claim.release();
      }
    }),
  });
}

/** The search to go on with, or a new one; undefined when the person stopped it. @throws OperationalError */
async function begin(p: PluginContext, invocation: Invocation, io: CommandIO, signal: AbortSignal): Promise<BisectState | undefined> {
  const { options } = invocation;
  const control = p.use(kernelControl);
  const words = wordsOf(invocation);
  const cwd = resolve(typeof options['cwd'] === 'string' ? options['cwd'] : '.');
  const timeout = timeoutOf(options['timeout']);
  const stored = readBisect(control.paths.state);
  const isOpen = stored !== undefined && (!stored.done || options['pair'] === true);
  if (words.length === 0 && !isOpen) throw refused(stored ? 'the last search is over, and there is no command for another' : 'there is no command to run', example);
  const isSame = stored !== undefined && (words.length === 0 || (words.join('\0') === stored.command.join('\0') && cwd === stored.cwd));
  if (stored && !stored.done && !isSame) throw refused(`a search with another command is under way: ${oneLine(commandText(stored.command), 200)}`, 'agent plugin bisect --continue goes on with it; --reset before the new command forgets it');

  const plugins = searchedPlugins(control);
  const disabled = [...(await readDisabled(p.use(configControl))).effective];
  if (stored && isOpen && isSame) {
    if (identity(stored.plugins, stored.disabled) === identity(plugins, disabled)) {
      io.say(`Going on after ${count(stored.runs.length, 'run')} of ${oneLine(commandText(stored.command), 200)}`);
      return { ...stored, done: false, timeout: timeout ?? stored.timeout };
    }
    io.say('There are other plugins than when the last search began: it begins anew');
  }
  if (plugins.length === 0) throw failed('there is no plugin to search: none runs but the built-in ones');
  const asked = await ask(p, { plugins, disabled, cwd: stored && words.length === 0 ? stored.cwd : cwd }, signal);
  if (!asked) return undefined;
  return { version: 1, command: words.length === 0 && stored ? stored.command : words, cwd: stored && words.length === 0 ? stored.cwd : cwd, timeout: timeout ?? usualTimeout, begun: p.now(), plugins: asked, disabled, runs: [], done: false };
}

/** Has another agent say what only the code of plugins says. Should it not survive that, what is known has to do. */
async function ask(p: PluginContext, { plugins, disabled, cwd }: Pick<BisectState, 'plugins' | 'disabled' | 'cwd'>, signal: AbortSignal): Promise<BisectState['plugins'] | undefined> {
  if (!areSilent(plugins)) return plugins;
  const { paths } = p.use(kernelControl);
  const ended = await runCommand(['agent', 'plugin', 'list', '--json'], { cwd, env: environment(paths, disabled), timeout: askPatience, signal, isFirst: false, guardian: await guardianOf(p) });
  return ended && (ended.verdict === 'good' ? withTold(plugins, ended.output) : plugins);
}

/** Runs the command until it is known; undefined when the person stopped it. */
async function search(p: PluginContext, bisect: BisectState, { options }: Invocation, io: CommandIO, signal: AbortSignal): Promise<{ readonly outcome: Outcome; readonly tail: string } | undefined> {
  const { paths } = p.use(kernelControl);
  const guardian = await guardianOf(p);
  const { plugins, runs } = bisect;
  writeBisect(paths.state, bisect);
  for (let tail = ''; ; ) {
    const step = nextStep(plugins, runs, options['pair'] === true);
    if ('end' in step) {
      writeBisect(paths.state, { ...bisect, done: true });
      return { outcome: step.end, tail };
    }
    const on = idsOn(plugins, step.run);
    const line = progressLine(runs.length + 1, step.atMost, on.size, plugins.length);
    io.progress?.(line);
    const ended = await runCommand(bisect.command, { cwd: bisect.cwd, env: environment(paths, disabledFor(plugins, on, bisect.disabled)), timeout: bisect.timeout * 1_000, signal, isFirst: runs.length === 0, guardian }).catch((error: unknown) => {
      // Nothing was searched yet: what cannot be started is no search to go on with.
      if (runs.length === 0) forgetBisect(paths.state);
      throw error;
    });
    io.progress?.(undefined);
    if (!ended) return undefined;
    const { verdict, how, ms } = ended;
    tail = ended.tail;
    runs.push({ through: step.run.through, with: [...step.run.with], verdict, how, ms });
    writeBisect(paths.state, bisect);
    const style = { good: io.style.green, bad: io.style.red, skip: io.style.yellow }[verdict];
    io.say(`${line} ${style(verdict)} ${io.style.dim(`(${how}, ${(ms / 1_000).toFixed(1)} s)`)}`);
  }
}

function finish({ outcome, tail }: { readonly outcome: Outcome; readonly tail: string }, bisect: BisectState, { options }: Invocation, io: CommandIO): number {
  if (options['json']) io.json(outcomeJson(outcome, bisect));
  else printOutcome(outcome, bisect, tail, io);
  return outcome.kind === 'found' || outcome.kind === 'pair' ? 0 : 1;
}

/** The person's own: it is their command. What is off is said by the layer that is stronger than every file. */
function environment(paths: HomePaths, disabled: readonly string[]): NodeJS.ProcessEnv {
  return { ...process.env, AGENT_HOME: freshHome(bisectFolder(paths.state), paths), AGENT_PLUGINS__DISABLED: JSON.stringify(disabled) };
}

async function guardianOf(p: PluginContext): Promise<ProcessGuardian | undefined> {
  try {
    await p.activate('onProcess');
    return p.use(processGuardian);
  } catch {
    return undefined; // Somebody turned it off: then what a killed search was running goes on.
  }
}

function wordsOf({ arguments: { command: given = [] } }: Invocation): string[] {
  return [given].flat().map(String);
}

/** What has to be the same for earlier runs to count. */
function identity(plugins: BisectState['plugins'], disabled: readonly string[]): string {
  return JSON.stringify([plugins.map(({ tier, path, version }) => [path, tier, version].join('\0')).sort(), [...disabled].sort()]);
}

/** Seconds. @throws OperationalError */
function timeoutOf(given: string | boolean | undefined): number | undefined {
  if (given === undefined) return undefined;
  const seconds = Number(given);
  if (given === '' || !(seconds > 0 && seconds <= longestTimeout)) throw refused(`--timeout takes seconds, up to ${longestTimeout}, not "${String(given)}"`);
  return seconds;
}

interface Stop {
  readonly signal: AbortSignal;
  /** 128 and the number of the signal, as shells count. */
  code(): number;
  dispose(): void;
}

/** The first signal ends the run that is under way, and keeps what the others found. */
function stopBySignal(outer: AbortSignal): Stop {
  const controller = new AbortController();
  let code = 130;
  const listeners = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) => {
    const listener = decidesOnSignal((): void => {
      if (!controller.signal.aborted) code = 128 + constants.signals[name];
      controller.abort();
    });
    process.on(name, listener);
    return [name, listener] as const;
  });
  return {
    signal: AbortSignal.any([outer, controller.signal]),
    code: () => code,
    dispose: () => {
      for (const [name, listener] of listeners) process.off(name, listener);
    },
  };
}
