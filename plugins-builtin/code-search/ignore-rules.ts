/** Ignore files as git reads them, inside and outside of a repository alike, and never from above the workspace. */
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PathPattern, pathPattern } from './wildcards.ts';

/** What the ignore files between the workspace and one folder say. Paths are relative to the workspace, with `/`. */
export interface IgnoreRules {
  ignores(path: string, isDirectory: boolean): boolean;
  /** These rules and those of the ignore file in `folder`, if it has one. */
  below(folder: string): Promise<IgnoreRules>;
  /** True when an ignore file was found at all. */
  readonly present: boolean;
}

export const ignoreFileName = '.gitignore';
const maxBytes = 1_000_000;
/** Longer lines are no patterns that people write. */
const longestLine = 1_000;

/**
 * The rules of the ignore files from the workspace `root` down to `folder`. Where they ignore a folder on this way, it
 * was asked for by name, and only the rules from there on count.
 *
 * @param folder relative to `root`; the empty string is `root` itself
 */
export async function rulesFor(root: string, folder: string): Promise<IgnoreRules> {
  const none = rulesOf(root, undefined);
  let rules = await none.below('');
  let at = '';
  for (const name of folder.split('/').filter(Boolean)) {
    at = at ? `${at}/${name}` : name;
    rules = await (rules.ignores(at, true) ? none : rules).below(at);
  }
  return rules;
}

/** Tells of single files below `folder`, found by other means, whether the ignore files hide them. `rules` are those of the folder. */
export function ignoreFilter(rules: IgnoreRules, folder: string): (path: string) => Promise<boolean> {
  const known = new Map<string, Promise<IgnoreRules>>([[folder, Promise.resolve(rules)]]);
  const rulesIn = (at: string): Promise<IgnoreRules> => {
    const found = known.get(at) ?? rulesIn(parentOf(at)).then((above) => above.below(at));
    known.set(at, found);
    return found;
  };
  return async (path) => (await rulesIn(parentOf(path))).ignores(path, false);
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** One line of an ignore file. */
interface Rule {
  /** Where the file lies: empty, or with a `/` at its end. */
  readonly below: string;
  readonly pattern: PathPattern;
  readonly brings: boolean;
  readonly foldersOnly: boolean;
}

function rulesOf(root: string, rules: readonly Rule[] | undefined): IgnoreRules {
  const folders = new Map<string, boolean>();
  const isHidden = (path: string, isDirectory: boolean): boolean => {
    if (hidesFolder(parentOf(path))) return true;
    // The last match decides, also between files of different folders.
    const rule = rules?.findLast(({ below, pattern, foldersOnly }) => (isDirectory || !foldersOnly) && path.startsWith(below) && pattern.matches(path.slice(below.length).split('/')));
    return rule !== undefined && !rule.brings;
  };
  // Nothing in a hidden folder is brought back.
  const hidesFolder = (folder: string): boolean => {
    if (folder === '') return false;
    const known = folders.get(folder) ?? isHidden(folder, true);
    folders.set(folder, known);
    return known;
  };
  return {
    present: rules !== undefined,
    ignores: isHidden,
    async below(folder) {
      const text = await readIgnoreFile(join(root, folder, ignoreFileName));
      if (text === undefined) return rulesOf(root, rules);
      const place = folder === '' ? '' : `${folder}/`;
      return rulesOf(root, [...(rules ?? []), ...text.split(/\r?\n/).flatMap((line) => ruleOf(line, place) ?? [])]);
    },
  };
}

async function readIgnoreFile(path: string): Promise<string | undefined> {
  try {
    const stats = await lstat(path);
    // Like git, which follows no link here; a pipe of this name must not block the search.
    if (!stats.isFile() || stats.size > maxBytes) return undefined;
    const text = await readFile(path, 'utf8');
    return text.startsWith('\uFEFF') ? text.slice(1) : text;
  } catch {
    return undefined;
  }
}

function ruleOf(line: string, below: string): Rule | undefined {
  if (line.length > longestLine || line.startsWith('#')) return undefined;
  const brings = line.startsWith('!');
  const written = withoutTrailingSpaces(line.slice(brings ? 1 : 0));
  const foldersOnly = written.endsWith('/');
  const path = foldersOnly ? written.slice(0, -1) : written;
  const relative = path.startsWith('/') ? path.slice(1) : path;
  if (relative === '') return undefined;
  return { below, brings, foldersOnly, pattern: pathPattern(path.includes('/') ? relative : `**/${relative}`) };
}

function withoutTrailingSpaces(text: string): string {
  let end = text.length;
  while (text[end - 1] === ' ' && text[end - 2] !== '\\') end -= 1;
  return text.slice(0, end);
}
