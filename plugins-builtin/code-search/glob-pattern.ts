/** Glob patterns as models write them, matched against paths below one folder. */
import { OperationalError } from 'newt-agent';
import { expandBraces } from './braces.ts';
import { pathPattern } from './wildcards.ts';

export interface GlobPattern {
  /** @param name path of a file below the searched folder, with `/` */
  matches(name: string): boolean;
  /** False when no file below the folder `name` can match. */
  mayMatchBelow(name: string): boolean;
  /** The pattern, where it speaks of file names only and in terms that every glob dialect shares. */
  readonly plainName: string | undefined;
}

const sharedDialect = /^(?:[\w.*?-]|\{[\w.*?-]+(?:,[\w.*?-]+)+\})+$/;
const longest = 1_000;
const mostAlternatives = 250;

/**
 * Compiles a pattern that is relative to the searched folder; hidden files match like others. A leading `./` means
 * nothing, and an absolute pattern below `folder` is taken as relative to it.
 *
 * @param folder absolute path of the searched folder
 * @param anywhere a pattern without `/` matches names at any depth
 * @throws OperationalError for a pattern that leaves the folder, or is none of those understood here
 */
export function globPattern(pattern: string, folder: string, anywhere: boolean): GlobPattern {
  if (pattern.length > longest) throw new OperationalError(`The pattern is ${pattern.length} characters long, at most ${longest} are possible. Search with several shorter ones.`);
  const relative = relativePattern(pattern, folder);
  if (/(?:^|[^\\])[@?*+!]\(/.test(relative)) {
    throw new OperationalError(`The pattern ${pattern} has an extended pattern such as !(a|b) or @(a|b), which is not understood. Write {a,b} for alternatives, and \\( for a parenthesis.`);
  }
  const alternatives = expandBraces(relative, mostAlternatives)?.map((alternative) => pathPattern(alternative.replace(/\/{2,}/g, '/')));
  if (!alternatives) throw new OperationalError(`The braces of ${pattern} stand for more than ${mostAlternatives} patterns. Use wildcards, or several searches.`);
  const isBare = anywhere && !relative.includes('/');
  const bases = alternatives.map(({ base }) => base.join('/'));
  return {
    matches: (name) => {
      const names = isBare ? [name.slice(name.lastIndexOf('/') + 1)] : name.split('/');
      return alternatives.some((alternative) => alternative.matches(names));
    },
    mayMatchBelow: (name) => isBare || bases.some((base) => base === '' || isWithin(name, base) || isWithin(base, name)),
    plainName: isBare && sharedDialect.test(relative) ? relative : undefined,
  };
}

function relativePattern(pattern: string, folder: string): string {
  const isBelow = pattern.startsWith(`${folder}/`);
  const relative = (isBelow ? pattern.slice(folder.length + 1) : pattern).replace(/^(\.\/+)+/, () => '');
  if (relative.startsWith('/') || relative.split('/').includes('..')) {
    throw new OperationalError(`The pattern ${pattern} leaves the searched folder. Give the folder as path, and a pattern relative to it.`);
  }
  if (relative === '' || relative === '.') throw new OperationalError(`The pattern ${JSON.stringify(pattern)} matches no file. For all files use **.`);
  return relative;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
