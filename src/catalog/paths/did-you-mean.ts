/** The candidate closest to the text, or null when none is close. Letter case is ignored. */
export function didYouMean(written: string, candidates: Iterable<string>): string | null {
  const target = written.toLowerCase();
  // Up to a third of the letters may differ; beyond that a suggestion would be a guess.
  let best = Math.max(1, Math.floor(target.length / 3)) + 1;
  let found: string | null = null;
  for (const candidate of candidates) {
    const distance = editDistance(target, candidate.toLowerCase(), best);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

/** The edit distance: insertions, deletions, replacements and swaps of neighbours. At most `bound`. */
function editDistance(a: string, b: string, bound: number): number {
  if (Math.abs(a.length - b.length) >= bound) return bound;
  let twoBack: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min(
        (previous[j] ?? bound) + 1,
        (row[j - 1] ?? bound) + 1,
        (previous[j - 1] ?? bound) + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (twoBack[j - 2] ?? bound) + 1);
      row.push(least);
    }
    twoBack = previous;
    previous = row;
  }
  return Math.min(bound, previous[b.length] ?? bound);
}
