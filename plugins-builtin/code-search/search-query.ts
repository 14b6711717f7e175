/** What grep asks of either way to search. */
import { OperationalError } from 'newt-agent';
import type { GlobPattern } from './glob-pattern.ts';
import type { SearchPlace } from './search-place.ts';

export interface SearchQuery {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly place: SearchPlace;
  /** Which files of a folder; undefined for all. */
  readonly glob: GlobPattern | undefined;
  /** Stop after this many matching lines. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

export interface Match {
  /** Relative to the root of the place. */
  readonly path: string;
  readonly line: number;
  /** The line, or of a long one the part around the match. */
  readonly text: string;
}

/** Characters of a line that are shown. */
export const maxTextLength = 500;
export const maxFileBytes = 10_000_000;

/**
 * The pattern as JavaScript's regular expression; a leading `(?i)` is understood.
 *
 * @throws OperationalError when it is none
 */
export function compilePattern(pattern: string, ignoreCase: boolean): RegExp {
  const inline = pattern.startsWith('(?i)');
  const source = inline ? pattern.slice('(?i)'.length) : pattern;
  const flags = ignoreCase || inline ? 'i' : '';
  let reason = '';
  // Outside of Unicode mode more is legal, such as the needless escapes models write; inside, `.` is a whole character.
  for (const mode of [`${flags}u`, flags]) {
    try {
      return new RegExp(source, mode);
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
  }
  throw new OperationalError(`${pattern} is not a regular expression: ${reason}. Escape special characters with a backslash to search for them.`);
}
