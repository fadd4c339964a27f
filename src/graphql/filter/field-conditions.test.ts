/** Field selectors by the kind that they are on: zero values of built-in kinds, texts of custom resources. */
import { expect, test } from 'vitest';
import type { FieldTree, LeafType } from '../../catalog/tree/field-tree.ts';
import { matches } from '../../query/evaluate/matches.ts';
import { type FilteredKind, fieldConditions } from './field-conditions.ts';

const leaf = (name: string, type: LeafType) => ({ name, type: { kind: 'leaf', type } as const });

const tree: FieldTree = {
  root: 'root',
  shapes: {
    root: {
      key: 'root',
      path: [],
      fields: [leaf('at', 'DateTime'), leaf('flag', 'Boolean'), leaf('n', 'Int'), leaf('text', 'String')],
    },
  },
};

const kindOf = (group: string, plural: string): FilteredKind => ({
  key: group === '' ? plural : `${plural}.${group}`,
  resource: {
    group,
    version: 'v1',
    plural,
    singular: plural,
    kind: plural,
    namespaced: true,
    verbs: [],
    shortNames: [],
    categories: [],
  },
  tree,
});
const builtIn = kindOf('', 'pods');
const custom = kindOf('example.com', 'foos');

/** The names of the objects that match: `full` has values, `zero` has zeros, `none` has nothing. */
function found(kinds: readonly FilteredKind[], selector: string, of: FilteredKind): readonly string[] {
  const filter = fieldConditions(selector, 'filter.fieldSelector', kinds);
  const bodies = {
    full: { at: '2026-01-01T00:00:00Z', flag: true, n: 3, text: 'a' },
    zero: { at: '', flag: false, n: 0, text: '' },
    none: {},
  };
  return Object.entries(bodies)
    .filter(([name, body]) => matches(filter, { cluster: 'east', key: of.key, namespace: 'default', name, body }))
    .map(([name]) => name);
}

test.each<[string, readonly string[], readonly string[]]>([
  ['n=0', ['zero', 'none'], ['zero']],
  ['n!=0', ['full'], ['full', 'none']],
  ['n=3', ['full'], ['full']],
  ['n=', ['none'], ['none']],
  ['flag=false', ['zero', 'none'], ['zero']],
  ['flag!=false', ['full'], ['full', 'none']],
  ['flag=true', ['full'], ['full']],
  ['text=', ['zero', 'none'], ['zero', 'none']],
  ['text!=a', ['zero', 'none'], ['zero', 'none']],
])('%s finds %j of a built-in kind and %j of a custom resource, also in one list', (selector, ofBuiltIn, ofCustom) => {
  expect(found([builtIn], selector, builtIn)).toEqual(ofBuiltIn);
  expect(found([custom], selector, custom)).toEqual(ofCustom);
  expect(found([builtIn, custom], selector, builtIn)).toEqual(ofBuiltIn);
  expect(found([builtIn, custom], selector, custom)).toEqual(ofCustom);
});

test.each<[string, readonly string[]]>([
  ['n=03', []],
  ['n=3.0', []],
  ['n=x', []],
  ['n!=x', ['full', 'zero', 'none']],
  ['flag=TRUE', []],
  ['at=2026-01-01T00:00:00Z', ['full']],
  ['at=2026-01-01T01:00:00+01:00', []],
  ['at=', ['zero', 'none']],
])('a custom resource compares texts: %s', (selector, expected) => {
  expect(found([custom], selector, custom)).toEqual(expected);
});

test('a value that a built-in kind cannot have is refused', () => {
  expect(() => found([builtIn], 'n=x', builtIn)).toThrow(/compares n: "x" is not an integer/);
});
