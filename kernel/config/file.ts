/** One YAML file of the configuration, read with positions. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { cosmiconfigSync, type PublicExplorerSync } from 'cosmiconfig';
import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parse, parseDocument, visit, YAMLParseError } from 'yaml';
import { admits, type Shape } from './schema.ts';
import type { Path, Tree } from './tree.ts';
import { isKernelError, KernelError } from '../errors.ts';
import { holdLock } from '../lock-file.ts';
import { makeFolder } from '../paths.ts';

export interface ConfigFile {
  readonly file: string;
  readonly tree: Tree;
  readonly document: Document;
  /** The line of the key, or of the nearest that is written out. */
  line(path: Path): number;
  /** Whether the value is written without quotes. */
  isPlain(path: Path): boolean;
}

const maxBytes = 128_000;
const dialect = { schema: 'core', prettyErrors: false, logLevel: 'error' } as const;

/** A pipe would block for ever, and nobody means to write so much: a repository's is read before it is trusted. */
function checkFile(file: string): void {
  const stat = statSync(file);
  if (!stat.isFile() || stat.size > maxBytes) throw new Error(stat.isFile() ? `it is larger than ${maxBytes} bytes` : 'it is not a file');
}

/** What is in the file, for whoever changes it; nothing where there is none. @throws KernelError `CONFIG_UNREADABLE` */
export function readConfigText(file: string): string {
  if (!existsSync(file)) return '';
  try {
    checkFile(file);
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new KernelError('CONFIG_UNREADABLE', { file, problem: (error as Error).message }, { cause: error });
  }
}

function lockOf(file: string): () => void {
  try {
    return holdLock(`${file}.lock`, file, 5_000);
  } catch (error) {
    if (isKernelError(error)) throw error;
    throw new KernelError('UNWRITABLE', { path: file, problem: (error as Error).message }, { cause: error });
  }
}

/** Runs what reads and then writes the file, while no other process does. @throws KernelError `SECOND_WRITER` after 5 s */
export function changing<T>(file: string, change: () => T): T {
  const release = lockOf(file);
  try {
    return change();
  } finally {
    release();
  }
}

/**
 * Reads through cosmiconfig. Building its explorer looks for `.config/config.js` and the like in the
 * current folder and *runs* them, so it is built while that is a new folder, beside where `emptyFolder` says. Its `$import` would load
 * (and run) further files: the loaders hide the content from it.
 */
export function configReader(emptyFolder: string): (file: string) => ConfigFile {
  const load = (file: string, text: string): { opened: ConfigFile } => ({ opened: openConfigFile(file, text) });
  const loaders = Object.fromEntries(['.yaml', '.yml', '.json', '.js', '.ts', '.mjs', '.cjs', 'noExt'].map((extension) => [extension, load]));
  let explorer: PublicExplorerSync | undefined;
  return (file) => {
    explorer ??= inEmptyFolder(emptyFolder, () => cosmiconfigSync('agent', { searchPlaces: ['config.yaml'], loaders, cache: false, searchStrategy: 'none' }));
    try {
      checkFile(file);
      const read = explorer.load(file)?.config as { opened: ConfigFile } | undefined;
      return read?.opened ?? openConfigFile(file, '');
    } catch (error) {
      if (isKernelError(error)) throw error;
      throw new KernelError('CONFIG_UNREADABLE', { file, problem: (error as Error).message }, { cause: error });
    }
  };
}

/** @throws KernelError `CONFIG_SYNTAX`, `CONFIG_INVALID` */
export function openConfigFile(file: string, text: string): ConfigFile {
  const lines = new LineCounter();
  // The library compares every key with every other: what is there twice is found below.
  const document = parseDocument(text.replace(/^\uFEFF/, ''), { ...dialect, uniqueKeys: false, lineCounter: lines });
  const refuse = (offset: number, message: string): void => void document.errors.push(new YAMLParseError([offset, offset], 'UNEXPECTED_TOKEN', message));
  const pairs = new Map<unknown, Map<string, Pair<Node, Node | null>>>();
  visit(document, {
    Alias: (_, alias) => refuse(alias.range?.[0] ?? 0, 'aliases are not supported'),
    Map(_, map) {
      const known = new Map<string, Pair<Node, Node | null>>();
      for (const pair of map.items as Pair<Node, Node | null>[]) {
        if (!isScalar(pair.key)) continue;
        if (known.has(String(pair.key.value))) refuse(pair.key.range?.[0] ?? 0, `Map keys must be unique: ${String(pair.key.value).slice(0, 100)}`);
        known.set(String(pair.key.value), pair);
      }
      pairs.set(map, known);
    },
  });
  if (document.contents !== null && !isMap(document.contents)) refuse(0, 'expected keys with values');
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem) {
    const { line, col } = lines.linePos(problem.pos[0]);
    throw new KernelError('CONFIG_SYNTAX', { file, line, column: col, problem: problem.message });
  }
  /** The key at `path`, or of the nearest that is written out, and what it holds. */
  const find = (path: Path): [key: Node | null, value: Node | null] => {
    let found: [Node | null, Node | null] = [document.contents, document.contents];
    for (const step of path) {
      const [, value] = found;
      const pair = pairs.get(value)?.get(String(step));
      const item = isSeq<Node>(value) ? value.items[Number(step)] : undefined;
      if (!pair && !item) return found;
      found = pair ? [pair.key, pair.value] : [item ?? null, item ?? null];
    }
    return found;
  };
  const isPlain = (path: Path): boolean => {
    const [, node] = find(path);
    return isScalar(node) && node.type === 'PLAIN';
  };
  return { file, tree: (document.toJS() ?? {}) as Tree, document, line: (path) => lines.linePos(find(path)[0]?.range?.[0] ?? 0).line, isPlain };
}

/** A value given as text (a variable, a flag): YAML, but text stays text where the shape takes text. */
export function parseValue(text: string, shape: Shape): unknown {
  let value: unknown = text;
  try {
    value = parse(text, dialect);
  } catch {
    // Not YAML, so text.
  }
  return admits(shape, '') && (typeof value === 'string' || !admits(shape, value)) ? text : value;
}

function inEmptyFolder<T>(folder: string, build: () => T): T {
  let back: string;
  try {
    back = process.cwd();
    // Proves that there is a way back: the folder may be deleted, or closed to this user, while we stand in it.
    process.chdir(back);
  } catch (error) {
    throw new KernelError('ARGUMENT', { what: 'the current folder is gone or closed', hint: 'change to a folder that exists' }, { cause: error });
  }
  // A new one each time: in one that stays, somebody may leave a file, and that would be run.
  const fresh = freshFolder(folder);
  try {
    process.chdir(fresh);
    return build();
  } finally {
    process.chdir(back);
    discard(fresh);
  }
}

function freshFolder(prefix: string): string {
  try {
    makeFolder(dirname(prefix));
    return mkdtempSync(`${prefix}-`);
  } catch (error) {
    throw new KernelError('UNWRITABLE', { path: dirname(prefix), problem: (error as Error).message }, { cause: error });
  }
}

function discard(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // It is in the cache, and empty.
  }
}
