/** What trust in a project's `.agent` folder covers, as far as it can be told without running any of it. */
import { join } from 'node:path';
import { type ConfigControl, oneLine, type Style } from 'newt-agent';
import { describeCapabilities } from './capabilities.ts';
import { listFolder } from '../kernel/digest.ts';
import { discoverFolder } from '../kernel/discover.ts';
import { count, factLines } from './layout.ts';

export interface TrustedPlugin {
  readonly id: string;
  /** Undefined where no manifest states them before the code runs. */
  readonly capabilities: readonly string[] | undefined;
  readonly problem: string | undefined;
}

export interface TrustContent {
  readonly files: number;
  readonly plugins: readonly TrustedPlugin[];
  /** Keys of the project's configuration that count only with trust. */
  readonly settings: readonly string[];
}

/** @param folder real path of the `.agent` folder */
export function trustContent(folder: string, config: ConfigControl): TrustContent {
  return {
    files: listFolder(folder).length,
    plugins: discoverFolder('project', join(folder, 'plugins'), folder).map(({ manifest, bare, problem }) => ({
      id: manifest.id,
      capabilities: bare ? undefined : manifest.capabilities,
      problem: problem?.reason,
    })),
    settings: settingsUnderTrust(config),
  };
}

/** The content as indented lines. */
export function contentLines({ files, plugins, settings }: TrustContent, style: Style): string[] {
  const facts: [string, string][] = [['files', String(files)]];
  for (const [index, plugin] of plugins.entries()) facts.push([index === 0 ? count(plugins.length, 'plugin') : '', describePlugin(plugin)]);
  for (const [index, key] of settings.entries()) facts.push([index === 0 ? count(settings.length, 'setting') : '', oneLine(key)]);
  return factLines(facts, style.dim);
}

function describePlugin({ id, capabilities, problem }: TrustedPlugin): string {
  if (problem !== undefined) return `${oneLine(id)}, which cannot run: ${oneLine(problem)}`;
  if (capabilities === undefined) return `${oneLine(id)}, asks for what its code says`;
  return capabilities.length === 0 ? oneLine(id) : `${oneLine(id)}, asks for ${describeCapabilities(capabilities)}`;
}

/** Those in force because of trust, and those ignored for the want of it. */
function settingsUnderTrust({ config, keys, projectFile }: ConfigControl): string[] {
  const known = keys();
  const ignored = config.ignored.filter(({ key, file }) => {
    const from = known.find((one) => isWithin(key, one.key) || isWithin(one.key, key))?.from;
    return file === projectFile && from !== 'user';
  });
  const inForce = known.filter(({ key, from }) => from === 'trusted-project' && config.explain(key).some(({ file }) => file !== undefined && file === projectFile));
  return [...new Set([...ignored, ...inForce].map(({ key }) => key))].sort();
}

function isWithin(key: string, outer: string): boolean {
  return key === outer || key.startsWith(`${outer}.`);
}
