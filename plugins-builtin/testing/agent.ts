/** An agent in memory, for tests of plugins: the real kernel and built-in plugins, a scripted model, and time that stands still. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { at } from '../../kernel/config/tree.ts';
import { builtin } from '../../kernel/discover.ts';
import { createKernel } from '../../kernel/kernel.ts';
import { complete } from '../../kernel/manifest.ts';
import { homePaths } from '../../kernel/paths.ts';
import { builtinCandidates } from '../builtins.ts';
import { type Command, definePlugin, type Event, type Fault, type HookMap, type HookName, type Item, type Json, modelChooser, type PluginInfo, type PointName, type RunResult, type Sessions, sessions, trustControl } from '../public.ts';
import { type Clock, stoppedClock } from './clock.ts';
import { type Deed, type DeedOf, notedContext, type World } from './deeds.ts';
import { candidateOf, type GivenPlugin, withContext } from './given-plugin.ts';
import { packageVersion as version } from './package.ts';
import { type CommandOptions, type CommandResult, runCommand } from './run-command.ts';
import { type Reply, type Script, type SeenRequest, scriptedModels } from './scripted-model.ts';

export interface BootOptions extends Pick<World, 'exec' | 'fetch'> {
  readonly plugins: readonly GivenPlugin[];
  /** As it would stand in config.yaml; a plugin's part is `plugins: { config: { <id>: … } }`. */
  readonly config?: { readonly [key: string]: Json };
  /** What the model answers to {@link TestAgent.run}. */
  readonly model?: Script;
  /** Where time stands at the start, in milliseconds since the epoch; default the first moment of 2026. */
  readonly now?: number;
  /** Answers `p.random()`; default 0.5. */
  readonly random?: () => number;
  /** An existing folder to work in; default an empty one, which is removed with the agent. */
  readonly cwd?: string;
  /** Files of the workspace, by relative path. */
  readonly files?: Readonly<Record<string, string>>;
  /** Environment of the agent, beside PATH. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ToolOptions {
  /** Whether the gate lets the call through where it would ask; default true. */
  readonly allow?: boolean;
  readonly signal?: AbortSignal;
}

export interface ToolAnswer {
  readonly text: string;
  /** The tool could not do what it was asked: refused, failed, or given input that does not fit. */
  readonly isError: boolean;
  readonly data: Json | undefined;
}

export interface RunOptions extends ToolOptions {
  /** In place of the script given to {@link bootAgent}. */
  readonly model?: Script;
}

export interface TaskResult extends RunResult {
  /** The event log of the run. */
  readonly events: readonly Event[];
  /** What the model was asked, in order. */
  readonly requests: readonly SeenRequest[];
  /** What the tools answered, in call order. */
  readonly tools: readonly (ToolAnswer & { readonly name: string })[];
}

/** What a payload of a hook is, and what calling it answers. */
type PayloadOf<Name extends HookName> = HookMap[Name]['payload'];
type AnswerOf<Name extends HookName> = HookMap[Name]['kind'] extends 'waterfall' ? HookMap[Name]['payload'] : HookMap[Name]['kind'] extends 'gate' ? { readonly verdict: string; readonly reason?: string } : HookMap[Name]['result'] | undefined;

export interface TestAgent extends AsyncDisposable {
  /** Real path of the workspace. */
  readonly cwd: string;
  /** Real path of the folder that holds the agent's home. */
  readonly home: string;
  readonly clock: Clock;
  /** What the plugins did through `p` so far, in order. */
  readonly deeds: readonly Deed[];
  /** Those of one kind. */
  did<What extends Deed['what']>(what: What): DeedOf<What>[];
  /** Calls a tool as the loop does: input checked, hooks called, gate asked. A fault of the tool is an answer that says so, and in {@link faults}. */
  tool(name: string, input?: unknown, options?: ToolOptions): Promise<ToolAnswer>;
  /** Calls a hook, as the agent would. */
  hook<Name extends HookName>(name: Name, payload: PayloadOf<Name>, signal?: AbortSignal): Promise<AnswerOf<Name>>;
  /** Runs a command with the words behind it, as the terminal would: `command('notes add', ['milk', '--json'])`. */
  command(name: string, args?: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  /** Works on a task to its end, with the model's script. */
  run(task: string, options?: RunOptions): Promise<TaskResult>;
  /** The first request of a session: its system text, its tools, and how many bytes they are. */
  firstRequest(): Promise<SeenRequest>;
  /** The items of a contribution point, guarded, by name. */
  items<Name extends PointName>(point: Name): ReadonlyMap<string, Item<never>>;
  /** State, contributions and reason of a plugin. @throws Error when there is none of this id */
  plugin(id: string): PluginInfo;
  /** What went wrong in plugins so far, each failure once. */
  readonly faults: readonly Fault[];
  /** What a person is told at the start. */
  notices(): readonly string[];
  /** Lines of a plugin's log, also what its handlers wrote through `call.log`. */
  log(id: string): readonly string[];
}

/** The built-in plugins a task needs. The model is the kit's own. */
const parts = ['agent', 'files', 'code-search', 'permissions', 'shell'];
const defaultStart = Date.UTC(2026, 0, 1);

/**
 * Starts an agent with these plugins. Its home and its workspace are temporary, and go with it: `await using`.
 *
 * A plugin that does not come up is no error: see `plugin(id)` and `faults`.
 * @throws KernelError `ARGUMENT` for a path where no plugin lies
 */
export async function bootAgent({ plugins, config = {}, model = [], now = defaultStart, random = () => 0.5, cwd, files = {}, env = {}, exec, fetch }: BootOptions): Promise<TestAgent> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'newt-testing-')));
  const workspace = cwd === undefined ? join(root, 'workspace') : realpathSync(cwd);
  mkdirSync(workspace, { recursive: true });
  for (const [path, text] of Object.entries(files)) write(resolve(workspace, path), text);
  const clock = stoppedClock(now);
  const deeds: Deed[] = [];
  const models = scriptedModels();
  const world: World = { ...(exec && { exec }), ...(fetch && { fetch }), every: (ms, turn, failed) => clock.every(ms, turn, failed) };
  const kit = definePlugin({ id: 'test-kit' }, () => ({ providers: models.provider }));
  const given = orRemove(root, () => plugins.map((plugin) => candidateOf(plugin, root, (definition, capabilities) => withContext(definition, (p) => notedContext(p, capabilities, world, deeds)))));
  const kernel = createKernel({
    version,
    paths: homePaths({ AGENT_HOME: join(root, 'home') }),
    candidates: [
      ...builtinCandidates(version).filter(({ manifest }) => parts.includes(manifest.id)),
      builtin(complete(kit.static, 'test-kit'), async () => ({ default: kit })),
      ...given,
    ],
    configOf: ({ id, tier }) => (tier === 'builtin' ? config : at(config, ['plugins', 'config', id])),
    env: { PATH: process.env['PATH'], HOME: root, LANG: 'C.UTF-8', ...env },
    now: clock.now,
    random,
  });
  kernel.provide(modelChooser.key, models.chooser);
  kernel.provide(trustControl.key, { folder: undefined });
  const told = models.add(model);

  const run = async (task: string, { name, requests }: ReturnType<typeof models.add>, { allow = true, signal = new AbortController().signal }: ToolOptions): Promise<TaskResult> => {
    const events: Event[] = [];
    const before = requests.length;
    const session = await (kernel.use(sessions.key) as Sessions).open({
      cwd: workspace,
      model: name,
      // What lies outside of the workspace is asked about in this mode too.
      ...(allow && { mode: 'auto' as const }),
      ask: async () => allow,
      onEvent: (event) => events.push(event),
    });
    try {
      const result = await session.run(task, signal);
      return { ...result, events, requests: requests.slice(before), tools: events.flatMap(({ type, data }) => (type === 'tool.result' ? [{ name: data.name, text: data.text, isError: data.isError, data: data.data }] : [])) };
    } finally {
      await session.close();
    }
  };
  const dispose = async (): Promise<void> => {
    await kernel.dispose();
    rmSync(root, { recursive: true, force: true });
  };
  try {
    await kernel.start();
  } catch (error) {
    await dispose();
    throw error;
  }

  return {
    cwd: workspace,
    home: join(root, 'home'),
    clock: { now: clock.now, tick: (ms) => clock.tick(ms) },
    deeds,
    did: <What extends Deed['what']>(what: What) => deeds.filter((deed): deed is DeedOf<What> => deed.what === what),
    async tool(name, input = {}, options = {}) {
      const script: Reply[] = [{ calls: [{ name, input }] }, 'done'];
      const { tools, text } = await run(`call ${name}`, models.add(script), options);
      const [answer] = tools;
      if (!answer) throw new Error(`the call of ${name} came to no answer: ${text}`);
      return { text: answer.text, isError: answer.isError, data: answer.data };
    },
    hook: async (name, payload, signal) => (await kernel.call(name, structuredClone(payload), signal)) as never,
    async command(name, args = [], options) {
      await kernel.fire(`command:${name.split(' ', 1)[0]}`);
      await kernel.fire('commands');
      return runCommand(kernel.items('commands') as ReadonlyMap<string, Item<Command>>, [...name.split(' '), ...args], version, options);
    },
    run: (task, { model: own, ...options } = {}) => run(task, own === undefined ? told : models.add(own), options),
    async firstRequest() {
      const { requests, text } = await run('hello', models.add(['hello']), {});
      const [first] = requests;
      if (!first) throw new Error(`no request was made: ${text}`);
      return first;
    },
    items: (point) => kernel.items(point) as ReadonlyMap<string, Item<never>>,
    plugin(id) {
      const found = kernel.plugins().find((plugin) => plugin.id === id);
      if (!found) throw new Error(`there is no plugin ${id}: ${kernel.plugins().map((plugin) => plugin.id).join(', ')}`);
      return found;
    },
    get faults() {
      return kernel.faults();
    },
    notices: () => kernel.notices(),
    log: (id) => linesOf(join(kernel.paths.state, 'logs', `${id}.log`)),
    [Symbol.asyncDispose]: dispose,
  };
}

function orRemove<T>(root: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    rmSync(root, { recursive: true, force: true });
    throw error;
  }
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n');
  } catch {
    return []; // nothing was logged yet
  }
}
