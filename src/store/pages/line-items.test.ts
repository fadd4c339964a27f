import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineItems } from './line-items.ts';

const scalar = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
const nested = fc.oneof(
  { weight: 9, arbitrary: scalar },
  { weight: 1, arbitrary: fc.oneof(fc.array(scalar), fc.dictionary(fc.string(), scalar)) },
);

test('items stand as JSON.stringify writes them, or the line is parsed', () => {
  fc.assert(
    fc.property(fc.array(scalar, { minLength: 1 }), fc.array(nested), (columns, values) => {
      const texts = lineItems(JSON.stringify([...columns, values]));
      if (texts !== null) expect(texts).toEqual([...columns, ...values].map((each) => JSON.stringify(each)));
    }),
    { numRuns: 1000 },
  );
});

test('plain leaves need no parser', () => {
  const items = ['"a, [b]"', '""', 'null', '1.0', 'true', '"{é}"'];
  expect(lineItems('["a, [b]","",null,[1.0,true,"{é}"]]')).toEqual(items);
  expect(lineItems('["a",5,[]]')).toEqual(['"a"', '5']);
  expect(lineItems('["a",[{"b":1}]]')).toBeNull();
  expect(lineItems('["a",[["b"]]]')).toBeNull();
  expect(lineItems('["a",["\\u00e9"]]')).toBeNull();
  expect(lineItems('["a\u0001",[]]')).toBeNull();
});
