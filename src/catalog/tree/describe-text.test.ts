import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeText } from './describe-text.ts';

describe('describeText', () => {
  test.each<[unknown, unknown[], string | undefined]>([
    ['Short.', [], 'Short.'],
    ['  Two\n  lines. ', [], 'Two lines.'],
    ['', [], undefined],
    [undefined, [], undefined],
    [5, [], undefined],
    ['Policy.', ['Always', 'Never', '', 3], 'Policy. One of: Always, Never'],
    [undefined, ['A', 'B'], 'One of: A, B'],
  ])('of %j with %j', (description, values, expected) => {
    expect(describeText(description, values)).toBe(expected);
  });

  test('cuts at a word', () => {
    const cut = describeText('word '.repeat(60));
    expect(cut?.endsWith('word…')).toBe(true);
    expect(describeText('x'.repeat(500))?.length).toBe(120);
  });

  test('never exceeds 120 characters nor leaves half a character', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 400 }),
        fc.array(fc.string({ maxLength: 60 }), { maxLength: 8 }),
        (prose, values) => {
          const made = describeText(prose, values) ?? '';
          expect(made.length).toBeLessThanOrEqual(120);
          if (prose.isWellFormed()) expect(made.replace(/\ufffd/g, '').isWellFormed()).toBe(true);
        },
      ),
    );
  });
});
