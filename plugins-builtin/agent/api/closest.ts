/** Names that were probably meant. */
import { nearest } from '../../../kernel/index.ts';

const shortest = 3;

/**
 * The candidates that contain `wanted` or are contained in it, in their order, at most `limit`: people and
 * models leave out an end of a name. Else the one that is nearest in spelling.
 */
export function closest(wanted: string, candidates: Iterable<string>, limit = 3): string[] {
  const all = [...candidates];
  const word = wanted.toLowerCase();
  const overlapping = all.filter((one) => {
    const candidate = one.toLowerCase();
    return Math.min(word.length, candidate.length) >= shortest && (candidate.includes(word) || word.includes(candidate));
  });
  if (overlapping.length > 0) return overlapping.slice(0, limit);
  const near = nearest(wanted, all);
  return near === undefined ? [] : [near];
}
