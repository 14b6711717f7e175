/** The configuration: flags › environment › project file › global file › defaults. */
import { statSync } from 'node:fs';
import type { z } from 'zod';
import type { Layer } from './config-layers.ts';
import { isTree, type Path, shapeOf, type Tree } from './config-schema.ts';
import { KernelError } from './errors.ts';
import { type Frozen, freezeJson } from './json.ts';

export interface ConfigSources<Schema extends z.ZodObject = z.ZodObject> {
  /** Made by `composeConfig`. */
  readonly schema: Schema;
  /** The two files, and a folder of ours that is empty; it is made where missing. */
  readonly paths: { readonly global: string; readonly project?: string; readonly empty: string };
  readonly projectTrusted: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** By dotted key; text is read as a value of that key. */
  readonly flags?: Readonly<Record<string, unknown>>;
  /** Variables that look like keys and are none, beside `AGENT_HOME`. */
  readonly reserved?: readonly string[];
}

export interface Origin {
  readonly layer: 'flags' | 'environment' | 'project' | 'global' | 'default';
  readonly file?: string;
  readonly line?: number;
  readonly variable?: string;
}

/** A key, or a variable, that was written down and does not count. */
export interface Ignored {
  readonly key: string;
  readonly file?: string;
  readonly line?: number;
  readonly why: string;
}

export interface Config<Values = Tree> {
  readonly values: Frozen<Values>;
  /** The value at a dotted key. */
  get(key: string): unknown;
  /** Where the value at a dotted key comes from. */
  origin(key: string): Origin;
  /** Every layer that has the key, the winner first. */
  explain(key: string): (Origin & { readonly value: unknown })[];
  readonly ignored: readonly Ignored[];
}

/**
 * Reads, checks and merges the layers. Maps merge, everything else is replaced.
 *
 * @throws KernelError `CONFIG_SYNTAX`, `CONFIG_INVALID` (the first problem, with the count of the others), `CONFIG_UNREADABLE`
 */
export async function loadConfig<Schema extends z.ZodObject>(sources: ConfigSources<Schema>): Promise<Config<z.output<Schema>>> {
  const shape = shapeOf(sources.schema);
  const files = [sources.paths.global, sources.paths.project].filter((file) => file !== undefined).filter(isWritten);
  const isSilent = files.length === 0 && !Object.keys(sources.env).some((name) => name.startsWith('AGENT_')) && !sources.flags;
  // The YAML parser costs more than the rest of the kernel: it is imported where there is something to parse.
  const layers = isSilent ? [] : (await import('./config-layers.ts')).readLayers(sources, shape, files);
  const merged = layers.reduceRight<Tree>((below, layer) => merge(below, layer.tree), {});
  const result = sources.schema.safeParse(merged);
  if (!result.success) throw invalid(result.error.issues, merged, layers);
  const values = freezeJson(result.data) as Frozen<z.output<Schema>>;
  const explain = (key: string): (Origin & { value: unknown })[] =>
    layers.flatMap((layer) => {
      const value = at(layer.tree, key.split('.'));
      return value === undefined ? [] : [{ ...layer.origin(key.split('.')), value }];
    });
  const origin = (key: string): Origin => {
    const path = key.split('.');
    return layers.find(({ tree }) => at(tree, path) !== undefined)?.origin(path) ?? { layer: 'default' };
  };
  return { values, get: (key) => at(values, key.split('.')), origin, explain, ignored: layers.flatMap((layer) => layer.ignored) };
}

/** `above` laid over `below`. Entries are defined, not assigned: no key can reach a prototype. */
export function merge(below: Tree, above: Tree): Tree {
  return Object.fromEntries([
    ...Object.entries(below),
    ...Object.entries(above).map(([key, value]) => {
      const under = at(below, [key]);
      return [key, isTree(value) && isTree(under) ? merge(under, value) : value];
    }),
  ]);
}

/** The value at `path`, of own members only. */
export function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, key) => (typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key) ? (inner as Tree)[key] : undefined), value);
}

/** A problem of the configuration, with the place to correct. */
export function problemAt(origin: Origin, path: Path, problem: string, others = 0): KernelError {
  const where = origin.file ? `${origin.file}:${origin.line}` : (origin.variable ?? (origin.layer === 'flags' ? 'command line' : 'defaults'));
  const more = others === 0 ? '' : ` (and ${others} more ${others === 1 ? 'problem' : 'problems'})`;
  return new KernelError('CONFIG_INVALID', { where, key: path.join('.'), problem: problem + more, hint: 'agent config list shows every key', file: origin.file, line: origin.line });
}

/** What an issue of zod says, and about which key: of a union, what the alternative says that fits furthest. */
export function readIssue(issue: z.core.$ZodIssue): { path: Path; expected: string } {
  const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)));
  const inner = issue.code === 'invalid_union' ? issue.errors.flat().map(readIssue) : [];
  const depth = Math.max(...inner.map((one) => one.path.length));
  const fitting = inner.filter((one) => one.path.length === depth);
  if (fitting[0]) return { path: [...path, ...fitting[0].path], expected: [...new Set(fitting.map((one) => one.expected))].join(' or ') };
  const text = issue.message.replace(/^Invalid (input|option): /, '').replace(/, received .*$/, '');
  return { path, expected: text.charAt(0).toLowerCase() + text.slice(1) };
}

function invalid(issues: readonly z.core.$ZodIssue[], merged: Tree, layers: readonly Layer[]): KernelError {
  const { path, expected } = issues[0] ? readIssue(issues[0]) : { path: [], expected: 'not valid' };
  // A missing key is nowhere: blame the nearest that is written down.
  const known = path.map((_, index) => path.slice(0, path.length - index)).map((written) => layers.find(({ tree }) => at(tree, written) !== undefined)?.origin(written));
  return problemAt(known.find((origin) => origin !== undefined) ?? { layer: 'default' }, path, `${expected}, found ${show(at(merged, path), path)}`, issues.length - 1);
}

function show(value: unknown, path: Path): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'keys and values';
  if (/key|token|secret|password/i.test(String(path.at(-1)))) return `a ${typeof value}`;
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function isWritten(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
