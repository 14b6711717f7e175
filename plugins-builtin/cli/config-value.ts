/** Configuration values as they are shown: flat, short, and without secrets. */
import { homedir } from 'node:os';
import { sep } from 'node:path';
import type { ConfigControl } from 'newt-agent';

export type Origin = ReturnType<ConfigControl['config']['origin']>;

export interface ConfigEntry {
  readonly key: string;
  /** Undefined where the key is not set and has no default. */
  readonly value: unknown;
  readonly origin: Origin;
}

const mask = '********';
const secretName = /(^|[_-])(key|token|secret|password|passwd|authorization|cookie)$/i;

/** Every leaf of the configuration: the keys there are, and below them what a person named. */
export function configEntries({ config, keys }: ConfigControl): ConfigEntry[] {
  return keys().flatMap(({ key }) => leaves(key, config.get(key)).map((leaf) => ({ ...leaf, origin: config.origin(leaf.key) })));
}

function leaves(key: string, value: unknown): { key: string; value: unknown }[] {
  const inner = isTree(value) ? Object.entries(value) : [];
  return inner.length > 0 ? inner.flatMap(([name, below]) => leaves(`${key}.${name}`, below)) : [{ key, value }];
}

/** The value with every secret in it masked. */
export function masked(key: string, value: unknown): unknown {
  const path = key.split('.');
  if (typeof value === 'string') return value && (secretName.test(path.at(-1) ?? '') || path.includes('headers')) ? mask : withoutPassword(value);
  if (Array.isArray(value)) return value.map((item) => masked(key, item));
  return isTree(value) ? Object.fromEntries(Object.entries(value).map(([name, below]) => [name, masked(`${key}.${name}`, below)])) : value;
}

/** `http://user:password@host` */
function withoutPassword(text: string): string {
  return text.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/@:]*):[^/@]*@/i, `$1:${mask}@`);
}

/** Text as it is, everything else as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}

/** Where a value comes from: `~/.config/agent/config.yaml:3`, `$AGENT_MODEL`, `default`. */
export function originText({ layer, file, line, variable }: Origin): string {
  if (file !== undefined) return `${shortPath(file)}${line === undefined ? '' : `:${line}`}`;
  return variable === undefined ? (layer === 'flags' ? 'command line' : layer) : `$${variable}`;
}

export function shortPath(file: string): string {
  const home = homedir() + sep;
  return file.startsWith(home) ? `~${sep}${file.slice(home.length)}` : file;
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
