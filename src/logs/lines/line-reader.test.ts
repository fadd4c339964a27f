/** Lines of pieces that end anywhere, against a plain split of all bytes. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { heapBytes } from '../../../test/kit/heap-bytes.ts';
import { LineReader, longestLine } from './line-reader.ts';

function linesOf(pieces: readonly Buffer[]): readonly (readonly [string, number])[] {
  const lines: [string, number][] = [];
  const reader = new LineReader((line, leftOut) => lines.push([line, leftOut]));
  for (const piece of pieces) reader.read(piece);
  reader.end();
  return lines;
}

/** The bytes in parts that end at these places. */
function cut(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
}

function piecesOf(bytes: Buffer, size: number): readonly Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

test('any bytes in any pieces are the lines of the whole', () => {
  const bytes = fc.array(fc.oneof(fc.constant('\n'), fc.constant('é😀'), fc.uint8Array({ maxLength: 5 }), fc.string()));
  fc.assert(
    fc.property(bytes, fc.array(fc.nat(500), { maxLength: 8 }), (parts, places) => {
      const whole = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
      const expected = whole.toString('latin1').split('\n');
      if (expected.at(-1) === '') expected.pop();
      const texts = expected.map((line) => [Buffer.from(line, 'latin1').toString('utf8'), 0]);
      expect(linesOf(cut(whole, places))).toEqual(texts);
    }),
    { numRuns: 300 },
  );
});

test('the first bytes of a long line are kept, and the others are counted', () => {
  const long = Buffer.from(`${'é'.repeat(longestLine)}\nnext\n`);
  for (const size of [1000, longestLine]) {
    expect(linesOf(piecesOf(long, size))).toEqual([
      ['é'.repeat(longestLine / 2), longestLine],
      ['next', 0],
    ]);
  }
  const odd = Buffer.from(`a${'é'.repeat(longestLine)}\n`);
  expect(linesOf(piecesOf(odd, longestLine))).toEqual([[`a${'é'.repeat(longestLine / 2 - 1)}`, longestLine + 2]]);
});

test('a line that comes byte by byte needs no more memory than its bytes', () => {
  const readers = Array.from({ length: 20 }, () => new LineReader(() => {}));
  const byte = Buffer.from('x');
  const memory = (): number => heapBytes() + process.memoryUsage().arrayBuffers;
  const before = memory();
  for (const reader of readers) for (let at = 0; at < longestLine; at += 1) reader.read(byte);
  expect(memory() - before).toBeLessThan(4 * readers.length * longestLine);
  for (const reader of readers) reader.end();
});
