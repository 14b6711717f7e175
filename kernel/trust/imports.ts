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

// Each alternative starts with another character and ends in one way, so no source can make this backtrack at length.
const gap = String.raw`(?:\s|/\*(?:[^*]|\*(?!/))*\*/|//[^\n]*\n)*`;
const specifiers = new RegExp(String.raw`\b(?:from|(?:import|require)(?:${gap}\()?)${gap}(["'\x60])(\.{1,2}(?:/[^"'\x60\n]*)?|/[^"'\x60\n]+|[A-Za-z]:[\\/][^"'\x60\n]+|file:[^"'\x60\n]+)\1`, 'g');
const packages = new RegExp(String.raw`\b(?:from|(?:import|require)(?:${gap}\()?)${gap}(["'\x60])(#[^"'\x60\n]+|(?:@[^/"'\x60\n]+/)?[A-Za-z0-9_][^/"'\x60\n:]*)(?:/[^"'\x60\n]*)?\1`, 'g');
const scanned = /\.[cm]?[jt]sx?$/;
const extensions = ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx', '.json'];
const maxFiles = 2_000;
/** What plugins get from the running host. */
const hostModules: readonly string[] = ['newt-agent', 'zod'];

/** The imports of `file` that are not package names: `./x`, `../x`, absolute paths and `file:` URLs. */
export function relativeImports(file: string): RelativeImport[] {
  if (!scanned.test(file)) return [];
  const source = readFileSync(file, 'utf8');
  let line = 1;
  let counted = 0;
  return Array.from(source.matchAll(specifiers), (match) => {
    for (const end = match.index; counted < end; counted++) if (source[counted] === '\n') line += 1;
    const specifier = match[2] ?? '';
    return { specifier, line, resolved: resolveFile(targetOf(specifier, file)) };
  });
}

/** The packages `file` imports that are not of the host, each with the folder that would answer. */
function packageImports(file: string, host: readonly string[]): { readonly specifier: string; readonly line: number; readonly folder: string | undefined }[] {
  if (!scanned.test(file)) return [];
  const source = readFileSync(file, 'utf8');
  return Array.from(source.matchAll(packages), (match) => {
    const name = match[2] ?? '';
    const line = source.slice(0, match.index).split('\n').length;
    // `#name` is answered by the package.json that governs the file.
    return { specifier: name, line, folder: upwards(file, name.startsWith('#') ? 'package.json' : join('node_modules', name)) };
  }).filter(({ specifier }) => !host.includes(specifier) && !isBuiltin(specifier));
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
 * @throws KernelError `ARGUMENT` above 2,000 files.
 */
export function importClosure(entry: string): string[] {
  const seen = new Set([realPath(entry) ?? entry]);
  for (const file of seen) {
    for (const { resolved } of relativeImports(file)) if (resolved !== undefined) seen.add(resolved);
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
export function escapes(entry: string, root: string, host: readonly string[] = hostModules): { readonly file: string; readonly line: number; readonly specifier: string } | undefined {
  const inner = realPath(root) ?? root;
  const [first = entry, ...others] = importClosure(entry);
  if (!isInside(inner, first)) return { file: entry, line: 1, specifier: first };
  for (const file of [first, ...others.filter((other) => isInside(inner, other))]) {
    const leaving = relativeImports(file).find(({ specifier, resolved }) => !isInside(inner, resolved ?? targetOf(specifier, file)));
    if (leaving) return { file, line: leaving.line, specifier: leaving.specifier };
    const outside = packageImports(file, host).find(({ folder }) => folder !== undefined && !isInside(inner, folder));
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
