import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainItems } from './plain-items.ts';

test('items stand as JSON.stringify writes them, or the list is parsed', () => {
  const item = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
  const nested = fc.oneof({ weight: 9, arbitrary: item }, { weight: 1, arbitrary: fc.array(item) });
  fc.assert(
    fc.property(fc.array(nested), (items) => {
      const texts = plainItems(JSON.stringify(items));
      if (texts !== null) expect(texts).toEqual(items.map((each) => JSON.stringify(each)));
    }),
    { numRuns: 1000 },
  );
});

test('plain leaves need no parser', () => {
  expect(plainItems('["a, [b]","",null,1.0,true,"{é}"]')).toEqual(['"a, [b]"', '""', 'null', '1.0', 'true', '"{é}"']);
  expect(plainItems('[]')).toEqual([]);
  expect(plainItems('["a",{"b":1}]')).toBeNull();
  expect(plainItems('[["a"]]')).toBeNull();
  expect(plainItems('["\\u00e9"]')).toBeNull();
  expect(plainItems('["a\u0001"]')).toBeNull();
});
