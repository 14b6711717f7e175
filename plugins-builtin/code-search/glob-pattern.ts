/** Glob patterns as models write them, matched against paths below one folder. */
import picomatch from 'picomatch';
import { OperationalError } from 'newt-agent';

export interface GlobPattern {
  /** @param name path of a file below the searched folder, with `/` */
  matches(name: string): boolean;
  /** False when no file below the folder `name` can match. */
  mayMatchBelow(name: string): boolean;
  /** The pattern, where it speaks of file names only and in terms that every glob dialect shares. */
  readonly plainName: string | undefined;
}

const sharedDialect = /^(?:[\w.*?-]|\{[\w.,*?-]+\})+$/;

/**
 * Compiles a pattern that is relative to the searched folder; hidden files match like others. A leading `./` means
 * nothing, and an absolute pattern below `folder` is taken as relative to it.
 *
 * @param folder absolute path of the searched folder
 * @param anywhere a pattern without `/` matches names at any depth
 * @throws OperationalError for a pattern that leaves the folder
 */
export function globPattern(pattern: string, folder: string, anywhere: boolean): GlobPattern {
  const relative = relativePattern(pattern, folder);
  const isBare = anywhere && !relative.includes('/');
  const isMatch = picomatch(relative, { dot: true, nonegate: true, basename: isBare });
  const base = isBare ? '' : literalBase(relative);
  return {
    matches: (name) => isMatch(name),
    mayMatchBelow: (name) => base === '' || isWithin(name, base) || isWithin(base, name),
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

/** The folders a pattern begins with; empty where they are not plain names. */
function literalBase(pattern: string): string {
  const { base } = picomatch.scan(pattern, { nonegate: true });
  return /[\\*?[\](){}!@+|]/.test(base) ? '' : base.replace(/\/+$/, () => '');
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
