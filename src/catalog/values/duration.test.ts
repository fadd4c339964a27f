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

  test.each([
    '',
    '-',
    '3',
    '.s',
    '1',
    's',
    '1d',
    '1h ',
    '1 h',
    '--1s',
    '1.2.3s',
    '9223372036854775808ns',
    '3000000h',
    '00',
    `${'0'.repeat(300)}s`,
  ])('refuses %j', (text) => {
    expect(parseDuration(text)).toBeNull();
  });

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
