/** How much of `total` each may have: all that it has where it fits, and the rest shared evenly by those that have more. */
export function fairShares(counts: readonly number[], total: number): readonly number[] {
  const shares = counts.map(() => 0);
  let left = total;
  const ascending = counts.map((count, index) => ({ count, index })).sort((a, b) => a.count - b.count);
  for (const [place, { count, index }] of ascending.entries()) {
    const share = Math.min(count, Math.floor(left / (ascending.length - place)));
    shares[index] = share;
    left -= share;
  }
  return shares;
}
