/** "Did you mean …": the nearest of a set of names. */

/** Insertions, deletions, replacements and swaps of neighbours from `a` to `b` (Damerau–Levenshtein, optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let older: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1] ? (older[column - 2] ?? Infinity) + 1 : Infinity;
      current.push(Math.min((current[column - 1] ?? 0) + 1, (previous[column] ?? 0) + 1, replaced, swapped));
    }
    [older, previous] = [previous, current];
  }
  return previous[b.length] ?? 0;
}

/** The candidate nearest to `word`, at most a third of its letters (or one) away; the first of equals. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best = Math.max(1, Math.floor(word.length / 3)) + 1;
  let found: string | undefined;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= best) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < best) [best, found] = [distance, candidate];
  }
  return found;
}

/** `; did you mean "…"?`, or nothing: the end of a message. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const near = nearest(word, candidates);
  return near === undefined ? '' : `; did you mean "${near}"?`;
}
