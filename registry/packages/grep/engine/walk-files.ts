/** The files of a folder in the order of their paths. Runs, as source text, in the search process. */
import type * as fs from 'node:fs';
import type createIgnore from 'ignore';
import type picomatch from 'picomatch';
import type { PlaceRequest, SkipReason } from './protocol.ts';

interface WalkTools {
  readonly fs: typeof fs;
  readonly ignore: typeof createIgnore;
  readonly picomatch: typeof picomatch;
  skip(reason: SkipReason, path: string): void;
}

/**
 * Yields paths relative to the root of the place, hidden files included. Left out: `.git`, symbolic links, what ignore
 * files name, and `node_modules` where no ignore file was found on the way to the folder. Refers to nothing outside of itself.
 */
export function* walkFiles({ root, path, isFile, include, exclude, extensions }: PlaceRequest, { fs, ignore, picomatch, skip }: WalkTools): Generator<string> {
  interface Rules {
    /** Folder of the ignore file: empty, or with a `/` at its end. */
    readonly below: string;
    readonly matcher: ReturnType<typeof createIgnore>;
  }
  /** Far deeper than people nest folders; a bound for trees made to hurt. */
  const maxDepth = 200;
  const maxIgnoreBytes = 1_000_000;

  const withRules = (rules: readonly Rules[], folder: string): readonly Rules[] => {
    const file = `${root}/${folder}${folder && '/'}.gitignore`;
    try {
      const stats = fs.lstatSync(file);
      // Like git, which follows no link here; a pipe of this name must not block the search.
      if (!stats.isFile() || stats.size > maxIgnoreBytes) return rules;
      const matcher = ignore({ ignorecase: false }).add(fs.readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
      return [...rules, { below: folder && `${folder}/`, matcher }];
    } catch {
      return rules;
    }
  };
  // The file nearest to the path decides.
  const isIgnored = (rules: readonly Rules[], at: string, isFolder: boolean): boolean => {
    for (const { below, matcher } of rules.toReversed()) {
      const { ignored, unignored } = matcher.test(`${at.slice(below.length)}${isFolder ? '/' : ''}`);
      if (ignored || unignored) return ignored;
    }
    return false;
  };
  const matcherOf = (globs: readonly string[]): ((name: string) => boolean) => {
    const tests = globs.map((glob) => picomatch(glob, { dot: true, basename: !glob.includes('/'), nonegate: true, maxLength: 1_000 }));
    return (name) => tests.some((test) => test(name));
  };
  const isIncluded = include.length > 0 ? matcherOf(include) : () => true;
  const isExcluded = matcherOf(exclude);
  const isOfKind = (name: string): boolean => extensions.length === 0 || (name.includes('.') && extensions.includes(name.slice(name.lastIndexOf('.') + 1).toLowerCase()));

  function* walkFolder(folder: string, name: string, depth: number, inherited: readonly Rules[]): Generator<string> {
    let entries: fs.Dirent[];
    try {
      entries = fs.readdirSync(`${root}/${folder}`, { withFileTypes: true });
    } catch {
      return skip('unreadable', folder || '.');
    }
    const rules = depth > 0 && entries.some((entry) => entry.name === '.gitignore') ? withRules(inherited, folder) : inherited;
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const at = folder ? `${folder}/${entry.name}` : entry.name;
      const below = name ? `${name}/${entry.name}` : entry.name;
      const isFolder = entry.isDirectory();
      if (entry.name === '.git' || !(isFolder || entry.isFile()) || isExcluded(below) || isIgnored(rules, at, isFolder)) continue;
      if (!isFolder) {
        if (isOfKind(entry.name) && isIncluded(below)) yield at;
      } else if (entry.name === 'node_modules' && outer.length === 0) skip('node_modules', at);
      else if (depth >= maxDepth) skip('too deep', at);
      else yield* walkFolder(at, below, depth + 1, rules);
    }
  }

  let outer = withRules([], '');
  if (isFile) return yield path;
  let at = '';
  for (const part of path.split('/').filter(Boolean)) {
    at = at ? `${at}/${part}` : part;
    // An ignored folder that was asked for by name: only what it says itself counts.
    outer = withRules(isIgnored(outer, at, true) ? [] : outer, at);
  }
  yield* walkFolder(path, '', 0, outer);
}
