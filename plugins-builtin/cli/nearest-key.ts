/** The configuration key that was probably meant. */

const enough = 0.4;

/**
 * The key that shares the most pairs of letters with `wanted` (Dice coefficient, at least 0.4). Edit
 * distance would not find `react.max_rounds` for `rounds`: people leave out the front.
 */
export function nearestKey(wanted: string, keys: readonly string[]): string | undefined {
  const pairs = pairsOf(wanted);
  let best = enough;
  let nearest: string | undefined;
  for (const key of keys) {
    const last = key.slice(key.lastIndexOf('.') + 1);
    const score = Math.max(likeness(pairs, pairsOf(key)), likeness(pairs, pairsOf(last)));
    if (score > best || (score === best && nearest === undefined)) [best, nearest] = [score, key];
  }
  return nearest;
}

function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  return a.size + b.size === 0 ? 0 : (2 * [...a].filter((pair) => b.has(pair)).length) / (a.size + b.size);
}

function pairsOf(text: string): ReadonlySet<string> {
  const letters = `^${text.toLowerCase()}$`; // the ends count as letters
  return new Set(Array.from({ length: letters.length - 1 }, (_, index) => letters.slice(index, index + 2)));
}
