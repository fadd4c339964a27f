import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTime, timeOfEpoch } from './time.ts';

describe('parseTime', () => {
  test.each<[string, bigint]>([
    ['1970-01-01T00:00:00Z', 0n],
    ['1970-01-01T00:00:00.000001Z', 1n],
    ['1970-01-01T00:00:00.1Z', 100_000n],
    ['1970-01-01T00:00:00.123456789Z', 123_456n],
    ['1969-12-31T23:59:59.999999999Z', -1n],
    ['1970-01-01T01:30:00+01:30', 0n],
    ['1969-12-31T19:00:00-05:00', 0n],
    ['2024-02-29T00:00:00Z', 1_709_164_800_000_000n],
    ['0001-01-01T00:00:00Z', -62_135_596_800_000_000n],
    ['9999-12-31T23:59:59Z', 253_402_300_799_000_000n],
    ['1970-01-01t00:00:00z', 0n],
    ['1970-01-01T00:00:00,0000019Z', 1n],
    ['1970-01-05T04:39:00+99:99', 0n],
  ])('%s', (text, micros) => {
    expect(parseTime(text)).toBe(micros);
  });

  test.each([
    '',
    '2024-01-01',
    '2024-01-01T00:00:00',
    '2024-01-01 00:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-00-01T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2024-04-31T00:00:00Z',
    '2024-01-00T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T00:60:00Z',
    '2024-01-01T00:00:60Z',
    '2024-01-01T00:00:00.Z',
    '2024-01-01T00:00:00+0100',
    '2024-01-01T00:00:00Z ',
    '02024-01-01T00:00:00Z',
  ])('refuses %j', (text) => {
    expect(parseTime(text)).toBeNull();
  });

  test('agrees with Date on every instant', () => {
    const date = fc.date({
      min: new Date('0000-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(date, (when) => {
        expect(parseTime(when.toISOString())).toBe(BigInt(when.getTime()) * 1000n);
      }),
      { numRuns: 1000 },
    );
  });

  test('what is read by its places means the same as what is read by the pattern', () => {
    const below = (most: number) => fc.integer({ min: 0, max: most }).map((value) => String(value).padStart(2, '0'));
    const year = fc.integer({ min: 0, max: 9999 }).map((value) => String(value).padStart(4, '0'));
    const separators = fc.constantFrom('--T::', '--t::', '-/T::', '--T:.');
    fc.assert(
      fc.property(
        year,
        below(13),
        below(32),
        below(24),
        below(60),
        below(60),
        separators,
        (y, m, d, h, min, s, between) => {
          const [a, b, c, e, f] = between;
          const moment = `${y}${a}${m}${b}${d}${c}${h}${e}${min}${f}${s}`;
          expect(parseTime(`${moment}Z`)).toBe(parseTime(`${moment}+00:00`));
        },
      ),
      { numRuns: 2000 },
    );
  });
});

test.each<[unknown, string | null]>([
  [1_700_000_000_000, '2023-11-14T22:13:20Z'],
  [1_700_000_000, '2023-11-14T22:13:20Z'],
  [1_700_000_000.5, '2023-11-14T22:13:20.500Z'],
  ['1700000000123', '2023-11-14T22:13:20.123Z'],
  ['2023', null],
  ['now', null],
  [1e300, null],
  [true, null],
  [null, null],
])('the epoch time %j is %s', (value, time) => {
  expect(timeOfEpoch(value)).toBe(time);
});

/** A text of a field with `format: date-time`, and whether strfmt.IsDateTime of the API server 1.37 takes it. */
const taken: readonly (readonly [text: string, isTime: boolean])[] = [
  ['2026-03-01T10:00:00Z', true],
  ['2026-03-01t10:00:00z', true],
  ['2026-03-01T10:00:00z', true],
  ['2026-03-01t10:00:00Z', true],
  ['2026-03-01t10:00:00+01:00', true],
  ['2026-03-01T10:00:00-00:00', true],
  ['2026-03-01T10:00:00.5z', true],
  ['2026-03-01T10:00:00,5Z', true],
  ['2026-03-01T10:00:00.123456789123Z', true],
  ['2026-03-01T10:00:00x5Z', true],
  ['2026-03-01T10:00:0055Z', true],
  ['2026-03-01T10:00:00.Z', false],
  ['2026-03-01T10:00:00t5Z', false],
  ['2026-03-01T10:00:00+24:00', true],
  ['2026-03-01T10:00:00+99:99', true],
  ['2026-03-01T10:00:00-99:99', true],
  ['2026-03-01T10:00:00+0100', false],
  ['2026-03-01T10:00:00+01', false],
  ['2026-03-01T10:00:00', false],
  ['2026-03-01T10:00Z', false],
  ['2026-03-01', false],
  ['2026-03-01 10:00:00Z', false],
  ['2026-03-01T10:00:00ZT1', true],
  ['2026-03-01T10:00:00Zt', true],
  ['2026-03-01TT10:00:00Z', false],
  ['2026-03-01T24:00:00Z', false],
  ['2026-03-01T10:60:00Z', false],
  ['2026-03-01T10:00:60Z', false],
  ['2026-02-29T10:00:00Z', false],
  ['2024-02-29T10:00:00Z', true],
  ['2026-13-01T10:00:00Z', false],
  ['2026-00-01T10:00:00Z', false],
  ['2026-03-00T10:00:00Z', false],
  ['2026-3-01T10:00:00Z', false],
  ['02026-03-01T10:00:00Z', false],
  ['0000-02-29T10:00:00Z', true],
  ['9999-12-31T23:59:59Z', true],
  ['2026-03-01T10:00:00 Z', false],
  ['2026-03-01T10:00:00Z ', false],
  ['', false],
  ['T', false],
];

test.each(taken)('V3: %j is a time if the API server takes it', (text, isTime) => {
  expect(parseTime(text) !== null).toBe(isTime);
});
