/**
 * Compares resourceVersions of one resource. Comparable ones are decimal numbers without a sign or leading zero (KEP-5504). All
 * others are opaque: only equality is defined.
 */
const comparable = /^[1-9][0-9]*$/;

/** Negative, 0 or positive; null when the two can only be compared for equality. */
export function compareResourceVersions(a: string, b: string): number | null {
  if (a === b) return 0;
  if (!comparable.test(a) || !comparable.test(b)) return null;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

/** The newer version if the order is known, otherwise the one received later. */
export function laterResourceVersion(current: string | null, next: string): string {
  if (current === null) return next;
  return (compareResourceVersions(next, current) ?? 0) < 0 ? current : next;
}
