import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Place } from './places-at.ts';
import { replacedAt } from './replaced-at.ts';

const name = fc.constantFrom('a', 'b', '__proto__', '0');
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(1, 'x', null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
}));
const place = fc.array(fc.oneof(name, fc.nat({ max: 2 })), { minLength: 1, maxLength: 3 });
const replace = (before: unknown) => `was ${JSON.stringify(before)}`;

/** One place after the other, the outer ones first. */
function oneByOne(given: unknown, places: readonly Place[]): unknown {
  const sorted = places.toSorted((a, b) => a.length - b.length);
  return sorted.reduce<unknown>((before, each, index) => {
    const isInner = sorted.slice(0, index).some((outer) => outer.every((part, at) => part === each[at]));
    return isInner ? before : replacedOne(before, each);
  }, given);
}

function replacedOne(before: unknown, [part, ...rest]: Place): unknown {
  if (part === undefined) return replace(before);
  if (Array.isArray(before)) return before.map((each, index) => (index === part ? replacedOne(each, rest) : each));
  if (typeof before !== 'object' || before === null) return before;
  return Object.fromEntries(
    Object.entries(before).map(([each, inner]) => [each, each === part ? replacedOne(inner, rest) : inner]),
  );
}

test('all places at once give what one after the other gives', () => {
  fc.assert(
    fc.property(value, fc.array(place, { maxLength: 4 }), (given, places) => {
      const before = structuredClone(given);
      expect(replacedAt(given, places, replace)).toEqual(oneByOne(given, places));
      expect(given).toEqual(before);
    }),
    { numRuns: 2000 },
  );
});

test('a list is read once, however many places are in it', () => {
  let reads = 0;
  const list = Array.from({ length: 1000 }, () => ({ token: 'x', name: 'a' }));
  const watched = new Proxy(list, {
    get: (target, property, receiver) => {
      reads += 1;
      return Reflect.get(target, property, receiver);
    },
  });
  const places = list.map((_, index) => ['list', index, 'token']);
  expect(replacedAt({ list: watched }, places, () => null)).toEqual({
    list: list.map(() => ({ token: null, name: 'a' })),
  });
  expect(reads).toBeLessThan(2 * list.length);
});
