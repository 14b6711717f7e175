/** Composition root of the `agent` command: puts configuration, trust, tiers and kernel together. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, loadConfig } from '../kernel/config/load.ts';
import { composeConfig, configKeys } from '../kernel/config/schema.ts';
import { type ConfigControl, configControl } from '../kernel/config/control.ts';
import { at } from '../kernel/config/tree.ts';
import { trustControl } from '../kernel/control.ts';
import { discoverFolder } from '../kernel/discover.ts';
import { isKernelError } from '../kernel/errors.ts';
import { describeError } from '../kernel/heal/fault.ts';
import { createKernel, type Kernel } from '../kernel/kernel.ts';
import { homePaths } from '../kernel/paths.ts';
import { openTrust } from '../kernel/trust/trust.ts';
import { globalTarget, type InstallTarget, projectTarget } from '../registry/install/tree.ts';
import { installedCandidates } from '../registry/installed.ts';
import { type Channel, type Item, wrap } from './public.ts';
import { builtinCandidates, configParts } from './builtins.ts';
import { findUntrusted, ignoredLines, projectOf } from './project.ts';
import { beginStart, showsNotices, type Start, withoutSafeMode } from './start.ts';

const version = (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version;
const schema = composeConfig(configParts);
type Values = ReturnType<typeof schema.parse>;

const channelId = 'cli';

/** Runs the command line and answers the exit code. */
export async function main(words: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const { argv, isSafe } = withoutSafeMode(words);
  let start: Start | undefined;
  let code = 1;
  try {
    code = await run(argv, isSafe, env, (begun) => (start = begun));
    return code;
  } finally {
    start?.ended(code);
  }
}

async function run(argv: readonly string[], isSafe: boolean, env: NodeJS.ProcessEnv, onStart: (start: Start) => void): Promise<number> {
  let kernel: Kernel | undefined;
  try {
    if (argv[0] === '__complete') return (await import('./complete.ts')).complete(argv[1], env);
    const paths = homePaths(env);
    const project = projectOf(argv);
    const trust = openTrust(join(paths.config, 'trust.json'));
    const emptyFolder = join(paths.cache, 'empty');
    const untrusted = await findUntrusted({ trust, project, argv, keys: () => configKeys(schema), emptyFolder }).catch((error: unknown) => unread(argv, error));
    const globalFile = join(paths.config, 'config.yaml');
    const projectFile = project && join(project, 'config.yaml');
    const sources = {
      schema,
      paths: { global: globalFile, ...(projectFile !== undefined && { project: projectFile }), empty: emptyFolder },
      projectTrusted: untrusted === undefined,
      env,
      reserved: ['AGENT_BASE_URL', 'AGENT_API_KEY', 'AGENT_ENDED_BY'],
    };
    const { config, broken } = await loadOrDefaults(argv, sources);
    const { disabled } = config.values.plugins;
    // What nobody trusts does not run: its imports, which take a while, need not be looked at.
    const found = [...builtinCandidates(version), ...(project ? discoverFolder('project', join(project, 'plugins'), untrusted ? undefined : project) : []), ...discoverFolder('global', join(paths.config, 'plugins')), ...(project !== undefined && untrusted === undefined ? installed(argv, projectTarget(paths, project), paths.cache) : []), ...installed(argv, globalTarget(paths), paths.cache)];
    const start = beginStart({ argv, isSafe, paths, globalFile, project, candidates: found, disabled, isTrusted: untrusted === undefined });
    onStart(start);
    if (!showsNotices(argv)) for (const line of start.lines) complain(line, '');
    kernel = createKernel({
      version,
      paths,
      candidates: start.candidates,
      disabled: disabled.filter((id) => id !== channelId),
      replaces: config.values.plugins.replaces,
      configOf: ({ id, tier }) => (tier === 'builtin' ? config.values : at(config.values.plugins.config, [id])),
      ...(untrusted !== undefined && { untrusted: 'this project is not trusted' }),
      trusted: () => project === undefined || ['trusted', 'nothing-to-trust'].includes(trust.status(project).status),
      notices: [
        ...(showsNotices(argv) ? start.lines : []),
        ...(untrusted === undefined ? [] : [untrusted.notice]),
        ...broken,
        ...(disabled.includes(channelId) ? [`plugins.disabled: ${channelId} cannot be turned off, it is how you talk to the agent`] : []),
        ...ignoredLines(config.ignored, untrusted),
      ],
      env,
      virtualModules: async () => ({ 'newt-agent': await import('./public.ts'), zod: await import('zod') }),
      contain: true,
      advice: `start again to go on without it; with what was said so far: agent ${argv[0] === 'chat' ? 'chat' : 'run'} --continue`,
    });
    kernel.provide(configControl.key, {
      config: config as unknown as Config,
      keys: () => configKeys(schema),
      globalFile,
      projectFile,
      // Editing needs the YAML library, which no other command should wait for.
      set: async (key: string, value: string, file: string) => (await import('../kernel/config/edit.ts')).setConfigValue(schema, file, key, value),
      unset: async (key: string, file: string) => (await import('../kernel/config/unset.ts')).unsetConfigValue(file, key),
      inspect: async () => (await import('../kernel/config/inspect.ts')).inspectConfig(sources),
      schema: async (plugins) => (await import('./editor-schema.ts')).editorSchema(schema, plugins),
      writeSchema: async (file, plugins) => (await import('./editor-schema.ts')).writeSchema(schema, file, plugins),
      init: async (file: string) => (await import('../kernel/config/edit.ts')).initConfig(schema, file, [(await import('./editor-schema.ts')).schemaLine]),
    } satisfies ConfigControl);
    kernel.provide(trustControl.key, { trust, folder: project });
    await kernel.start();
    const channel = kernel.items('channels').get(channelId) as Item<Channel> | undefined;
    if (!channel) throw new Error(`there is no channel "${channelId}": see plugins.replaces in ${globalFile}`);
    // What was done is done, whatever the taking down of a plugin comes to.
    return (process.exitCode = await channel.item.run({ argv }));
  } catch (error) {
    complain(describeError(error), isKernelError(error) ? error.hint : '');
    return isKernelError(error) ? 2 : 1;
  } finally {
    await kernel?.dispose();
  }
}

/** Commands that must work whatever the configuration says: those that explain or mend it, and those that need none. */
const withoutConfig: readonly (string | undefined)[] = [undefined, 'config', 'completion', 'doctor', 'trust', 'help', 'tour', '--help', '-h'];

/** The doctor tells what cannot be read, and needs none of it. */
const doctor = 'doctor';

function unread(argv: readonly string[], error: unknown): Awaited<ReturnType<typeof findUntrusted>> {
  if (argv[0] !== doctor) throw error;
  return { notice: describeError(error), declined: false };
}

function installed(argv: readonly string[], target: InstallTarget, cache: string): ReturnType<typeof installedCandidates> {
  try {
    return installedCandidates(target, cache);
  } catch (error) {
    if (argv[0] !== doctor) throw error;
    return [];
  }
}

async function loadOrDefaults(argv: readonly string[], sources: Parameters<typeof loadConfig<typeof schema>>[0]): Promise<{ config: Config<Values>; broken: string[] }> {
  try {
    return { config: await loadConfig(sources), broken: [] };
  } catch (error) {
    if (!isKernelError(error)) throw error;
    if (argv[0] === doctor || (argv[0] === 'config' && ['explain', 'unset'].includes(argv[1] ?? ''))) return { config: (await (await import('../kernel/config/inspect.ts')).inspectConfig(sources)).config, broken: [] };
    const { project } = sources.paths;
    // What nobody trusted cannot keep the agent from working in its folder.
    if (project !== undefined && !sources.projectTrusted && error.details['file'] === project) {
      const rest = await loadOrDefaults(argv, { ...sources, paths: { ...sources.paths, project: undefined } });
      return { ...rest, broken: [...rest.broken, `${error.message}: the whole file is left out`] };
    }
    if (!withoutConfig.includes(argv[0]) && !argv.includes('--help') && !argv.includes('-h')) throw error;
    complain(error.message, 'the defaults are used instead');
    const config = await loadConfig({ ...sources, paths: { ...sources.paths, global: join(sources.paths.empty, 'none'), project: undefined }, env: {} });
    return { config, broken: [] };
  }
}

/** For what goes wrong where there is no channel yet. */
function complain(problem: string, hint: string): void {
  const text = `agent: ${problem}${hint ? `\n  ${hint}` : ''}`;
  process.stderr.write(`${process.stderr.isTTY ? wrap(text, process.stderr.columns || 80, 2).join('\n') : text}\n`);
}
