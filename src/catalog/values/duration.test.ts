import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDuration } from './duration.ts';

describe('parseDuration', () => {
  test.each<[string, bigint]>([
    ['0', 0n],
    ['+0', 0n],
    ['0s', 0n],
    ['1h30m', 5_400_000_000_000n],
    ['-1.5s', -1_500_000_000n],
    ['+5s', 5_000_000_000n],
    ['.5s', 500_000_000n],
    ['5.s', 5_000_000_000n],
    ['250ms', 250_000_000n],
    ['3us', 3_000n],
    ['3µs', 3_000n],
    ['3μs', 3_000n],
    ['1.9ns', 1n],
    ['100ns1h', 3_600_000_000_100n],
    ['9223372036854775807ns', 2n ** 63n - 1n],
    ['-9223372036854775808ns', -(2n ** 63n)],
  ])('%s', (text, nanoseconds) => {
    expect(parseDuration(text)).toBe(nanoseconds);
  });

  test.each(['', '-', '3', '.s', '1', 's', '1. d', '9223372036854775808ns', '00', `${'0'.repeat(300)}s`])(
    'refuses %j',
    (text) => {
      expect(parseDuration(text)).toBeNull();
    },
  );

  test('adds its parts', () => {
    const part = fc.tuple(
      fc.nat({ max: 9999 }),
      fc.constantFrom<[string, bigint]>(
        ['h', 3_600_000_000_000n],
        ['m', 60_000_000_000n],
        ['s', 1_000_000_000n],
        ['ms', 1_000_000n],
        ['ns', 1n],
      ),
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), fc.boolean(), (parts, negative) => {
        const text = parts.map(([n, [unit]]) => `${n}${unit}`).join('');
        const sum = parts.reduce((total, [n, [, size]]) => total + BigInt(n) * size, 0n);
        expect(parseDuration(negative ? `-${text}` : text)).toBe(negative ? -sum : sum);
      }),
    );
  });
});

/** A text of a field with `format: duration`, and what strfmt.ParseDuration of the API server 1.37 makes of it. */
const taken: readonly (readonly [text: string, nanoseconds: bigint | null])[] = [
  ['1d', 86_400_000_000_000n],
  ['3 days', 259_200_000_000_000n],
  ['1 week', 604_800_000_000_000n],
  ['1h 30m', 5_400_000_000_000n],
  ['PT5M', 300_000_000_000n],
  ['P1DT2H', 7_200_000_000_000n],
  ['1 day 2 hours', 93_600_000_000_000n],
  ['2w', 1_209_600_000_000_000n],
  ['2wk', 1_209_600_000_000_000n],
  ['2 weeks', 1_209_600_000_000_000n],
  ['1.5 days', 432_000_000_000_000n],
  ['-3 days', 259_200_000_000_000n],
  ['-1h30m', -5_400_000_000_000n],
  ['+5s', 5_000_000_000n],
  ['5 min', 300_000_000_000n],
  ['5 minutes', 300_000_000_000n],
  ['5 mins', 300_000_000_000n],
  ['5 mi', null],
  ['1 month', null],
  ['1 y', null],
  ['1Y', null],
  ['90 sec', 90_000_000_000n],
  ['90 seconds', 90_000_000_000n],
  ['90 SECONDS', 90_000_000_000n],
  ['10S', 10_000_000_000n],
  ['10H', 36_000_000_000_000n],
  ['1D', 86_400_000_000_000n],
  ['100 ms', 100_000_000n],
  ['100 millis', 100_000_000n],
  ['100 milliseconds', 100_000_000n],
  ['7 us', 7_000n],
  ['7 µs', 7_000n],
  ['7 micros', 7_000n],
  ['7 nanos', 7n],
  ['7 nanoseconds', 7n],
  ['1hr', 3_600_000_000_000n],
  ['2 hrs', null],
  ['3 hours', 10_800_000_000_000n],
  ['1h,30m', 5_400_000_000_000n],
  ['1h and 30m', 5_400_000_000_000n],
  ['about 2 h', 7_200_000_000_000n],
  ['2h!', 7_200_000_000_000n],
  ['h2', null],
  ['2 2h', 7_200_000_000_000n],
  ['1d12h', 129_600_000_000_000n],
  ['1d 12h 5m 1s', 129_901_000_000_000n],
  ['0d', 0n],
  ['0', 0n],
  ['00', null],
  ['5', null],
  ['', null],
  ['d', null],
  ['1  \t d', 86_400_000_000_000n],
  ['1. d', null],
  ['1.5h', 5_400_000_000_000n],
  ['0.333333333333333333h', 1_199_999_999_999n],
  ['.5d', 432_000_000_000_000n],
  ['99999999999999999999d', null],
  ['9223372036854775807 weeks', -604_800_000_000_000n],
  ['2562047h47m16.854775807s', 9_223_372_036_854_775_807n],
  ['2562048h', -9_223_371_273_709_551_616n],
  ['1e3s', 3_000_000_000n],
];

test.each(taken)('V3: %j is as long as for the API server', (text, nanoseconds) => {
  expect(parseDuration(text)).toBe(nanoseconds);
});
