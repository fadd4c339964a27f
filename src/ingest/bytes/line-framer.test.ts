import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineFramer } from './line-framer.ts';
import { ProtocolError } from './protocol-error.ts';

function frame(chunks: readonly Buffer[], framer = new LineFramer()): string[] {
  return chunks.flatMap((chunk) => [...framer.push(chunk)].map((line) => line.toString('utf8')));
}

/** F38: an emoji (four bytes), U+2028 and U+2029 unescaped, an escaped newline, an empty line, CRLF. */
const lines = ['{"a":"ö😀"}', '{"b":"x\u2028y\u2029z"}', '{"c":"\\n"}', '{"d":1}'];
const sample = Buffer.from(`${lines[0]}\n${lines[1]}\n\n${lines[2]}\r\n${lines[3]}\n`);

test('F38: lines survive a cut at every position', () => {
  for (let at = 0; at <= sample.length; at += 1) {
    expect(frame([sample.subarray(0, at), sample.subarray(at)])).toEqual(lines);
  }
});

test('F38: lines survive chunks of one byte', () => {
  expect(frame([...sample].map((byte) => Buffer.from([byte])))).toEqual(lines);
});

test('any lines in any chunks come out as they went in', () => {
  const line = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => !/[\n\r]/.test(text));
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat()), (given, cuts) => {
      const bytes = Buffer.from(given.map((text) => `${text}\n`).join(''));
      const chunks = cut(bytes, cuts);
      expect(frame(chunks)).toEqual(given.map((text) => Buffer.from(text).toString('utf8')));
    }),
  );
});

test('F1: half a line is pending, not a line', () => {
  const framer = new LineFramer();
  expect(frame([Buffer.from('{"a":1}\n{"b"')], framer)).toEqual(['{"a":1}']);
  expect(framer.pending).toBe(4);
});

test('F37: a line over the cap is a typed error after the lines before it, in one chunk and over many', () => {
  const framer = new LineFramer(8);
  const taken: string[] = [];
  expect(() => {
    for (const line of framer.push(Buffer.from('12345678\n123456789\n'))) taken.push(line.toString());
  }).toThrow(ProtocolError);
  expect(taken).toEqual(['12345678']);
  const slow = new LineFramer(8);
  expect(() => frame([Buffer.from('12345'), Buffer.from('6789')], slow)).toThrow(/more than 8 bytes/);
});

function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [...new Set(cuts.map((each) => each % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length));
}
