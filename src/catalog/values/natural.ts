/**
 * Natural order of texts: runs of digits count by their value, so web-2 stands before web-10. Everything else is ordered by code point.
 */

/** Longer runs of digits are ordered by code point like everything else. */
const longestRun = 999;

/** The text whose order by code point is the natural order of `text`. Texts that differ only in leading zeros have one key. */
export function naturalKey(text: string): string {
  return text.replace(/0*([0-9]+)/g, (run: string, digits: string) =>
    digits.length > longestRun ? run : `0${String(digits.length).padStart(3, '0')}${digits}`,
  );
}
