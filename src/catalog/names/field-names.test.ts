import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kubernetesNameOf } from '../../../test/kit/kubernetes-name.ts';
import { fieldName, legalName } from './field-names.ts';
import { injectedFields } from './reserved-names.ts';

describe('fieldName', () => {
  test.each<[string, string]>([
    // Legal names are unchanged.
    ['replicas', 'replicas'],
    ['podIP', 'podIP'],
    ['snake_case', 'snake_case'],
    ['_leading', '_leading'],
    ['x2D', 'x2D'],
    // One illegal character.
    ['external-name', 'external__name'],
    ['odd.name', 'odd___name'],
    ['a/b', 'a_x2F_b'],
    ['$ref', '_x24_ref'],
    ['grüß', 'gr_xFC__xDF_'],
    ['😀', '_x1F600_'],
    // Runs: each character becomes its code point.
    ['a--b', 'a_x2D__x2D_b'],
    ['a-.b', 'a_x2D__x2E_b'],
    ['a__b', 'a_x5F__x5F_b'],
    ['a-/b', 'a_x2D__x2F_b'],
    ['x-kubernetes-list-type', 'x__kubernetes__list__type'],
    // First and last.
    ['-a', '_x2D_a'],
    ['.a', '_x2E_a'],
    ['a-', 'a_x2D_'],
    ['a_', 'a_x5F_'],
    ['__a', '_x5F__x5F_a'],
    ['_', '_x5F_'],
    ['', '_'],
    // Digits.
    ['3scale', '_3scale'],
    ['_3scale', '_x5F_3scale'],
    // Names that would be decoded as another name.
    ['a_x2F_b', 'a_x5F_x2F_x5F_b'],
    ['a_x2F-b', 'a_x5F_x2F__b'],
    // `id` is reserved for the identity of cached objects, everywhere.
    ['id', 'id_'],
    ['_id', '_id_'],
    ['ID', 'ID'],
    ['id_', 'id_x5F_'],
    // Names of the gateway's fields are reserved only at the root.
    ['raw', 'raw'],
    ['cluster', 'cluster'],
  ])('of %j in a nested object is %j', (kubernetes, graphql) => {
    expect(fieldName(kubernetes, 'nested')).toBe(graphql);
    expect(kubernetesNameOf(graphql)).toBe(kubernetes);
  });

  test.each([...injectedFields])('at the root leaves %s to the gateway', (name) => {
    expect(fieldName(name, 'root')).toBe(`${name}_`);
    expect(kubernetesNameOf(`${name}_`)).toBe(name);
  });

  test('takes other reserved names, never those of the object itself', () => {
    const reserved = new Set(['apiVersion', 'kind', 'metadata', 'node']);
    expect(fieldName('node', 'root', reserved)).toBe('node_');
    expect(fieldName('value', 'root', reserved)).toBe('value');
    for (const name of ['apiVersion', 'kind', 'metadata']) expect(fieldName(name, 'root', reserved)).toBe(name);
  });

  test('is legal, reversible and free of collisions for any name', () => {
    const tricky = fc.string({
      unit: fc.constantFrom('_', '-', '.', 'x', '2', 'D', 'A', 'a', '/', 'é', '\ud800'),
      maxLength: 10,
    });
    const name = fc.oneof(
      tricky,
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.constantFrom('id', '_id', 'raw', 'value', 'value_'),
    );
    fc.assert(
      fc.property(name, name, fc.constantFrom('root' as const, 'nested' as const), (a, b, position) => {
        const [x, y] = [fieldName(a, position), fieldName(b, position)];
        expect(x).toMatch(/^(?!__)[A-Za-z_][A-Za-z0-9_]*$/);
        expect(kubernetesNameOf(x)).toBe(a);
        expect(kubernetesNameOf(legalName(a))).toBe(a);
        expect(x === y).toBe(a === b);
      }),
      { numRuns: 5000 },
    );
  });
});
