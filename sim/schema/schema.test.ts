import { describe, expect, test } from 'vitest';
import { asObject, at, type JsonObject } from '../objects/json.ts';
import { builtinSchema } from './builtin-schema.ts';
import { expandTables } from './notation.ts';
import { applyDefaults, pruneUnknown } from './prune.ts';
import type { TypedSchema } from './schema-walk.ts';
import { validateValue } from './validate.ts';

const custom = (root: JsonObject): TypedSchema => ({ root, definitions: {}, open: false });

describe('notation', () => {
  test('expands fields, lists, maps and marks', () => {
    const { definitions, kinds } = expandTables([
      `
group v1 package=io.k8s.apimachinery.pkg.apis.meta.v1
type ObjectMeta -- M.
type ListMeta -- L.
group demo.example/v1 package=example.demo.v1
kind Thing things scope=ns short=th sub=status -- A thing.
  spec!: ThingSpec -- What.
type ThingSpec -- S.
  name!: string -- N.
  parts: Part[] merge=name
  sizes: map Quantity
type Part -- P.
  name!: string
`,
    ]);
    expect(kinds[0]).toMatchObject({ kind: 'Thing', plural: 'things', namespaced: true, shortNames: ['th'] });
    expect(definitions['example.demo.v1.ThingSpec']).toEqual({
      description: 'S.',
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', description: 'N.' },
        parts: {
          type: 'array',
          items: { $ref: '#/definitions/example.demo.v1.Part' },
          'x-kubernetes-patch-merge-key': 'name',
          'x-kubernetes-patch-strategy': 'merge',
          'x-kubernetes-list-map-keys': ['name'],
          'x-kubernetes-list-type': 'map',
        },
        sizes: {
          type: 'object',
          additionalProperties: { $ref: '#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity' },
        },
      },
    });
    expect(definitions['example.demo.v1.ThingList']).toBeDefined();
  });

  test('refuses a type that no table defines', () => {
    expect(() => expandTables(['group v1 package=p\ntype A -- a.\n  b: Nowhere'])).toThrow(/Nowhere/);
  });

  test('defines every built-in kind with all references resolved and every field described', () => {
    const { definitions, kinds } = builtinSchema();
    expect(kinds.length).toBeGreaterThan(30);
    const text = JSON.stringify(definitions);
    for (const [, name] of text.matchAll(/"#\/definitions\/([^"]+)"/g)) expect(definitions[name ?? '']).toBeDefined();
    const pod = asObject(definitions['io.k8s.api.core.v1.PodSpec']);
    expect(Object.keys(asObject(pod.properties)).length).toBeGreaterThan(35);
    for (const [name, property] of Object.entries(asObject(pod.properties))) {
      expect(at(property, 'description'), name).toBeTypeOf('string');
    }
  });
});

describe('pruning', () => {
  const types = custom({
    type: 'object',
    properties: {
      kept: { type: 'string' },
      free: {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { inner: { type: 'object', properties: {} } },
      },
      map: { type: 'object', additionalProperties: { type: 'object', properties: { a: { type: 'string' } } } },
      list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
      embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: { type: 'object' } } },
    },
  });

  test('drops what the schema does not know', () => {
    const value = {
      kept: 'x',
      gone: 1,
      free: { any: 1, inner: { gone: 1 } },
      map: { k: { a: '1', gone: 2 } },
      list: [{ a: '1', gone: 2 }],
      embedded: { apiVersion: 'v1', kind: 'A', metadata: { name: 'x' }, gone: 1 },
    };
    expect(pruneUnknown(value, types.root, types)).toEqual({
      kept: 'x',
      free: { any: 1, inner: {} },
      map: { k: { a: '1' } },
      list: [{ a: '1' }],
      embedded: { apiVersion: 'v1', kind: 'A', metadata: { name: 'x' } },
    });
  });
});

describe('defaulting', () => {
  const types = custom({
    type: 'object',
    properties: {
      size: { type: 'integer', default: 3 },
      nested: { type: 'object', default: {}, properties: { on: { type: 'boolean', default: true } } },
      nullable: { type: 'string', nullable: true, default: 'x' },
      plain: { type: 'string' },
    },
  });

  test('fills absent fields, keeps given ones and allowed nulls, drops other nulls', () => {
    expect(applyDefaults({}, types.root, types)).toEqual({ size: 3, nested: { on: true }, nullable: 'x' });
    expect(applyDefaults({ size: 0, nested: { on: false }, nullable: null, plain: null }, types.root, types)).toEqual({
      size: 0,
      nested: { on: false },
      nullable: null,
    });
    expect(applyDefaults({ size: null }, types.root, types)).toMatchObject({ size: 3 });
  });
});

describe('validation', () => {
  const types = custom({
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', pattern: '^[a-z]+$', maxLength: 5 },
      count: { type: 'integer', minimum: 1, maximum: 10 },
      mode: { type: 'string', enum: ['a', 'b'] },
      port: { 'x-kubernetes-int-or-string': true },
      ratio: { type: 'number' },
      list: { type: 'array', maxItems: 1, items: { type: 'string' } },
    },
  });
  const fields = (value: unknown): (string | undefined)[] =>
    validateValue(value, types.root, types, '').map((cause) => cause.field);

  test('accepts what fits', () => {
    expect(fields({ name: 'abc', count: 3, mode: 'a', port: 80, ratio: 1, list: ['x'] })).toEqual([]);
    expect(fields({ name: 'abc', port: 'http', ratio: 1.5 })).toEqual([]);
  });

  test.each([
    [{}, 'name'],
    [{ name: 'ABC' }, 'name'],
    [{ name: 'toolong' }, 'name'],
    [{ name: 'a', count: 0 }, 'count'],
    [{ name: 'a', count: 1.5 }, 'count'],
    [{ name: 'a', count: '1' }, 'count'],
    [{ name: 'a', mode: 'c' }, 'mode'],
    [{ name: 'a', port: true }, 'port'],
    [{ name: 'a', list: ['x', 'y'] }, 'list'],
    [{ name: 'a', list: [1] }, 'list[0]'],
  ])('refuses %j at %s', (value, field) => {
    expect(fields(value)).toEqual([field]);
  });
});
