import { expect, test } from 'vitest';
import type { ClusterScope, PartScope, Scope } from '../../access/scope.ts';
import { everything } from '../plan/filter.ts';
import { View } from '../sql/view.ts';
import { scopedFilter } from './scoped-filter.ts';

const layout = { kindId: 7, named: 'Widget.example.com', promotedTable: null, slots: [], places: [] };

function namespacesFor(scope: Scope): readonly string[] | null {
  const view = new View(new Map([['pods', layout]]), { id: 'test', of: () => scope });
  const kind = view.get('pods');
  if (kind === undefined) throw new Error('the view has no Pods');
  const filter = scopedFilter(kind, everything);
  const parts = filter.kind === 'and' ? filter.of : [filter];
  return parts.flatMap((part) => (part.kind === 'namespaces' ? part.in : []));
}

const part = (namespaces: readonly string[], names: Readonly<Record<string, readonly string[]>> = {}): PartScope => ({
  namespaces: new Set(namespaces),
  names: new Map(Object.entries(names).map(([namespace, some]) => [namespace, new Set(some)])),
});
const some = (clusters: Readonly<Record<string, ClusterScope>>): Scope => ({
  rows: 'some',
  clusters: new Map(Object.entries(clusters)),
});

test('a route is chosen for the namespaces of all clusters, with those of named objects', () => {
  expect(namespacesFor(some({ east: part(['a', 'b']), west: part(['b'], { c: ['x'] }) }))).toEqual(['a', 'b', 'c']);
});

test.each([
  ['every row is visible', { rows: 'all' }],
  ['every row of a cluster is visible', some({ east: 'all', west: part(['a']) })],
  ['a name is visible in every namespace', some({ east: part(['a'], { '': ['x'] }) })],
  ['there are many namespaces', some({ east: part(Array.from({ length: 101 }, (_, index) => `n${index}`)) })],
] as const)('no namespace is named where %s', (_why, scope) => {
  expect(namespacesFor(scope)).toEqual([]);
});
