/** Ignore files as git reads them, inside and outside of a repository alike, and never from above the workspace. */
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ignore, { type Ignore } from 'ignore';

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

function rulesOf(root: string, matcher: Ignore | undefined): IgnoreRules {
  return {
    present: matcher !== undefined,
    ignores: (path, isDirectory) => matcher?.ignores(isDirectory ? `${path}/` : path) ?? false,
    async below(folder) {
      const text = await readIgnoreFile(join(root, folder, ignoreFileName));
      if (text === undefined) return rulesOf(root, matcher);
      const patterns = text.split(/\r?\n/).flatMap((line) => anchorPattern(line, folder) ?? []);
      const extended = ignore({ ignorecase: false });
      if (matcher) extended.add(matcher);
      return rulesOf(root, extended.add(patterns));
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

/**
 * Rewrites a pattern of `folder`'s ignore file so that it means the same in the workspace's. With all patterns in one
 * list, git's rule that the last match decides also holds between files of different folders.
 */
function anchorPattern(line: string, folder: string): string | undefined {
  const negation = line.startsWith('!') ? '!' : '';
  const pattern = line.slice(negation.length);
  const body = pattern.replace(/[/\s]+$/, () => '');
  if (line.startsWith('#') || body === '') return undefined;
  if (folder === '') return line;
  const relative = pattern.startsWith('/') ? pattern.slice(1) : pattern;
  return `${negation}/${escapeFolder(folder)}/${body.includes('/') ? '' : '**/'}${relative}`;
}

function escapeFolder(folder: string): string {
  return folder.replace(/[\\*?[\]]/g, (special) => `\\${special}`);
}
