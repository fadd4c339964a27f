import fc from 'fast-check';
import { expect, test } from 'vitest';
import { valuesAt } from '../../catalog/paths/value-at.ts';
import { type PathStep, pathOf } from '../../catalog/tree/path.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { encodeJsonb } from './jsonb-encoder.ts';
import { JsonbValues } from './jsonb-reader.ts';
import { JsonbWalk } from './jsonb-walk.ts';

const name = fc.constantFrom('a', 'b', 'é', '1', 'a"\\');
const scalar = fc.constantFrom<unknown>('x', 'é', 5, 1.5, true, false, null, '9007199254740993', 'true', '5');
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    scalar,
    fc.dictionary(name, tie('value'), { noNullPrototype: true }),
    fc.array(tie('value'), { maxLength: 4 }),
  ),
}));
const step: fc.Arbitrary<PathStep> = fc.oneof(
  name.map((name): PathStep => ({ kind: 'field', name })),
  name.map((key): PathStep => ({ kind: 'key', key })),
  fc.constant<PathStep>({ kind: 'each' }),
  fc.nat(3).map((index): PathStep => ({ kind: 'index', index })),
  fc
    .tuple(name, fc.constantFrom('x', 'é', '5', 'true', 'null', '1.5', '9007199254740993'))
    .map(([field, value]): PathStep => ({ kind: 'where', field, value })),
);

const steps = fc.oneof(
  { weight: 4, arbitrary: fc.array(step, { maxLength: 4 }) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 3 })
      .map((of): PathStep[] => [{ kind: 'several', of: of.map((each) => pathOf(each)) }]),
  },
);

test('a walk finds the values that valuesAt finds in the parsed object', () => {
  let found = 0;
  fc.assert(
    fc.property(value, steps, (any, steps) => {
      const text = JSON.stringify(any);
      const encoded = encodeJsonb(Buffer.from(text));
      if (encoded === null) throw new Error(`${text} is no JSON`);
      const values = new JsonbValues(Buffer.from(encoded.jsonb), -1);
      const expected = valuesAt(parseExact(text), { steps });
      const walked = new JsonbWalk(steps).find(values, 0).map((place) => values.value(place));
      expect(walked).toEqual(expected);
      found += expected.length;
      expect(new JsonbWalk(steps).find(values, -1)).toEqual([]);
    }),
    { numRuns: 5000 },
  );
  expect(found).toBeGreaterThan(1000);
});
