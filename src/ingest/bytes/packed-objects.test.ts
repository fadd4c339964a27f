import fc from 'fast-check';
import { expect, test } from 'vitest';
import { healthSources, healthStatuses } from '../../catalog/health/health-status.ts';
import { packObjects, unpackObjects } from './packed-objects.ts';

const text = fc.string({ unit: 'binary' });
const named = fc.string({ minLength: 1 });
const time = fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }));
const key = fc.oneof(fc.constant(null), text, fc.double({ noNaN: true }), fc.bigInt({ min: 0n, max: 2n ** 62n }));
const prepared = fc.record({
  namespace: text,
  name: named,
  uid: named,
  resourceVersion: named,
  created: time,
  deleting: time,
  labels: fc.array(fc.tuple(text, text)),
  owners: fc.array(fc.record({ uid: text, controller: fc.boolean() })),
  marks: text,
  health: fc.record({
    status: fc.constantFrom(...healthStatuses),
    reason: fc.option(text),
    message: fc.option(text),
    source: fc.constantFrom(...healthSources),
  }),
  keys: fc.array(key),
  body: fc.uint8Array({ maxLength: 20 }),
});

test('objects come out as they went in, also through a message', () => {
  const objects = fc.array(fc.oneof(prepared, fc.record({ text })));
  fc.assert(
    fc.property(objects, (given) => {
      const packed = packObjects(given);
      const plain = (all: readonly object[]): object[] =>
        all.map((object) => ('body' in object ? { ...object, body: [...(object.body as Uint8Array)] } : { ...object }));
      expect(plain(unpackObjects(packed))).toEqual(plain(given));
      expect(plain(unpackObjects(structuredClone(packed)))).toEqual(plain(given));
    }),
  );
});
