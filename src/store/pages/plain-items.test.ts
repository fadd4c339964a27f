import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainItems } from './plain-items.ts';

const scalar = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
const nested = fc.oneof(
  { weight: 9, arbitrary: scalar },
  { weight: 1, arbitrary: fc.oneof(fc.array(scalar), fc.dictionary(fc.string(), scalar)) },
);

test('items stand as JSON.stringify writes them, or the line is parsed', () => {
  fc.assert(
    fc.property(fc.array(scalar, { minLength: 1 }), fc.array(nested), (columns, values) => {
      const texts = plainItems(JSON.stringify([...columns, values]));
      if (texts !== null) expect(texts).toEqual([...columns, ...values].map((each) => JSON.stringify(each)));
    }),
    { numRuns: 1000 },
  );
});

test('plain leaves need no parser', () => {
  const items = ['"a, [b]"', '""', 'null', '1.0', 'true', '"{é}"'];
  expect(plainItems('["a, [b]","",null,[1.0,true,"{é}"]]')).toEqual(items);
  expect(plainItems('["a",5,[]]')).toEqual(['"a"', '5']);
  expect(plainItems('["a",[{"b":1}]]')).toBeNull();
  expect(plainItems('["a",[["b"]]]')).toBeNull();
  expect(plainItems('["a",["\\u00e9"]]')).toBeNull();
  expect(plainItems('["a\u0001",[]]')).toBeNull();
});
