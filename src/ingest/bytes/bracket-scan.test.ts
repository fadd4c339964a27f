import fc from 'fast-check';
import { expect, test } from 'vitest';
import { load, type ScanState, scan } from './bracket-scan.ts';

const fresh = (): ScanState => ({ depth: 0, inString: false, escaped: false, second: -1 });

/** The same, byte by byte. Behind a backslash, quotes and backslashes are no marks; outside of strings, where none belongs, brackets are. */
function plain(bytes: Uint8Array, from: number, to: number, stop: number, state: ScanState): number {
  for (let at = from; at < to; at += 1) {
    const byte = String.fromCharCode(bytes[at] ?? 0);
    const { escaped } = state;
    state.escaped = byte === '\\' && !escaped;
    if (byte === '"' && !escaped) state.inString = !state.inString;
    else if (state.inString) continue;
    else if (byte === '{' || byte === '[') {
      state.depth += 1;
      if (state.depth === 2) state.second = at;
    } else if (byte === '}' || byte === ']') {
      state.depth -= 1;
      if (state.depth <= stop) return at;
    }
  }
  return -1;
}

test('any bytes, from anywhere to anywhere, in any steps: as byte by byte', () => {
  const text = fc.array(fc.constantFrom('"', '"', '\\', '{', '}', '[', ']', 'a', ',', '😀', 'abcdefghijklmnop'), {
    maxLength: 120,
  });
  fc.assert(
    fc.property(text, fc.nat(), fc.nat(), fc.nat({ max: 4 }), fc.nat({ max: 5 }), (parts, a, b, stop, depth) => {
      const bytes = Buffer.from(parts.join(''));
      const [from, cut] = [a % (bytes.length + 1), b % (bytes.length + 1)].sort((x, y) => x - y) as [number, number];
      for (const steps of [[bytes.length], [cut, bytes.length]]) {
        const [found, expected] = [fresh(), fresh()];
        [found.depth, expected.depth] = [depth, depth];
        let place = from;
        for (const to of steps) {
          load(bytes);
          const end = scan(place, to, stop, found);
          expect(end).toBe(plain(bytes, place, to, stop, expected));
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
