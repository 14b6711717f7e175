/** The configuration: flags › environment › project file › global file › defaults. */
import { statSync } from 'node:fs';
import type { z } from 'zod';
import { invalidAt, type Origin } from './problem.ts';
import type { ConfigSources, Ignored } from './sources.ts';
import { at, merge, type Path, type Tree } from './tree.ts';
import { type Frozen, freezeJson } from '../json.ts';

/** What one layer says of a key. */
export type Explained = Origin & { readonly value: unknown };

export interface Config<Values = Tree> {
  readonly values: Frozen<Values>;
  /** The value at a dotted key. */
  get(key: string): unknown;
  /** Where the value at a dotted key comes from. */
  origin(key: string): Origin;
  /** Every layer that has the key, the winner first. */
  explain(key: string): Explained[];
  readonly ignored: readonly Ignored[];
  /** Names of the variables that a file read through `${…}`: what they hold may be secret. */
  readonly variables: readonly string[];
}

/**
 * Reads, checks and merges the layers. Maps merge, everything else is replaced.
 *
 * @throws KernelError `CONFIG_SYNTAX`, `CONFIG_INVALID` (the first problem, with the count of the others), `CONFIG_UNREADABLE`
 */
export async function loadConfig<Schema extends z.ZodObject>(sources: ConfigSources<Schema>): Promise<Config<z.output<Schema>>> {
  const { schema, paths, env, flags = {}, reserved = [], except = [] } = sources;
  const places = [{ layer: 'global', file: paths.global }, { layer: 'project', file: paths.project }] as const;
  const files = places.flatMap(({ layer, file }) => (file !== undefined && isWritten(file) && !except.some((one) => one.file === file && !one.path) ? [{ layer, file }] : []));
  const variables = Object.keys(env).filter((name) => name.startsWith('AGENT_') && name !== 'AGENT_HOME' && !reserved.includes(name));
  const isSilent = files.length + variables.length + Object.keys(flags).length === 0;
  const layers = isSilent ? [] : await (await import('./layers.ts')).readLayers(sources, files, variables);
  const merged = layers.reduceRight<Tree>((below, layer) => merge(below, layer.tree), {});
  const explain = (path: Path): Explained[] =>
    layers.flatMap((layer) => {
      const value = at(layer.tree, path);
      return value === undefined ? [] : [{ ...layer.origin(path), value }];
    });
  const result = schema.safeParse(merged);
  if (!result.success) throw invalidAt(result.error.issues, merged, (path) => explain(path)[0]);
  const values = freezeJson(result.data) as Frozen<z.output<Schema>>;
  return {
    values,
    get: (key) => at(values, key.split('.')),
    origin: (key) => {
      // Without the value, which may be a secret.
      const { value: _, ...origin } = explain(key.split('.'))[0] ?? { layer: 'default', value: undefined };
      return origin;
    },
    explain: (key) => explain(key.split('.')),
    ignored: layers.flatMap((layer) => layer.ignored),
    variables: [...new Set(layers.flatMap((layer) => layer.variables))],
  };
}

function isWritten(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
