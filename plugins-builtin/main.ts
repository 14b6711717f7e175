/** Composition root of the `agent` command: puts configuration, trust, tiers and kernel together. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Config, loadConfig } from '../kernel/config/load.ts';
import { composeConfig, configKeys } from '../kernel/config/schema.ts';
import { configControl, trustControl } from '../kernel/control.ts';
import { discoverFolder } from '../kernel/discover.ts';
import { isKernelError } from '../kernel/errors.ts';
import { describeError } from '../kernel/fault.ts';
import { createKernel, type Kernel } from '../kernel/kernel.ts';
import { homePaths, projectFolder } from '../kernel/paths.ts';
import { openTrust, type Trust } from '../kernel/trust/trust.ts';
import { linkedCandidates } from '../registry/linked.ts';
import { lockFile } from '../registry/lock.ts';
import type { Channel, Item } from './public.ts';
import { builtinCandidates, configParts } from './builtins.ts';

const version = (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version;
const schema = composeConfig(configParts);
type Values = ReturnType<typeof schema.parse>;

const channelId = 'cli';

/** Runs the command line and answers the exit code. */
export async function main(argv: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const paths = homePaths(env);
  let kernel: Kernel | undefined;
  try {
    const project = projectOf(argv);
    const trust = openTrust(join(paths.config, 'trust.json'));
    const untrusted = await untrustedReason(trust, project, argv);
    const globalFile = join(paths.config, 'config.yaml');
    const projectFile = project && join(project, 'config.yaml');
    const config = await loadOrDefaults(argv, {
      schema,
      paths: { global: globalFile, ...(projectFile !== undefined && { project: projectFile }), empty: join(paths.cache, 'empty') },
      projectTrusted: untrusted === undefined,
      env,
      reserved: ['AGENT_BASE_URL', 'AGENT_API_KEY'],
    });
    const { disabled } = config.values.plugins;
    kernel = createKernel({
      version,
      paths,
      candidates: [...builtinCandidates(version), ...(project ? discoverFolder('project', join(project, 'plugins'), project) : []), ...discoverFolder('global', join(paths.config, 'plugins')), ...linkedCandidates(lockFile(paths))],
      disabled: disabled.filter((id) => id !== channelId),
      replaces: config.values.plugins.replaces,
      configOf: ({ id, tier }) => (tier === 'builtin' ? config.values : config.values.plugins.config[id]),
      ...(untrusted !== undefined && { untrusted: 'this project is not trusted' }),
      notices: [
        ...(untrusted === undefined ? [] : [untrusted]),
        ...(disabled.includes(channelId) ? [`plugins.disabled: ${channelId} cannot be turned off, it is how you talk to the agent`] : []),
        ...config.ignored.map(({ key, file, line, why }) => `${file ? `${file}${line ? `:${line}` : ''}: ` : ''}${key} is ignored: ${why}`),
      ],
      env,
      virtualModules: async () => ({ 'newt-agent': await import('./public.ts'), zod: await import('zod') }),
      contain: true,
    });
    kernel.provide(configControl.key, {
      config: config as unknown as Config,
      keys: () => configKeys(schema),
      globalFile,
      projectFile,
      // Editing needs the YAML library, which no other command should wait for.
      set: async (key: string, value: string, file: string) => (await import('../kernel/config/edit.ts')).setConfigValue(schema, file, key, value),
      init: async (file: string) => (await import('../kernel/config/edit.ts')).initConfig(schema, file),
    });
    kernel.provide(trustControl.key, { trust, folder: project });
    await kernel.start();
    const channel = kernel.items('channels').get(channelId) as Item<Channel> | undefined;
    if (!channel) throw new Error(`there is no channel "${channelId}": see plugins.replaces in ${globalFile}`);
    return await channel.item.run({ argv });
  } catch (error) {
    process.stderr.write(`agent: ${describeError(error)}${isKernelError(error) && error.hint ? `\n  ${error.hint}` : ''}\n`);
    return isKernelError(error) ? 2 : 1;
  } finally {
    await kernel?.dispose();
  }
}

/** Commands that must work whatever the configuration says: those that explain or mend it, and those that need none. */
const withoutConfig: readonly (string | undefined)[] = [undefined, 'config', 'help', 'tour', '--help', '-h'];

async function loadOrDefaults(argv: readonly string[], sources: Parameters<typeof loadConfig<typeof schema>>[0]): Promise<Config<Values>> {
  try {
    return await loadConfig(sources);
  } catch (error) {
    if (!isKernelError(error) || !(withoutConfig.includes(argv[0]) || argv.includes('--help') || argv.includes('-h'))) throw error;
    process.stderr.write(`agent: ${error.message}\n  the defaults are used instead\n`);
    return await loadConfig({ ...sources, paths: { ...sources.paths, global: join(sources.paths.empty, 'none'), project: undefined }, env: {} });
  }
}

/** The `.agent` folder of the workspace a command is about: `--cwd` counts before anything is loaded. */
function projectOf(argv: readonly string[]): string | undefined {
  const at = argv.findLastIndex((word) => word === '--cwd' || word.startsWith('--cwd='));
  const given = at < 0 ? undefined : argv[at]?.startsWith('--cwd=') ? argv[at]?.slice('--cwd='.length) : argv[at + 1];
  try {
    return projectFolder(resolve(given ?? '.'));
  } catch {
    return undefined; // the current folder is gone: a command that needs it says so
  }
}

/** Why the project's plugins and settings do not count, asking the person where that is possible. */
async function untrustedReason(trust: Trust, project: string | undefined, argv: readonly string[]): Promise<string | undefined> {
  if (project === undefined) return undefined;
  const { status, reason, digest } = trust.status(project);
  if (status === 'trusted' || status === 'nothing-to-trust') return undefined;
  const what = status === 'changed' ? `${project} has changed since it was trusted` : `${project} is not trusted${reason ? ` (${reason})` : ''}`;
  if (argv[0] === 'run' && reason === undefined) {
    const { confirmOnTerminal } = await import('./cli/confirm.ts');
    const yes = await confirmOnTerminal(`${what}. It can hold plugins, which run as you, and settings. Trust it?`);
    if (yes) {
      trust.grant(project, digest);
      return undefined;
    }
  }
  return `${what}: its plugins and settings are left out. Look at it, then run: agent trust grant`;
}

