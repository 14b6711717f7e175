/** What trust in a project's `.agent` folder covers, as far as it can be told without running any of it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { maskSecrets, oneLine, settingsBelow, settingText, type Setting, type Style, wrap } from 'newt-agent';
import { configReader } from '../kernel/config/file.ts';
import type { ConfigKey } from '../kernel/config/schema.ts';
import { discoverFolder } from '../kernel/discover.ts';
import { listFolder } from '../kernel/trust/digest.ts';
import { describeCapabilities } from './capabilities.ts';
import { count, factLines } from './layout.ts';
import { lockName, readLock } from './lock.ts';

export interface TrustedPlugin {
  readonly id: string;
  /** Undefined where no manifest states them before the code runs. */
  readonly capabilities: readonly string[] | undefined;
  readonly problem: string | undefined;
  /** The package it is installed from, where its lock file states it. */
  readonly package?: string;
}

export interface TrustContent {
  readonly files: number;
  readonly plugins: readonly TrustedPlugin[];
  /** What the project's configuration says and what counts only with trust; secrets are masked. */
  readonly settings: readonly Setting[];
  /** What of it a person should think about twice. */
  readonly warnings: readonly string[];
}

export const nothingCovered: TrustContent = { files: 0, plugins: [], settings: [], warnings: [] };

const maxValue = 200;

/**
 * @param folder real path of the `.agent` folder
 * @param emptyFolder where configuration is read from, see `configReader`
 * @throws KernelError for a configuration that cannot be read
 */
export function trustContent(folder: string, keys: readonly ConfigKey[], emptyFolder: string): TrustContent {
  const settings = settingsUnderTrust(join(folder, 'config.yaml'), keys, emptyFolder);
  return {
    files: listFolder(folder).length,
    plugins: [
      ...discoverFolder('project', join(folder, 'plugins'), folder).map(({ manifest, bare, problem }) => ({
        id: manifest.id,
        capabilities: bare ? undefined : manifest.capabilities,
        problem: problem?.reason,
      })),
      ...lockedPlugins(folder),
    ],
    settings: settings.map(({ key, value }) => ({ key, value: isReference(value) ? value : maskSecrets(key, value) })),
    warnings: settings.flatMap(warningsAbout),
  };
}

/** The content as indented lines: what to think about comes last, where the question is. */
export function contentLines({ files, plugins, settings, warnings }: TrustContent, style: Style, columns: number): string[] {
  const facts: [string, string][] = [['files', String(files)]];
  for (const [index, plugin] of plugins.entries()) facts.push([index === 0 ? count(plugins.length, 'plugin') : '', describePlugin(plugin)]);
  for (const [index, { key, value }] of settings.entries()) facts.push([index === 0 ? count(settings.length, 'setting') : '', `${oneLine(key)} = ${oneLine(settingText(value), maxValue)}`]);
  const lines = factLines(facts, { columns, nameStyle: style.dim });
  return [...lines, ...warnings.flatMap((warning) => wrap(`  ${style.yellow(`⚠ ${oneLine(warning)}`)}`, columns))];
}

/**
 * What the person is asked before anything of a project counts.
 * @param problem why it does not
 * @param place ` --cwd …`, where the person named the folder
 */
export function trustQuestion(problem: string, content: TrustContent, place: string, style: Style, columns: number): string {
  const outlook = `Plugins run as you. To see this again: agent trust status${place}`;
  return [...wrap(`${problem}. With trust this takes effect:`, columns, 2), ...contentLines(content, style, columns), ...wrap(outlook, columns, 2), 'Trust it?'].join('\n');
}

function describePlugin({ id, capabilities, problem, package: from }: TrustedPlugin): string {
  if (problem !== undefined) return `${oneLine(id)}, which cannot run: ${oneLine(problem)}`;
  if (capabilities === undefined) return `${oneLine(id)}: one file; it states what it needs in its code`;
  const asks = capabilities.length === 0 ? 'asks for nothing' : `asks for ${describeCapabilities(capabilities)}`;
  return `${oneLine(id)}: ${asks}${from === undefined ? '' : ` (${oneLine(from)})`}`;
}

/** The packages the project's lock file states. */
function lockedPlugins(folder: string): TrustedPlugin[] {
  return Object.entries(readLock(join(folder, lockName))).map(([id, entry]) =>
    entry.source === 'link' ? { id, capabilities: undefined, problem: 'a project cannot link a folder of this machine' } : { id, capabilities: entry.capabilities, problem: undefined, package: `${entry.name} ${entry.version}, ${count(Object.keys(entry.packages).length, 'package')}` },
  );
}

/** From the file itself, so that the list is the same before and after the grant. */
function settingsUnderTrust(file: string, keys: readonly ConfigKey[], emptyFolder: string): Setting[] {
  if (!existsSync(file)) return [];
  const written = Object.entries(configReader(emptyFolder)(file).tree).flatMap(([key, value]) => settingsBelow(key, value));
  return written.filter(({ key, value }) => {
    if (value === null) return false;
    const from = keys.find((one) => isWithin(key, one.key) || isWithin(one.key, key))?.from;
    // Any project may set a key of level `any`, but not to what a variable of the person holds.
    return from === 'trusted-project' || (from === 'any' && variablesIn(value).length > 0);
  });
}

function warningsAbout({ key, value }: Setting): string[] {
  const text = settingText(value);
  const shown = (Array.isArray(value) ? value : [value]).map(String).join(', ');
  const reads = variablesIn(value).map((name) => `${key} reads your variable ${name}`);
  if (key === 'permissions.mode' && text !== 'normal') return [`permissions.mode: ${text} lets tools write and run without asking`, ...reads];
  if (key === 'tools.paths' && text !== '[]') return [`tools.paths lets tools use ${shown}`, ...reads];
  if (key === 'plugins.disabled' && text !== '[]') return [`plugins.disabled turns off ${shown}`, ...reads];
  if (/^providers\..*\.base_url$/.test(key)) return [`${key}: what the model is told goes to ${settingText(maskSecrets(key, value))}`, ...reads];
  return reads;
}

function variablesIn(value: unknown): string[] {
  return [...settingText(value).matchAll(/(?<!\$)\$\{([A-Za-z_]\w*)/g)].map(([, name = '']) => name);
}

/** Whether a value is the name of a variable, which is no secret. */
function isReference(value: unknown): boolean {
  return typeof value === 'string' && /^\$\{\w+\}$/.test(value);
}

function isWithin(key: string, outer: string): boolean {
  return key === outer || key.startsWith(`${outer}.`);
}
