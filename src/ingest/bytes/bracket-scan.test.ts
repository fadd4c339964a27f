import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainScan } from '../../../test/kit/plain-bracket-scan.ts';
import { load, type ScanState, scan } from './bracket-scan.ts';

const fresh = (): ScanState => ({ depth: 0, inString: false, escaped: false, second: -1 });

test('any bytes, from anywhere to anywhere, in any steps: as the plain twin', () => {
  const text = fc.array(fc.constantFrom('"', '"', '\\', '{', '}', '[', ']', 'a', ',', '😀', 'abcdefghijklmnop'), {
    maxLength: 120,
  });
  const states = fc.record({
    depth: fc.nat({ max: 5 }),
    inString: fc.boolean(),
    escaped: fc.boolean(),
    second: fc.constant(-1),
  });
  fc.assert(
    fc.property(text, fc.nat(), fc.nat(), fc.nat({ max: 4 }), states, (parts, a, b, stop, state) => {
      const bytes = Buffer.from(parts.join(''));
      const [from, cut] = [a % (bytes.length + 1), b % (bytes.length + 1)].sort((x, y) => x - y) as [number, number];
      for (const steps of [[bytes.length], [cut, bytes.length]]) {
        const [found, expected] = [{ ...state }, { ...state }];
        let place = from;
        for (const to of steps) {
          load(bytes);
          const end = scan(place, to, stop, found);
          expect(end).toBe(plainScan(bytes, place, to, stop, expected));
          expect(found).toEqual(expected);
          place = end === -1 ? to : end + 1;
        }
      }
    }),
    { numRuns: 2000 },
  );
});

test('what is loaded may be of any size', () => {
  for (const size of [0, 1, 65_000, 65_536, 300_000]) {
    const bytes = Buffer.from(`{"${'x'.repeat(size)}]":[]}`);
    load(bytes);
    expect(scan(0, bytes.length, 0, fresh())).toBe(bytes.length - 1);
  }
});
