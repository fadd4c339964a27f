/** The fields that schemas require, from one schema to a catalog of several clusters. */
import { describe, expect, test } from 'vitest';
import { assembleCatalog } from '../assemble.ts';
import { describeResource } from '../describe/describe.ts';
import type { DescribedResource } from '../resources/catalog.ts';
import type { FieldTree } from './field-tree.ts';

const text = { type: 'string' };
const core = 'io.k8s.api.core.v1.';
const ref = (name: string): object => ({ $ref: `#/definitions/${core}${name}` });
const object = (properties: object, required: readonly string[] = [], more: object = {}): object => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required }),
  ...more,
});

function described(
  root: object,
  { cluster = 'one', group = 'a.io', kind = 'Foo', definitions = {} as Record<string, object> } = {},
): DescribedResource {
  const schemas = {
    root: { ...root, 'x-kubernetes-group-version-kind': [{ group, version: 'v1', kind }] },
    ...Object.fromEntries(Object.entries(definitions).map(([name, schema]) => [core + name, schema])),
  };
  const singular = kind.toLowerCase();
  const resource = {
    ...{ group, version: 'v1', plural: `${singular}s`, singular, kind, namespaced: true },
    ...{ verbs: ['list', 'watch'], shortNames: [], categories: [] },
  };
  return describeResource({ cluster, resource, schemas });
}

/** The required fields as `shape.field`. */
function required(tree: FieldTree | undefined): readonly string[] {
  return Object.entries(tree?.shapes ?? {}).flatMap(([key, { fields }]) =>
    fields.filter((field) => field.required === true).map(({ name }) => `${key.replace(core, '')}.${name}`),
  );
}

/** Of each kind, as the catalog of these descriptions has it. */
const requiredIn = (...from: readonly DescribedResource[]): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(assembleCatalog(from).kinds.map(({ key, tree }) => [key, required(tree)]));

test('a field is required by its object, unless it may be null', () => {
  const spec = object({ a: text, b: { ...text, nullable: true }, c: { type: ['string', 'null'] }, d: text }, [
    ...['a', 'b', 'c', 'elsewhere'],
  ]);
  const root = object({ spec, list: { type: 'array', items: spec }, more: object({ x: text }, ['x']) }, ['spec']);
  expect(required(described(root).tree)).toEqual(['$.spec', '$.list.a', '$.more.x']);
});

test('a shape in two places requires what both require', () => {
  const [strict, loose] = [object({ a: text, b: text }, ['a', 'b']), object({ a: text, b: text }, ['b'])];
  for (const places of [
    { x: strict, y: loose },
    { x: loose, y: strict },
  ]) {
    expect(required(described(object({ spec: object(places) })).tree)).toEqual(['$.spec.x.b']);
  }
});

describe('several clusters', () => {
  const of = (cluster: string, names: readonly string[], more: object = {}) =>
    described(object({ spec: object({ a: text, b: text, ...more }, names) }), { cluster });

  test('of equal structure require what all require', () => {
    expect(requiredIn(of('one', ['a', 'b']), of('two', ['b']), of('three', ['a', 'b']))).toEqual({
      'foos.a.io': ['$.spec.b'],
    });
    expect(requiredIn(of('one', ['a']), of('two', ['a']))).toEqual({ 'foos.a.io': ['$.spec.a'] });
  });

  test('of other structures require what all have and require', () => {
    const first = of('one', ['a', 'b', 'c'], { c: text });
    expect(requiredIn(first, of('two', ['b']))).toEqual({ 'foos.a.io': ['$.spec.b'] });
    expect(requiredIn(of('one', ['b']), of('two', ['a', 'b', 'c'], { c: text }))).toEqual({
      'foos.a.io': ['$.spec.b'],
    });
  });

  test('a shape that only one of them has is as it is there', () => {
    expect(requiredIn(of('one', []), of('two', [], { inner: object({ x: text }, ['x']) }))).toEqual({
      'foos.a.io': ['$.spec.inner.x'],
    });
  });
});

test('a definition requires in all kinds what every kind that shares it requires', () => {
  const root = object({ spec: ref('Spec') });
  const spec = (names: readonly string[]) => ({ Spec: object({ a: text, b: text }, names) });
  const own = (kind: string, names: readonly string[]) =>
    described(root, { group: 'apps', kind, definitions: spec(names) });
  const foreign = described(root, { group: 'a.io', kind: 'Foreign', definitions: spec(['a']) });
  const all = (names: readonly string[]) => names.map((name) => `Spec.${name}`);
  expect(requiredIn(own('A', ['a', 'b']), own('B', ['b']))).toEqual({ 'as.apps': all(['b']), 'bs.apps': all(['b']) });
  expect(requiredIn(own('A', ['a', 'b']), foreign)).toEqual({ 'as.apps': all(['a']), 'foreigns.a.io': all(['a']) });
});
