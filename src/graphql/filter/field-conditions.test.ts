/** Field selectors by the kind that they are on: zero values of built-in kinds, texts of custom resources. */
import { expect, test } from 'vitest';
import type { FieldTree, LeafType } from '../../catalog/tree/field-tree.ts';
import { rawJson } from '../../catalog/values/raw-json.ts';
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
  const filter = fieldConditions(selector, kinds);
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
  ['n=', [], ['none']],
  ['n!=', ['full', 'zero', 'none'], ['full', 'zero']],
  ['flag=', [], ['none']],
  ['flag!=', ['full', 'zero', 'none'], ['full', 'zero']],
  ['flag=no', [], []],
  ['flag=True', [], []],
  ['flag=1', [], []],
  ['flag!=no', ['full', 'zero', 'none'], ['full', 'zero', 'none']],
  ['n=x', [], []],
  ['n=03', [], []],
  ['flag=false', ['zero', 'none'], ['zero']],
  ['flag!=false', ['full'], ['full', 'none']],
  ['flag=true', ['full'], ['full']],
  ['text=', ['zero', 'none'], ['zero', 'none']],
  ['text!=a', ['zero', 'none'], ['zero', 'none']],
])(
  'V4: %s finds %j of a built-in kind and %j of a custom resource, also in one list',
  (selector, ofBuiltIn, ofCustom) => {
    expect(found([builtIn], selector, builtIn)).toEqual(ofBuiltIn);
    expect(found([custom], selector, custom)).toEqual(ofCustom);
    expect(found([builtIn, custom], selector, builtIn)).toEqual(ofBuiltIn);
    expect(found([builtIn, custom], selector, custom)).toEqual(ofCustom);
  },
);

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

test('S6: a label that is no path is read in the kind that has it, also in one list with others', () => {
  const source = { kind: 'object', shape: 'source' } as const;
  const eventTree: FieldTree = {
    root: 'root',
    shapes: {
      root: { key: 'root', path: [], fields: [leaf('reportingComponent', 'String'), { name: 'source', type: source }] },
      source: { key: 'source', path: ['source'], fields: [leaf('component', 'String')] },
    },
  };
  const event = { ...kindOf('', 'events'), tree: eventTree };
  const bodies = {
    source: { source: { component: 'kubelet' } },
    reporter: { source: {}, reportingComponent: 'scheduler' },
    both: { source: { component: 'kubelet' }, reportingComponent: 'scheduler' },
    neither: { source: { component: '' } },
  };
  const events = (kinds: readonly FilteredKind[], selector: string, { key }: FilteredKind = event): string => {
    const filter = fieldConditions(selector, kinds);
    const matching = Object.entries(bodies).filter(([name, body]) =>
      matches(filter, { cluster: 'east', key, namespace: 'default', name, body }),
    );
    return matching.map(([name]) => name).join(' ');
  };
  for (const kinds of [[event], [custom, event], [event, builtIn]]) {
    expect(events(kinds, 'source=kubelet')).toBe('source both');
    expect(events(kinds, 'source=scheduler')).toBe('reporter');
    expect(events(kinds, 'source=')).toBe('neither');
    expect(events(kinds, 'source!=kubelet')).toBe('reporter neither');
    expect(events(kinds, 'source!=')).toBe('source reporter both');
  }
  expect(events([custom, event], 'source=kubelet', custom)).toBe('');
  expect(events([custom, event], 'source=', custom)).toBe('source reporter both neither');
  expect(() => events([custom], 'source=kubelet')).toThrow(/"source" is unknown/);
  expect(() => events([event], 'spec.host=a')).toThrow(/"spec" is unknown/);
});

test.each<[string, readonly string[]]>([
  ['any=9', ['number', 'text']],
  ['any!=9', ['boolean', 'empty', 'fraction', 'great', 'none', 'null', 'object', 'zero']],
  ['any=09', []],
  ['any=9.0', []],
  ['any=0', ['zero']],
  ['any=-0', []],
  ['any=1.5', ['fraction']],
  ['any=1.50', []],
  ['any=9007199254740993', ['great']],
  ['any=true', ['boolean']],
  ['any=', ['empty', 'none', 'null']],
  ['port=9', ['number', 'text']],
  ['port=9.5', []],
  ['port=9.0', []],
])('%s in custom kinds, where a value may be a text, a number or a boolean', (selector, expected) => {
  const free: FieldTree = {
    root: 'root',
    shapes: { root: { key: 'root', path: [], fields: [leaf('any', 'JSON'), leaf('port', 'IntOrString')] } },
  };
  const filter = fieldConditions(selector, [{ ...custom, tree: free }]);
  const values = {
    boolean: true,
    empty: '',
    fraction: 1.5,
    great: rawJson('9007199254740993'),
    none: undefined,
    null: null,
    number: 9,
    object: {},
    text: '9',
    zero: 0,
  };
  const names = Object.entries(values)
    .filter(([name, value]) =>
      matches(filter, {
        cluster: 'east',
        key: custom.key,
        namespace: 'default',
        name,
        body: { any: value, port: value },
      }),
    )
    .map(([name]) => name);
  expect(names).toEqual(expected);
});
