/** The three-way merge against its promises, with random objects. test/writes/merge.real.test.ts compares it with Kubernetes' own merge. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pathOfChange } from '../diff/field-changes.ts';
import { withholdLeaves } from '../diff/withheld-values.ts';
import type { MergeSchema } from './merge-schema.ts';
import { patchBetween } from './patch-between.ts';
import { threeWayMerge } from './three-way-merge.ts';

const text = { type: 'string' };
const named = { type: 'object', properties: { name: text, image: text, protocol: { type: 'string', default: 'TCP' } } };
const meta = {
  type: 'object',
  properties: { finalizers: { type: 'array', items: text, 'x-kubernetes-patch-strategy': 'merge' } },
};
const definitions = { Item: named, Meta: meta };
const schema: MergeSchema = {
  definitions,
  schema: {
    properties: {
      items: {
        type: 'array',
        items: { allOf: [{ $ref: '#/components/schemas/Item' }], default: {} },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name', 'protocol'],
      },
      metadata: {
        allOf: [{ $ref: '#/$defs/Meta' }],
        anyOf: [{ required: ['name'] }, { required: ['generateName'] }],
      },
      optional: {
        anyOf: [
          { type: 'object', properties: meta.properties, oneOf: [{ required: ['finalizers'] }] },
          { enum: [null] },
        ],
      },
      plain: { type: 'array', items: text },
      set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
      old: {
        type: 'array',
        items: { anyOf: [{ $ref: '#/$defs/Item' }, { type: 'null' }] },
        'x-kubernetes-patch-strategy': 'merge,retainKeys',
        'x-kubernetes-patch-merge-key': 'name',
      },
      map: { type: 'object', additionalProperties: { type: 'object' } },
    },
  },
};

function merge(base: object, edited: object, live: object) {
  const found = threeWayMerge({ base, edited, live } as never, schema);
  return { merged: found.merged, conflicts: found.conflicts.map(({ steps }) => pathOfChange(steps)) };
}

describe('one case each', () => {
  test.each([
    ['a member each', { a: 1, b: 1 }, { a: 2, b: 1 }, { a: 1, b: 3 }, { a: 2, b: 3 }],
    ['a removed and an added member', { a: 1 }, {}, { a: 1, b: 1 }, { b: 1 }],
    ['the same change', { a: 1 }, { a: 2 }, { a: 2 }, { a: 2 }],
    [
      'maps that both add',
      {},
      { map: { x: { k: 1 } } },
      { map: { y: { k: 2 } } },
      { map: { y: { k: 2 }, x: { k: 1 } } },
    ],
    [
      'elements with keys, one of them with a default',
      { items: [{ name: 'a', image: '1' }] },
      { items: [{ name: 'a', image: '2', protocol: 'TCP' }] },
      { items: [{ name: 'p' }, { name: 'a', image: '1', protocol: 'TCP' }, { name: 'a', protocol: 'UDP' }] },
      { items: [{ name: 'p' }, { name: 'a', image: '2', protocol: 'TCP' }, { name: 'a', protocol: 'UDP' }] },
    ],
    [
      'lists that both add',
      {},
      { old: [{ name: 'b' }] },
      { old: [{ name: 'a' }] },
      { old: [{ name: 'b' }, { name: 'a' }] },
    ],
    [
      'a set of metadata, whose schema has constraints beside it',
      { metadata: { finalizers: ['a'] }, optional: { finalizers: ['a'] } },
      { metadata: { finalizers: ['a', 'b'] }, optional: { finalizers: ['a', 'b'] } },
      { metadata: { finalizers: ['a', 'c'] }, optional: { finalizers: ['a', 'c'] } },
      { metadata: { finalizers: ['a', 'b', 'c'] }, optional: { finalizers: ['a', 'b', 'c'] } },
    ],
    ['a set', { set: ['a', 'b'] }, { set: ['b', 'c'] }, { set: ['d', 'a', 'b'] }, { set: ['d', 'b', 'c'] }],
    [
      'a list without keys that one changes',
      { plain: ['a'] },
      { plain: ['a', 'b'] },
      { plain: ['a'] },
      { plain: ['a', 'b'] },
    ],
    [
      'a member of that name',
      JSON.parse('{"__proto__":1}'),
      JSON.parse('{"__proto__":2}'),
      JSON.parse('{"__proto__":1,"a":1}'),
      JSON.parse('{"__proto__":2,"a":1}'),
    ],
  ])('%s', (_what, base, edited, live, wanted) => {
    const { merged, conflicts } = merge(base, edited, live);
    expect(JSON.stringify(merged)).toBe(JSON.stringify(sorted(merged, wanted)));
    expect(conflicts).toEqual([]);
  });

  test.each([
    ['two values', { a: 1 }, { a: 2 }, { a: 3 }, ['a']],
    [
      'a removed member that others changed',
      { map: { x: { k: 1 } } },
      { map: {} },
      { map: { x: { k: 2 } } },
      ['map["x"]'],
    ],
    ['a list without keys', { plain: ['a'] }, { plain: ['b'] }, { plain: ['c'] }, ['plain']],
    [
      'an element of a list',
      { old: [{ name: 'a', image: '1' }] },
      { old: [{ name: 'a', image: '2' }] },
      { old: [{ name: 'a', image: '3' }] },
      ['old[name=a].image'],
    ],
    [
      'a key twice',
      { old: [{ name: 'a' }] },
      { old: [{ name: 'a' }, { name: 'b' }] },
      { old: [{ name: 'a' }, { name: 'a' }] },
      ['old'],
    ],
    ['another type', { map: { x: 1 } }, { map: 'text' }, { map: { x: 2 } }, ['map']],
  ])('a conflict: %s', (_what, base, edited, live, paths) => {
    const { merged, conflicts } = merge(base, edited, live);
    expect(conflicts.map((path) => path.replace('map.x', 'map["x"]'))).toEqual(paths);
    expect(merged).toEqual(live);
  });

  test('a value that was never shown gives way to one that the edit sets, and stays otherwise', () => {
    const live = withholdLeaves({ data: { pin: 'MQ==', other: 'Mg==' }, type: 'Opaque' }, ['data']);
    const found = threeWayMerge({ base: { type: 'Opaque' }, edited: { data: { pin: 'Mw==' }, type: 'x' }, live }, null);
    expect(found.conflicts).toEqual([]);
    expect(found.merged['type']).toBe('x');
    expect((found.merged['data'] as { pin: unknown }).pin).toBe('Mw==');
    expect(Object.keys(found.merged['data'] as object)).toEqual(['pin', 'other']);
  });
});

/** `wanted` with its members in the order of `found`: the order of members says nothing. */
function sorted(found: unknown, wanted: unknown): unknown {
  if (Array.isArray(wanted))
    return wanted.map((each, index) => sorted((found as unknown[] | undefined)?.[index], each));
  if (typeof wanted !== 'object' || wanted === null) return wanted;
  const names = Object.keys((found as object | undefined) ?? {}).filter((name) => Object.hasOwn(wanted, name));
  const all = [...names, ...Object.keys(wanted).filter((name) => !names.includes(name))];
  return Object.fromEntries(
    all.map((name) => [
      name,
      sorted((found as Record<string, unknown>)?.[name], (wanted as Record<string, unknown>)[name]),
    ]),
  );
}

const value = fc.constantFrom('1', '2', '3');
const element = fc.record({ name: fc.constantFrom('a', 'b', 'c'), image: value }, { requiredKeys: ['name'] });
const objects = fc.record(
  {
    a: value,
    map: fc.dictionary(fc.constantFrom('x', 'y', '__proto__'), fc.record({ k: value }, { requiredKeys: [] })),
    items: fc.uniqueArray(element, { selector: ({ name }) => name }),
    old: fc.uniqueArray(element, { selector: ({ name }) => name }),
    plain: fc.array(value, { maxLength: 3 }),
    set: fc.uniqueArray(value),
  },
  { requiredKeys: [] },
);

test('long lists and deep objects take no more than their size', () => {
  const items = Array.from({ length: 60_000 }, (_, index) => ({ name: `n${index}` }));
  expect(merge({ old: [] }, { old: items }, { old: [{ name: 'live' }] }).merged).toMatchObject({
    old: { length: 60_001 },
  });
  const deep = (value: string): object =>
    Array.from({ length: 90 }).reduce<object>((inner) => ({ inner, text: 'x'.repeat(5000) }), { value });
  const { merged } = merge(deep('1'), deep('2'), deep('1'));
  expect(merged).toEqual(deep('2'));
  expect(patchBetween(deep('1') as never, deep('2') as never).patch).toHaveLength(1);
}, 5000);

test('a value that both have added is read once, not once for each level around it', () => {
  let reads = 0;
  const leaf = {
    get value() {
      reads += 1;
      return 'x';
    },
  };
  const added = (text: string) =>
    Array.from({ length: 90 }).reduce<object>((inner) => ({ inner }), { leaf, [text]: text });
  const { merged, conflicts } = merge({}, added('edited'), added('live'));
  expect(conflicts).toEqual([]);
  expect(JSON.stringify(merged)).toContain('"live":"live","edited":"edited"');
  expect(reads).toBeLessThan(10);
});

describe('for random objects', () => {
  test('what one side alone has changed is the result', () => {
    fc.assert(
      fc.property(objects, objects, (base, other) => {
        expect(merge(base, other, base)).toEqual({ merged: other, conflicts: [] });
        expect(merge(base, base, other)).toEqual({ merged: other, conflicts: [] });
        expect(merge(base, other, other)).toEqual({ merged: other, conflicts: [] });
      }),
    );
  });

  test('no field is lost: each leaf is as edited if the edit changed it, and else as it is', () => {
    fc.assert(
      fc.property(objects, objects, objects, (base, edited, live) => {
        const { merged, conflicts } = merge(base, edited, live);
        const sides = [base, edited, live, merged].map((each) => leaves(each, ''));
        const [before = new Map(), after = new Map(), now = new Map(), found = new Map()] = sides;
        for (const path of new Set(sides.flatMap((side) => [...side.keys()]))) {
          const isUnclear = conflicts.some((each) => isAtOrBelow(path, each.replace(/\["(\w+)"\]/g, '.$1')));
          const isEdited = before.get(path) !== after.get(path);
          const wanted = isUnclear || !isEdited ? now.get(path) : after.get(path);
          expect([path, found.get(path)]).toEqual([path, wanted]);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('the patch between two states makes one of the other, and tests all that it changes', () => {
    fc.assert(
      fc.property(objects, objects, (live, wanted) => {
        const { tests, patch } = patchBetween(live, wanted);
        const made = structuredClone(live) as never;
        for (const { path, value: held } of tests as { path: string; value: unknown }[]) {
          expect(at(live, path) ?? null).toEqual(held);
        }
        for (const { op, path, value: given } of patch as { op: string; path: string; value: unknown }[]) {
          put(made, path, op === 'remove' ? undefined : given);
        }
        expect(made).toEqual(wanted);
        expect(tests.map(({ path }) => path as unknown)).toEqual(patch.map(({ path }) => path));
      }),
    );
  });
});

function isAtOrBelow(path: string, other: string): boolean {
  return path === other || path.startsWith(`${other}.`) || path.startsWith(`${other}[`);
}

/** Leaves by path. Elements by their key, sets by their values, and a list without keys as a whole. */
function leaves(object: unknown, path: string): Map<string, string> {
  if (Array.isArray(object)) {
    if (path === 'set') return new Map(object.map((each) => [`set[${each}]`, 'there']));
    if (path === 'plain') return new Map([[path, JSON.stringify(object)]]);
    const found = object.flatMap((each: { name: string }) => [...leaves(each, `${path}[name=${each.name}]`)]);
    return new Map(found);
  }
  if (typeof object !== 'object' || object === null) return new Map([[path, String(object)]]);
  return new Map(
    Object.entries(object).flatMap(([name, inner]) => [...leaves(inner, path === '' ? name : `${path}.${name}`)]),
  );
}

function at(object: unknown, pointer: string): unknown {
  const parts = pointer.split('/').slice(1);
  return parts.reduce<unknown>(
    (inner, part) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, part) ? inner[part as never] : undefined,
    object,
  );
}

function put(object: object, pointer: string, given: unknown): void {
  const parts = pointer.split('/').slice(1);
  const last = parts.pop() ?? '';
  const holder = parts.reduce((inner, part) => Object.getOwnPropertyDescriptor(inner, part)?.value as object, object);
  if (given === undefined) Reflect.deleteProperty(holder, last);
  else Object.defineProperty(holder, last, { value: given, enumerable: true, configurable: true, writable: true });
}
