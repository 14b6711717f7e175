/** Chaos: calls every part of a plugin with what may come, in a world that does not work, and says what does not hold. */
import { relative } from 'node:path';
import { stackPlaces } from '../../kernel/heal/provenance.ts';
import { stackOf } from '../../kernel/heal/fault.ts';
import { describeError, type Fault, faultLine, isOperational, type Json, KernelError, oneLine } from '../public.ts';
import { packageFolder, packageVersion } from './package.ts';
import { bounded } from './bounded.ts';
import { type ChaosProblem, type ChaosReport, reportOf } from './chaos-report.ts';
import { type ChaosStage, openStage, type StageOptions, temporaryRoot } from './chaos-stage.ts';
import type { GivenPlugin } from './given-plugin.ts';
import { measureLeaks } from './leaks.ts';
import { type Callable, callablesOf, type Probe } from './probes.ts';
import { watchProcess } from './process-watch.ts';
import { seededRandom } from './random-input.ts';
import { badWeather, type Weather, weatherWords } from './weather.ts';

export interface ChaosOptions {
  /** The plugin's part of the configuration. */
  readonly config?: Json;
  /** Of the random inputs: the same seed, the same inputs. Default 1. */
  readonly seed?: number;
  /** Random inputs for each tool; default 24. */
  readonly runs?: number;
  /** Inputs for tools whose schema no random input fits, by the tool's name. */
  readonly inputs?: Readonly<Record<string, readonly unknown[]>>;
  /** Rounds of setup and end; default 50. */
  readonly rounds?: number;
  /** Milliseconds a call may take; default 300. */
  readonly deadline?: number;
  /** Milliseconds for everything, after which nothing new is begun; default 5,000. */
  readonly limit?: number;
  /** Parts that are not to be called, such as `commands/serve` or `tools/deploy`. */
  readonly skip?: readonly string[];
}

/** Kinds of faults that are problems whatever the plugin was asked. */
const never: ReadonlySet<Fault['kind']> = new Set(['timeout', 'hang', 'exit', 'stray', 'flood']);
const tiring: ReadonlySet<Fault['kind']> = new Set(['timeout', 'hang']);
const cancelAfter = 40;
/** Fits of the usual kind, which are enough to see how the world's failures are taken. */
const inBadWeather = 4;
const callsToGrow = 5;
/** Share of the time that is for the calls; the rest is for setup and end. */
const callShare = 0.7;

/**
 * Tries how a plugin holds. An operational failure (`call.fail`, an `OperationalError`) is fine; an exception is a
 * problem, and so is a call that does not end, an answer of the wrong type, and whatever is left behind.
 *
 * The plugin's code runs in this process: what it does past `p` (its own `fs`, its own `fetch`) is real. Endless loops
 * are stopped, but for those behind an `await`.
 */
export async function chaos(plugin: GivenPlugin, options: ChaosOptions = {}): Promise<ChaosReport> {
  const started = performance.now();
  const { root, remove } = temporaryRoot();
  const watch = watchProcess();
  try {
    return await new Chaos(plugin, options, root, watch, started).run();
  } finally {
    watch.dispose();
    remove();
  }
}

class Chaos {
  readonly #plugin: GivenPlugin;
  readonly #options: Required<Omit<ChaosOptions, 'config'>>;
  readonly #stageOptions: StageOptions;
  readonly #watch: ReturnType<typeof watchProcess>;
  readonly #started: number;
  readonly #problems = new Map<string, ChaosProblem>();
  readonly #remarks = new Set<string>();
  #calls = 0;
  /** What a turn of `p.every` threw last. */
  #ofTurn: unknown;

  constructor(plugin: GivenPlugin, { config, seed = 1, runs = 24, inputs = {}, rounds = 50, deadline = 300, limit = 5_000, skip = [] }: ChaosOptions, root: string, watch: ReturnType<typeof watchProcess>, started: number) {
    this.#plugin = plugin;
    this.#options = { seed, runs, inputs, rounds, deadline, limit, skip };
    this.#stageOptions = { root, version: packageVersion, config, deadline };
    this.#watch = watch;
    this.#started = started;
  }

  async run(): Promise<ChaosReport> {
    const stage = await openStage(this.#plugin, this.#stageOptions);
    const { id } = stage.info();
    let names: string[] = [];
    let rounds = 0;
    try {
      const usesWorld = stage.sky.uses > 0;
      if (await this.#cameUp(stage)) {
        names = await this.#callAll(stage);
        if (usesWorld) await this.#setUpInBadWeather();
      }
    } finally {
      await stage.dispose();
    }
    if (names.length > 0 || this.#problems.size === 0) rounds = await this.#leaks();
    // A timer that was set late still has to be heard of.
    await new Promise((resolve) => setTimeout(resolve, 30));
    this.#takeStrays('after it was taken down');
    return reportOf({ plugin: id, problems: [...this.#problems.values()], remarks: [...this.#remarks], callables: names, calls: this.#calls, rounds, ms: performance.now() - this.#started });
  }

  async #cameUp(stage: ChaosStage): Promise<boolean> {
    await settle();
    const { state, reason = '' } = stage.info();
    const faults = stage.takeFaults();
    for (const fault of faults) this.#blame(fault, 'as the agent starts', stage);
    this.#takeStrays('as the agent starts');
    if (state === 'resolved') await stage.kernel.fire(`hook:${stage.kernel.hooks()[0]?.name ?? ''}`);
    if (state === 'activated' || state === 'degraded') return true;
    if (faults.length === 0) this.#problem({ where: 'start', what: `it is ${state}: ${reason}`, when: 'as the agent starts', told: '' });
    return false;
  }

  async #callAll(stage: ChaosStage): Promise<string[]> {
    const { seed, runs, inputs, skip } = this.#options;
    const { callables, remarks } = callablesOf(stage, { random: seededRandom(seed), runs, inputs });
    for (const remark of remarks) this.#remarks.add(remark);
    const tried: string[] = [];
    for (const callable of [...callables, ...turnsOf(stage, (error) => (this.#ofTurn = error))]) {
      if (skip.includes(callable.name)) {
        this.#remarks.add(`${callable.name} was skipped`);
        continue;
      }
      if (this.#isOver(callShare)) {
        this.#remarks.add(`${callable.name} was not tried: the ${this.#options.limit} ms were over. More: chaos(plugin, { limit: … })`);
        continue;
      }
      tried.push(callable.name);
      await this.#callOne(stage, callable);
    }
    return tried;
  }

  async #callOne(stage: ChaosStage, callable: Callable): Promise<void> {
    const { sky } = stage;
    sky.weather = 'calm';
    sky.uses = 0;
    const usual = callable.probes.filter(({ fits }) => fits);
    const grown = stage.info().contributes.length;
    for (const probe of usual.slice(0, 1)) {
      for (let at = 0; at < callsToGrow; at += 1) if (!(await this.#call(stage, callable, probe, 'calm'))) return;
      const more = stage.info().contributes.length - grown;
      if (more >= callsToGrow - 1) this.#problem({ where: callable.name, what: `registers more with every call: ${more} after ${callsToGrow} calls`, when: 'register in setup, or dispose what a call registers', told: '' });
    }
    const isLively = await this.#callUntilTired(stage, callable, callable.probes, 'calm');
    const remark = callable.remark?.();
    if (remark !== undefined) this.#remarks.add(remark);
    if (!isLively) return;
    const few = (usual.length > 0 ? usual : callable.probes).slice(0, inBadWeather);
    await this.#callUntilTired(stage, callable, few.slice(0, 1), 'calm', 'before');
    if (sky.uses > 0) for (const weather of badWeather) await this.#callUntilTired(stage, callable, few, weather, weather === 'hangs' ? 'soon' : 'never');
    sky.weather = 'calm';
  }

  /** False when one of them did not come back by itself: the next would only wait as long again. */
  async #callUntilTired(stage: ChaosStage, callable: Callable, probes: readonly Probe[], weather: Weather, cancel: Cancel = 'never'): Promise<boolean> {
    for (const probe of probes) {
      if (this.#isOver(callShare)) {
        this.#remarks.add(`${callable.name} was tried in part: the ${this.#options.limit} ms were over. More: chaos(plugin, { limit: … })`);
        return false;
      }
      if (!(await this.#call(stage, callable, probe, weather, cancel))) return false;
    }
    return true;
  }

  /** One call. False when it did not come back by itself. */
  async #call(stage: ChaosStage, { name }: Callable, probe: Probe, weather: Weather, cancel: Cancel = 'never'): Promise<boolean> {
    const { deadline } = this.#options;
    const when = [probe.what, weatherWords[weather], cancel === 'before' ? 'with a call that was cancelled before' : ''].filter(Boolean).join(', ');
    const controller = new AbortController();
    if (cancel === 'before') controller.abort();
    const timer = cancel === 'soon' ? setTimeout(() => controller.abort(), cancelAfter) : undefined;
    stage.sky.weather = weather;
    this.#calls += 1;
    let isBack = true;
    try {
      // The kernel ends each member's wait; a call enters a few of them, one after the other.
      isBack = await within(4 * deadline + 500, async () => probe.call(controller.signal));
      if (!isBack) this.#problem({ where: name, what: 'does not come to an end', when, told: '' });
    } catch (error) {
      // Told as a fault, or news of the world, or a call that nobody waits for any more. What the probe itself cannot ask is no problem of the plugin's.
      if ((error as { code?: unknown } | undefined)?.code === 'HANG') this.#problem({ where: name, what: describeError(error), when, told: '' });
    } finally {
      clearTimeout(timer);
    }
    await settle();
    const faults = stage.takeFaults();
    for (const fault of faults) if (probe.fits || never.has(fault.kind)) this.#blame(fault, when, stage);
    this.#takeStrays(when);
    // Told once or not: what is off must be on again for the next call.
    const { state, id } = stage.info();
    if (faults.length > 0 || state !== 'activated') {
      await stage.kernel.release(id);
      stage.takeFaults();
    }
    return isBack && !faults.some(({ kind }) => tiring.has(kind));
  }

  /** A plugin must come up, or stay down in an orderly way, whatever the world does. */
  async #setUpInBadWeather(): Promise<void> {
    for (const weather of badWeather) {
      if (this.#isOver(callShare)) return;
      const stage = await openStage(this.#plugin, this.#stageOptions, weather);
      try {
        await settle();
        const when = `as the agent starts, ${weatherWords[weather]}`;
        for (const fault of stage.takeFaults()) {
          if (isOperational(stage.lastError())) this.#remarks.add(`it does not come up ${weatherWords[weather]}: it is off until the next try`);
          else this.#blame(fault, when, stage);
        }
        this.#takeStrays(when);
      } finally {
        await stage.dispose();
      }
    }
  }

  async #leaks(): Promise<number> {
    const { rounds: wanted, limit } = this.#options;
    const { rounds, perRound } = await measureLeaks(this.#plugin, this.#stageOptions, wanted, this.#started + limit);
    for (const [what, count] of perRound) {
      this.#problem({ where: 'setup', what: `leaves ${what} behind: ${Math.round(count * rounds)} after ${rounds} rounds of setup and end`, when: leakAdvice(what), told: '' });
    }
    if (rounds < wanted) this.#remarks.add(`it was set up and taken down ${rounds} times of ${wanted}: the ${limit} ms were over`);
    return rounds;
  }

  #blame(fault: Fault, when: string, stage: ChaosStage): void {
    if (/^the service \S+ is not provided$/.test(fault.message)) {
      this.#remarks.add(`${fault.where} was not tried: ${fault.message} in chaos`);
      return;
    }
    const place = fault.place ? `${fault.place.file}:${fault.place.line}` : placeOf(stage.lastError(), fault.message);
    const what = place === undefined ? fault.message : `${fault.message} (${place})`;
    const advice = fault.kind === 'timeout' ? (when.includes(weatherWords.hangs) ? ': hand call.signal on to p.exec and p.fetch' : ` (chaos waits ${this.#options.deadline} ms: chaos(plugin, { deadline: … }) for more)`) : '';
    this.#problem({ where: fault.where, what: what + advice, when, told: faultLine(fault) });
  }

  #takeStrays(when: string): void {
    for (const error of this.#watch.take()) {
      if (isOperational(error) && error === this.#ofTurn) {
        this.#remarks.add(`p.every lets a failure of the world through (${describeError(error)}): there it counts as a fault`);
        continue;
      }
      const isExit = (error as { code?: unknown } | undefined)?.code === 'EXIT';
      const place = placeOf(error, '');
      const what = `${isExit ? '' : 'nobody catches '}${describeError(error)}${place === undefined ? '' : ` (${place})`}`;
      // An exit that its guard told of is told once.
      if (isExit && [...this.#problems.values()].some((problem) => problem.what.startsWith(describeError(error)))) continue;
      this.#problem({ where: isExit ? 'process' : 'stray error', what, when, told: '' });
    }
  }

  /** The same thing in the same place is told once. */
  #problem(problem: ChaosProblem): void {
    const shape = `${problem.where} ${problem.what.replace(/"(?:[^"\\]|\\.)*"|'[^']*'|\d+(?!:|\))/g, '')}`;
    if (!this.#problems.has(shape)) this.#problems.set(shape, { ...problem, what: oneLine(problem.what), when: oneLine(problem.when) });
  }

  #isOver(share: number): boolean {
    return performance.now() - this.#started > this.#options.limit * share;
  }
}

type Cancel = 'never' | 'before' | 'soon';

/** The turns of `p.every`, whose failures are faults whatever they are. */
function turnsOf(stage: ChaosStage, heard: (error: unknown) => void): Callable[] {
  return [...stage.turns].map((turn, at) => ({
    name: stage.turns.size > 1 ? `p.every (${at + 1})` : 'p.every',
    probes: [
      {
        what: 'as its time comes',
        fits: true,
        call: async () => {
          try {
            await bounded(turn);
          } catch (error) {
            heard(error);
            // The way a real turn fails.
            void Promise.reject(error as Error);
          }
        },
      },
    ],
  }));
}

function leakAdvice(what: string): string {
  if (what === 'timers') return 'use p.every, or give p.own a disposable that clears them';
  if (what === 'globals') return 'keep what is shared in a variable of the module';
  return 'give p.own a disposable that closes or removes them';
}

/** False when it took longer. */
async function within(ms: number, work: () => Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(resolve, ms, false)));
  try {
    return await Promise.race([work().then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Rejections that nobody handles are told of when the microtasks are through. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The author's line in the stack of what was thrown, relative to where they work. */
function placeOf(error: unknown, message: string): string | undefined {
  if (error === undefined || error instanceof KernelError) return undefined;
  if (message !== '' && !message.includes(oneLine(String((error as Error | undefined)?.message ?? '')).slice(0, 40))) return undefined;
  for (const { file, line } of stackPlaces(stackOf(error))) {
    const isOurs = file.startsWith(packageFolder) && /^.(?:dist|kernel|plugins-builtin|node_modules)\b/.test(file.slice(packageFolder.length)) && !file.endsWith('.test.ts');
    if (!isOurs && !/[\\/]node_modules[\\/]/.test(file)) return `${relative(process.cwd(), file)}:${line}`;
  }
  return undefined;
}
