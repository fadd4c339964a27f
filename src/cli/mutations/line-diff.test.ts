import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineEdits } from './line-diff.ts';

/** The length of the longest common subsequence, by the table of the textbook. */
function longestCommon(a: readonly string[], b: readonly string[]): number {
  const rows = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      const [above, left, both] = [rows[i - 1]?.[j] ?? 0, rows[i]?.[j - 1] ?? 0, rows[i - 1]?.[j - 1] ?? 0];
      (rows[i] as number[])[j] = a[i - 1] === b[j - 1] ? both + 1 : Math.max(above, left);
    }
  }
  return rows[a.length]?.[b.length] ?? 0;
}

const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 14 });

test('the edits lead from one list to the other, and keep as many lines as can be kept', () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const edits = lineEdits(before, after);
      expect(edits.filter(({ kind }) => kind !== 'added').map(({ line }) => line)).toEqual(before);
      expect(edits.filter(({ kind }) => kind !== 'removed').map(({ line }) => line)).toEqual(after);
      expect(edits.filter(({ kind }) => kind === 'kept')).toHaveLength(longestCommon(before, after));
    }),
    { numRuns: 500 },
  );
});

test('lists that differ too much are all removed and all added, but for what both begin and end with', () => {
  const of = (name: string) => ['first', ...Array.from({ length: 2000 }, (_, index) => `${name} ${index}`), 'last'];
  const edits = lineEdits(of('before'), of('after'));
  expect(edits.filter(({ kind }) => kind === 'kept').map(({ line }) => line)).toEqual(['first', 'last']);
  expect(edits).toHaveLength(4002);
});
