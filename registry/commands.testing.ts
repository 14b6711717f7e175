/** The commands on a real kernel, with real files, for tests. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as face from 'newt-agent';
import { type Command, type CommandIO, type ConfigControl, configControl, type Invocation, type Item, type Style, trustControl } from 'newt-agent';
import * as zod from 'zod';
import { setConfigValue } from '../kernel/config/edit.ts';
import { inspectConfig } from '../kernel/config/inspect.ts';
import { type Config, loadConfig } from '../kernel/config/load.ts';
import { composeConfig, configKeys } from '../kernel/config/schema.ts';
import { unsetConfigValue } from '../kernel/config/unset.ts';
import { builtin, discoverFolder } from '../kernel/discover.ts';
import { createKernel, type Kernel } from '../kernel/kernel.ts';
import { complete } from '../kernel/manifest.ts';
import { type HomePaths, homePaths } from '../kernel/paths.ts';
import { openTrust } from '../kernel/trust/trust.ts';
import { globalTarget, projectTarget } from './install/tree.ts';
import { installedCandidates } from './installed.ts';
import { lockFile } from './lock.ts';
import { manifest } from './manifest.ts';

export interface Place {
  /** Holds everything, and is removed as a whole. */
  readonly root: string;
  readonly paths: HomePaths;
  readonly lock: string;
  /** `.agent` of the project; made by writing into it. */
  readonly project: string;
  /** Writes a file below `root`, and answers its path. */
  write(path: string, text: string): string;
  /** A plugin folder with a manifest. */
  plugin(path: string, stated?: Readonly<Record<string, unknown>>, code?: string): string;
  remove(): void;
}

export interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly json: unknown;
  readonly questions: readonly string[];
}

export interface RunOptions {
  readonly arguments?: Invocation['arguments'];
  readonly options?: Invocation['options'];
  /** What the person says; undefined where nobody can be asked. */
  readonly confirm?: boolean | (() => Promise<boolean | undefined>);
  readonly interactive?: boolean;
  readonly columns?: number;
}

export interface Booted extends AsyncDisposable {
  readonly kernel: Kernel;
  run(command: string, options?: RunOptions): Promise<Answer>;
}

export function place(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'newt-registry-')));
  const paths = homePaths({ AGENT_HOME: join(root, 'home') });
  const write = (path: string, text: string): string => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  return {
    root,
    paths,
    lock: lockFile(paths),
    project: join(root, 'project', '.agent'),
    write,
    plugin(path, stated = {}, code = `import { definePlugin } from 'newt-agent';\nexport default definePlugin({}, () => ({ hooks: { 'turn.start': () => {} } }));\n`) {
      const manifestFile = write(`${path}/package.json`, JSON.stringify({ name: 'agent-plugin-x', version: '1.2.3', agent: stated }));
      write(`${path}/index.ts`, code);
      return dirname(manifestFile);
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Starts an agent in `place` that has only its words (hooks and points) and this plugin built in. */
export async function boot(at: Place, isProject = false): Promise<Booted> {
  const trust = openTrust(join(at.paths.config, 'trust.json'));
  const projectTrusted = isProject && trust.status(at.project).status === 'trusted';
  const config = await controlOf(at, isProject, projectTrusted);
  const kernel = createKernel({
    version: '0.1.0',
    paths: at.paths,
    candidates: [
      builtin(complete({ id: 'words', version: '0.1.0' }, 'words'), async () => ({ default: words })),
      builtin({ ...complete(manifest, 'registry'), version: '0.1.0' }, () => import('./index.ts')),
      ...(isProject ? discoverFolder('project', join(at.project, 'plugins'), at.project) : []),
      ...discoverFolder('global', join(at.paths.config, 'plugins')),
      ...(isProject && projectTrusted ? installedCandidates(projectTarget(at.paths, at.project), at.paths.cache) : []),
      ...installedCandidates(globalTarget(at.paths), at.paths.cache),
    ],
    disabled: config.config.get('plugins.disabled') as string[],
    ...(isProject && !projectTrusted && { untrusted: 'this project is not trusted' }),
    virtualModules: async () => ({ 'newt-agent': face, zod }),
  });
  kernel.provide(configControl.key, config);
  kernel.provide(trustControl.key, { trust, folder: isProject ? at.project : undefined });
  await kernel.start();
  await kernel.fire('commands');
  return {
    kernel,
    run: (command, options) => run(kernel, command, options),
    [Symbol.asyncDispose]: () => kernel.dispose(),
  };
}

const words = face.definePlugin({ id: 'words', defines: { hooks: face.agentHooks, points: [face.commandsPoint, face.toolsPoint, face.checksPoint] as never } }, () => ({}));

async function controlOf(at: Place, isProject: boolean, projectTrusted: boolean): Promise<ConfigControl> {
  const model = zod.z.object({ model: zod.z.string().optional().meta({ from: 'trusted-project' }), rounds: zod.z.number().optional().meta({ from: 'any' }) });
  const schema = composeConfig(model.shape);
  const globalFile = join(at.paths.config, 'config.yaml');
  const projectFile = isProject ? join(at.project, 'config.yaml') : undefined;
  const paths = { global: globalFile, empty: join(at.paths.cache, 'empty'), ...(projectFile !== undefined && { project: projectFile }) };
  const sources = { schema, paths, projectTrusted, env: {} };
  const config = (await loadConfig(sources)) as unknown as Config;
  return {
    config,
    keys: () => configKeys(schema),
    globalFile,
    projectFile,
    set: async (key, value, file) => setConfigValue(schema, file, key, value),
    unset: async (key, file) => unsetConfigValue(file, key),
    inspect: () => inspectConfig(sources),
    schema: async () => ({}),
    writeSchema: async (file) => file,
    init: async () => undefined,
  };
}

async function run(kernel: Kernel, name: string, given: RunOptions = {}): Promise<Answer> {
  const out: string[] = [];
  const err: string[] = [];
  const questions: string[] = [];
  let json: unknown;
  const same = (text: string): string => text;
  const style: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };
  const io: CommandIO = {
    interactive: given.interactive ?? false,
    columns: given.columns ?? 80,
    style,
    print: (text) => out.push(text),
    json: (value) => {
      json = JSON.parse(JSON.stringify(value));
    },
    say: (text) => err.push(text),
    async confirm(question) {
      questions.push(question);
      return typeof given.confirm === 'function' ? given.confirm() : given.confirm;
    },
    input: async () => undefined,
  };
  const found = kernel.items('commands').get(name) as Item<Command> | undefined;
  const act = async (): Promise<number> => {
    try {
      return (await found?.item.run?.({ arguments: given.arguments ?? {}, options: given.options ?? {} }, { io })) ?? Number.NaN;
    } catch (error) {
      // As the terminal channel tells it.
      if (!face.isOperational(error)) throw error;
      const { hint, kind } = error.details;
      err.push(`agent: ${error.message}`, ...(typeof hint === 'string' ? [`  ${hint}`] : []));
      return kind === 'configuration' ? 2 : 1;
    }
  };
  const code = await act();
  return { code, out: out.join('\n'), err: err.join('\n'), json, questions };
}
