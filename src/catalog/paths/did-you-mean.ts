/** The candidate that differs least from what was written, or null when none is close. Letter case counts as nothing. */
export function didYouMean(written: string, candidates: Iterable<string>): string | null {
  const target = written.toLowerCase();
  // A third of the letters may be wrong: more than that is a guess.
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

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other; anything from `bound` on is `bound`. */
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
