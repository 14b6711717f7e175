/** What the files, the environment and the command line say, each as one layer of the configuration. */
import type { ConfigSources, Ignored } from './sources.ts';
import type { ConfigFile } from './file.ts';
import { noSuchKey, noTrust, type Origin, problemAt } from './problem.ts';
import { admits, configKeys, knownKeys, marksMembers, member, type Shape, shapeOf, type TrustLevel, unknownKeys } from './schema.ts';
import { at, isTree, merge, nest, type Path, type Tree, without } from './tree.ts';
import { nearest } from '../near.ts';

export interface Layer {
  readonly tree: Tree;
  /** Where the layer has the value at `path`, or would have it. */
  origin(path: Path): Origin;
  readonly ignored: readonly Ignored[];
  /** Read through `${…}`. */
  readonly variables: readonly string[];
}

type FileLayer = 'project' | 'global';

const prefix = 'AGENT_';
const levels: readonly TrustLevel[] = ['any', 'trusted-project', 'user'];
const variablePattern = /\$\$\{|\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** The layers, highest first, each checked for keys there are not. `files` come lowest first. */
export async function readLayers(sources: ConfigSources, files: readonly { layer: FileLayer; file: string }[], variables: readonly string[]): Promise<Layer[]> {
  const shape = shapeOf(sources.schema);
  const texts = [...variables.map((name) => sources.env[name] ?? ''), ...Object.values(sources.flags ?? {}).filter((value) => typeof value === 'string')];
  // The YAML parser costs more than all else at the start: plain words and numbers do without it.
  const yaml = files.length > 0 || !texts.every((text) => plainText.test(text)) ? await import('./file.ts') : undefined;
  const parse = yaml?.parseValue ?? parsePlain;
  const load = yaml?.configReader(sources.paths.empty);
  const written = load ? files.map(({ layer, file }) => fileLayer(load(file), layer, sources, shape, parse)).reverse() : [];
  const below = written.reduceRight<Tree>((tree, layer) => merge(tree, layer.tree), {});
  return [flagLayer(sources.flags ?? {}, shape, parse), environmentLayer(variables, sources, shape, below, parse), ...written];
}

type Parse = (text: string, shape: Shape) => unknown;

/** Text that means the same to everybody who reads YAML. */
const plainText = /^(?!(?:T(?:rue|RUE)|F(?:alse|ALSE)|N(?:ull|ULL))$)(?:|-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?|[A-Za-z/][A-Za-z0-9_./@-]*(?::[A-Za-z0-9_./@-]+)*)$/;

/** What `parseValue` of `file.ts` answers for {@link plainText}. */
function parsePlain(text: string, shape: Shape): unknown {
  const value = text === 'true' ? true : text === 'false' ? false : text === 'null' || text === '' ? null : /^-?\d/.test(text) ? Number(text) : text;
  return admits(shape, '') && (typeof value === 'string' || !admits(shape, value)) ? text : value;
}

function fileLayer(file: ConfigFile, layer: FileLayer, { env, projectTrusted, except = [] }: ConfigSources, root: Shape, parseValue: Parse): Layer {
  const reach: TrustLevel = layer === 'global' ? 'user' : projectTrusted ? 'trusted-project' : 'any';
  const ignored: Ignored[] = [];
  const variables: string[] = [];
  const origin = (path: Path): Origin => ({ layer, file: file.file, line: file.line(path) });
  const ignore = (path: Path, why: string): undefined => {
    ignored.push({ key: path.join('.'), file: file.file, line: file.line(path), value: at(file.tree, path), why });
  };
  const expand = (text: string, shape: Shape, path: Path): unknown => {
    const expanded = text.replace(variablePattern, (_, name?: string, preset?: string) => {
      if (name === undefined) return '${';
      variables.push(name);
      const value = env[name] || (preset ?? env[name]);
      if (value === undefined) throw new Unset(name, path);
      return value;
    });
    // `${ROUNDS}` stands for what its text would be in its place: a number, where that is wanted; but no list or map.
    const value = expanded !== text && (file.isPlain(path) || !admits(shape, '')) ? parseValue(expanded, shape) : expanded;
    return typeof value === 'object' ? expanded : value;
  };
  const take = (value: unknown, shape: Shape, from: TrustLevel, path: Path): unknown => {
    const isAllowed = levels.indexOf(from) <= levels.indexOf(reach);
    if (path.length > 0 && !isAllowed && !(isTree(value) && marksMembers(shape))) return ignore(path, from === 'user' ? 'only the person may set it, not a project' : noTrust);
    const inner = (key: string | number, item: unknown): unknown => {
      const found = member(shape, key) ?? {};
      const reachOf = found.from ?? from;
      if (typeof shape.additionalProperties !== 'object' || !isTree(item)) return take(item, found, reachOf, [...path, key]);
      // One of many by name (a provider, say): what it lacks keeps nobody from using the others.
      try {
        return take(item, found, reachOf, [...path, key]);
      } catch (error) {
        if (error instanceof Unset) return ignore([...path, key], `the variable ${error.variable} is not set`);
        throw error;
      }
    };
    if (isTree(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inner(key, item)] as const).filter(([, item]) => item !== undefined));
    if (reach === 'any' && /\$\{[A-Za-z_]/.test(JSON.stringify(value))) return ignore(path, '${…} is not expanded before the project is trusted');
    if (Array.isArray(value)) return value.map((item, index) => inner(index, item) ?? null);
    // `key:` with nothing after it is a key not set.
    if (value === null && !admits(shape, null)) return undefined;
    return typeof value === 'string' ? expand(value, shape, path) : value;
  };
  const tree = except.reduce((left, one) => (one.file === file.file && one.path ? without(left, one.path) : left), file.tree);
  refuseUnknown(root, tree, origin);
  try {
    return { tree: take(tree, root, 'user', []) as Tree, origin, ignored, variables };
  } catch (error) {
    if (!(error instanceof Unset)) throw error;
    throw problemAt(origin(error.path), error.path, `the variable ${error.variable} is not set`, { hint: `set it, or write \${${error.variable}:-default}` });
  }
}

/** A variable that a file reads and nobody set. */
class Unset extends Error {
  readonly variable: string;
  readonly path: Path;
  constructor(variable: string, path: Path) {
    super(`${variable} is not set`);
    this.variable = variable;
    this.path = path;
  }
}

function environmentLayer(variables: readonly string[], { schema, env }: ConfigSources, shape: Shape, below: Tree, parseValue: Parse): Layer {
  const ignored: Ignored[] = [];
  const set: { variable: string; path: Path }[] = [];
  let tree: Tree = {};
  for (const variable of variables.toSorted()) {
    const name = variable.slice(prefix.length);
    const text = env[variable];
    if (!text) continue;
    const found = keyOfVariable(name, shape, below);
    if (found) {
      set.push({ variable, path: found.path });
      tree = merge(tree, nest(found.path, parseValue(text, found.shape)));
      continue;
    }
    // Other programs have AGENT_ variables too: one is taken for a slip only if it looks like ours.
    const near = nearest(name, configKeys(schema).map(({ key }) => key.split('.').map(variableName).join('__')));
    const problem = `no such key${near === undefined ? '' : `; did you mean ${prefix}${near}?`}`;
    if (name.includes('__')) throw problemAt({ layer: 'environment', variable }, name.toLowerCase().split('__'), problem);
    if (near !== undefined) ignored.push({ key: variable, variable, value: text, why: problem });
  }
  const origin = (path: Path): Origin => {
    const setter = set.findLast((one) => one.path.every((key, index) => index >= path.length || key === path[index]));
    return { layer: 'environment', variable: setter?.variable };
  };
  refuseUnknown(shape, tree, origin);
  return { tree, origin, ignored, variables: [] };
}

function flagLayer(flags: Readonly<Record<string, unknown>>, shape: Shape, parseValue: Parse): Layer {
  const origin = (): Origin => ({ layer: 'flags' });
  let tree: Tree = {};
  for (const [key, value] of Object.entries(flags)) {
    if (value === undefined) continue;
    const path = key.split('.');
    const found = path.reduce<Shape>((inner, step) => member(inner, step) ?? {}, shape);
    tree = merge(tree, nest(path, typeof value === 'string' ? parseValue(value, found) : value));
  }
  refuseUnknown(shape, tree, origin);
  return { tree, origin, ignored: [], variables: [] };
}

function refuseUnknown(shape: Shape, tree: Tree, origin: (path: Path) => Origin): void {
  const [first, ...others] = unknownKeys(shape, tree);
  if (first) throw problemAt(origin(first.path), first.path, noSuchKey(first.near()), { others: others.length });
}

// Names that are not in the schema (of a provider, of a plugin) are found by what the layers below call them.
function keyOfVariable(name: string, root: Shape, below: Tree): { path: Path; shape: Shape } | undefined {
  let found: { path: string[]; shape: Shape } = { path: [], shape: root };
  for (const segment of name.split('__')) {
    const names = [...knownKeys(found.shape), ...Object.keys(at(below, found.path) ?? {})];
    const key = names.find((known) => variableName(known) === segment) ?? segment.toLowerCase();
    const shape = member(found.shape, key);
    if (segment === '' || !shape) return undefined;
    found = { path: [...found.path, key], shape };
  }
  return found;
}

function variableName(key: string): string {
  return key.toUpperCase().replace(/[^A-Z0-9]/g, '_');
}
