/** Suggestions for a misspelt name. */

/**
 * The candidates that resemble `wanted`, best first, at most `limit`: those that contain it or are
 * contained in it, then those within a third of its length in edits.
 */
export function closest(wanted: string, candidates: Iterable<string>, limit = 3): string[] {
  const word = wanted.toLowerCase();
  const tolerance = Math.max(2, Math.floor(word.length / 3));
  return [...candidates]
    .map((candidate) => ({ candidate, distance: distanceTo(word, candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= tolerance)
    .sort((a, b) => a.distance - b.distance || a.candidate.length - b.candidate.length)
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

function distanceTo(word: string, candidate: string): number {
  const overlap = Math.min(word.length, candidate.length) >= 3 && (candidate.includes(word) || word.includes(candidate));
  return overlap ? 0 : editDistance(word, candidate);
}

/** Levenshtein distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
