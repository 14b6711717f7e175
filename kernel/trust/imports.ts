/** Which files a plugin file pulls in, found by scanning its source: no code runs, computed specifiers are not seen. */
import { readFileSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KernelError } from '../errors.ts';
import { isInside, realPath } from '../paths.ts';

export interface RelativeImport {
  readonly specifier: string;
  readonly line: number;
  /** The real path of the file meant, if there is one. */
  readonly resolved?: string;
}

const keyword = /\b(?:from|import|require)/g;
const quoted = /(["'\x60])([^"'\x60\n]+)\1/y;
const blank = /\s+/y;
const isPath = /^(?:\.{1,2}(?:\/.*)?|\/.+|[A-Za-z]:[\\/].+|file:.+)$/;
const packageName = /^(#.+|(?:@[^/]+\/)?[A-Za-z0-9_][^/:]*)(?:\/.*)?$/;
const scanned = /\.[cm]?[jt]sx?$/;
/** In the order in which jiti tries them. */
const extensions = ['.js', '.mjs', '.cjs', '.ts', '.tsx', '.mts', '.cts', '.jsx', '.json'];
const maxFiles = 2_000;
/** Of one file, in bytes. */
const maxSource = 4_000_000;
/** Of all files that are looked at together. */
const maxImports = 50_000;
/** What plugins get from the running host. */
const hostModules: readonly string[] = ['newt-agent', 'zod'];

interface Found {
  readonly paths: readonly RelativeImport[];
  /** Each with the folder that would answer. */
  readonly packages: readonly { readonly specifier: string; readonly line: number; readonly folder: string | undefined }[];
}

/** What was found in the files that are looked at together: each is read once, whoever imports it. */
export class ImportScan {
  readonly #found = new Map<string, Found>();
  #imports = 0;

  /** @throws KernelError `ARGUMENT` for a file, or files, too large to be looked at */
  of(file: string): Found {
    const known = this.#found.get(file);
    if (known) return known;
    const paths: RelativeImport[] = [];
    const packages: Found['packages'][number][] = [];
    for (const { specifier, line } of scanned.test(file) ? importsIn(readSource(file)) : []) {
      if (++this.#imports > maxImports) throw new KernelError('ARGUMENT', { what: `${file}: there are more than ${maxImports} imports here and in the files beside it`, hint: 'remove what does not belong there' });
      const name = packageName.exec(specifier)?.[1];
      if (isPath.test(specifier)) paths.push({ specifier, line, resolved: resolveFile(targetOf(specifier, file)) });
      // `#name` is answered by the package.json that governs the file.
      else if (name !== undefined && !isBuiltin(name)) packages.push({ specifier: name, line, folder: upwards(file, name.startsWith('#') ? 'package.json' : join('node_modules', name)) });
    }
    const found = { paths, packages };
    this.#found.set(file, found);
    return found;
  }
}

/** The imports of `file` that are not package names: `./x`, `../x`, absolute paths and `file:` URLs. */
export function relativeImports(file: string): readonly RelativeImport[] {
  return new ImportScan().of(file).paths;
}

function readSource(file: string): string {
  const { size } = statSync(file);
  if (size > maxSource) throw new KernelError('ARGUMENT', { what: `${file} is larger than ${maxSource / 1e6} MB: nobody can tell what it imports`, hint: 'make it smaller' });
  return readFileSync(file, 'utf8');
}

/** Every literal a source imports, in order. Whatever the source, the time is in proportion to its length. */
function* importsIn(source: string): Generator<{ readonly specifier: string; readonly line: number }> {
  const skip = gaps(source);
  let line = 1;
  let counted = 0;
  for (const { 0: word, index } of source.matchAll(keyword)) {
    let at = skip(index + word.length);
    if (word !== 'from' && source[at] === '(') at = skip(at + 1);
    quoted.lastIndex = at;
    const specifier = quoted.exec(source)?.[2];
    if (specifier === undefined) continue;
    for (; counted < index; counted++) if (source[counted] === '\n') line += 1;
    yield { specifier, line };
  }
}

/** Answers where a run of blanks and comments ends. What was found is remembered: of runs within each other, each part is read once. */
function gaps(source: string): (from: number) => number {
  const ends = new Map<number, number>();
  const seen = { '*/': [0, -1], '\n': [0, -1] } as Record<string, [from: number, at: number]>;
  const after = (mark: string, from: number): number => {
    const [since, at] = seen[mark] ?? [0, -1];
    if (from >= since && from <= at) return at + mark.length;
    const found = source.indexOf(mark, from);
    seen[mark] = [from, found < 0 ? Infinity : found];
    return after(mark, from);
  };
  const step = (at: number): number => {
    blank.lastIndex = at;
    if (blank.test(source)) return blank.lastIndex;
    const end = source.startsWith('/*', at) ? after('*/', at + 2) : source.startsWith('//', at) ? after('\n', at + 2) : at;
    return end === Infinity ? at : end;
  };
  return (from) => {
    const passed: number[] = [];
    let at = from;
    for (let end; (end = ends.get(at) ?? step(at)) !== at; at = end) passed.push(at);
    for (const one of passed) ends.set(one, at);
    return at;
  };
}

/** The first `name` that lies in a folder above `file`, links followed. */
function upwards(file: string, name: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const found = realPath(join(folder, name));
    if (found !== undefined || folder === dirname(folder)) return found;
  }
}

/**
 * `entry` and, transitively, what it imports by relative path, as real paths; sorted but for the entry.
 *
 * @throws KernelError `ARGUMENT` above 2,000 files, and for what is too large to be looked at.
 */
export function importClosure(entry: string, scan = new ImportScan()): string[] {
  const seen = new Set([realPath(entry) ?? entry]);
  for (const file of seen) {
    for (const { resolved } of scan.of(file).paths) if (resolved !== undefined) seen.add(resolved);
    if (seen.size > maxFiles) throw new KernelError('ARGUMENT', { what: `${entry} imports more than ${maxFiles} files`, hint: 'bundle the plugin, or make it a package' });
  }
  const [first = entry, ...rest] = seen;
  return [first, ...rest.sort()];
}

/**
 * The first import in the closure of `entry` that leads out of `root`, links followed; the entry itself
 * may be one. A package counts by the folder that would answer: a repository's own `node_modules` is
 * code that nobody looked at when they trusted `root`.
 */
export function escapes(entry: string, root: string, scan = new ImportScan()): { readonly file: string; readonly line: number; readonly specifier: string } | undefined {
  const inner = realPath(root) ?? root;
  const [first = entry, ...others] = importClosure(entry, scan);
  if (!isInside(inner, first)) return { file: entry, line: 1, specifier: first };
  for (const file of [first, ...others.filter((other) => isInside(inner, other))]) {
    const leaving = scan.of(file).paths.find(({ specifier, resolved }) => !isInside(inner, resolved ?? targetOf(specifier, file)));
    if (leaving) return { file, line: leaving.line, specifier: leaving.specifier };
    const outside = scan.of(file).packages.find(({ specifier, folder }) => !hostModules.includes(specifier) && folder !== undefined && !isInside(inner, folder));
    if (outside) return { file, line: outside.line, specifier: outside.specifier };
  }
  return undefined;
}

function targetOf(specifier: string, file: string): string {
  try {
    if (specifier.startsWith('file:')) return fileURLToPath(specifier);
  } catch {
    return specifier;
  }
  const bare = specifier.split('?', 1)[0] ?? '';
  return isAbsolute(bare) ? bare : resolve(dirname(file), bare);
}

function resolveFile(target: string): string | undefined {
  const stem = target.slice(0, -extname(target).length || undefined);
  // TypeScript lets `./x.js` mean `x.ts`.
  const written = /\.[cm]?jsx?$/.test(target) ? ['.ts', '.mts', '.cts', '.tsx'].map((extension) => stem + extension) : [];
  const candidates = [target, ...written, ...extensions.map((extension) => target + extension), ...extensions.map((extension) => join(target, `index${extension}`))];
  const found = candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile());
  return found === undefined ? undefined : realPath(found);
}
