import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alikeNames } from '../../../test/kit/alike-names.ts';
import { buildGeneration } from '../../graphql/schema/build-generation.ts';
import { describeAbstractKind } from '../abstract/describe-abstract-kind.ts';
import { readAbstractKinds } from '../abstract/read-abstract-kinds.ts';
import { assembleCatalog } from '../assemble.ts';
import { describeResource } from '../describe/describe.ts';
import type { Catalog, DescribedResource } from '../resources/catalog.ts';
import type { NamedKind } from './kind-names.ts';

const resource = 'redises.example.com';

/** An abstract kind with an enum in each of these columns. */
function abstract(type: string, ...columns: readonly string[]): readonly DescribedResource[] {
  const { kinds, problems } = readAbstractKinds({
    abstractKinds: [
      {
        name: `${type.toLowerCase()}s`,
        type,
        columns: Object.fromEntries(columns.map((name) => [name, { type: 'Enum', values: ['Up', 'Down'] }])),
        members: [{ resource }],
      },
    ],
  });
  expect(problems).toEqual([]);
  return kinds.flatMap((kind) =>
    kind.members.map((member) =>
      describeAbstractKind(kind, member, {
        cluster: 'east',
        redacted: [],
        origin: { tree: { root: 'A', shapes: { A: { key: 'A', path: [], fields: [] } } } },
      }),
    ),
  );
}

/** A kind of kube-apiserver with a definition that is named so. */
function withDefinition(kind: string, definition: string): DescribedResource {
  const plural = `${kind.toLowerCase()}s`;
  const full = `io.k8s.api.core.v1.${definition}`;
  return describeResource({
    cluster: 'east',
    resource: {
      ...{ group: '', version: 'v1', plural, singular: kind.toLowerCase(), kind, namespaced: true },
      ...{ verbs: ['list', 'watch'], shortNames: [], categories: [] },
    },
    schemas: {
      root: {
        type: 'object',
        properties: { metadata: { type: 'object' }, spec: { $ref: `#/definitions/${full}` } },
        'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind }],
      },
      [full]: { type: 'object', properties: { size: { type: 'integer' } } },
    },
  });
}

const enumsOf = ({ kinds }: Catalog, type: string) => kinds.find(({ names }) => names.type === type)?.names.enums;

test.each<[string, string, readonly string[], Readonly<Record<string, string>>]>([
  ['the type and the column', 'AppInstance', ['state'], { state: 'AppInstanceState' }],
  ['words of a column', 'App', ['disk_state'], { disk_state: 'AppDiskState' }],
  [
    'two columns of one name',
    'App',
    ['disk_state', 'diskState'],
    { diskState: 'AppDiskState', disk_state: 'App_disk_state' },
  ],
  ['columns that differ in letter case', 'App', ['abC', 'aBc'], { aBc: 'AppABc', abC: 'App_abC' }],
  ['a filter and a column', 'App', ['state', 'stateFilter'], { state: 'AppState', stateFilter: 'App_stateFilter' }],
  ['a type of the kind', 'App', ['filter', 'change'], { change: 'App_change_2', filter: 'App_filter_2' }],
  ['a type of the static schema', 'Log', ['line'], { line: 'Log_line' }],
  ['a kind of kube-apiserver', 'Stateful', ['set'], { set: 'Stateful_set' }],
])('%s', (_what, type, columns, names) => {
  const catalog = assembleCatalog(abstract(type, ...columns));
  const [kind] = catalog.kinds;
  expect(kind?.names.enums).toEqual(names);
  const { schema, diagnostics } = buildGeneration(catalog);
  expect(diagnostics).toEqual([]);
  for (const name of Object.values(names)) expect(schema.getType(name)?.toString(), name).toBe(name);
});

test('an enum leaves its name to a kind and to a definition, whenever they came', () => {
  const kinds = [...abstract('App', 'state'), ...abstract('AppState', 'x')];
  const came: readonly NamedKind[] = kinds.map((each) => each.resource);
  for (const order of [came, came.toReversed(), []]) {
    expect(enumsOf(assembleCatalog(kinds, order), 'App')).toEqual({ state: 'App_state' });
  }
  const pod = withDefinition('Crate', 'BoxState');
  expect(enumsOf(assembleCatalog([pod, ...abstract('BoxS', 'tate')]), 'BoxS')).toEqual({ tate: 'BoxS_tate' });
  expect(enumsOf(assembleCatalog(abstract('BoxS', 'tate')), 'BoxS')).toEqual({ tate: 'BoxSTate' });
});

test('of two enums with one name, that of the kind that came first has it', () => {
  const kinds = [...abstract('App', 'instanceState'), ...abstract('AppInstance', 'state')];
  const came = kinds.map((each) => each.resource);
  const first = assembleCatalog(kinds, came);
  expect([enumsOf(first, 'App'), enumsOf(first, 'AppInstance')]).toEqual([
    { instanceState: 'AppInstanceState' },
    { state: 'AppInstance_state' },
  ]);
  const other = assembleCatalog(kinds, came.toReversed());
  expect([enumsOf(other, 'App'), enumsOf(other, 'AppInstance')]).toEqual([
    { instanceState: 'App_instanceState' },
    { state: 'AppInstanceState' },
  ]);
});

test('names of types begin with the prefix', () => {
  const catalog = assembleCatalog(abstract('App', 'state'), [], 'K_');
  expect(enumsOf(catalog, 'K_App')).toEqual({ state: 'K_AppState' });
  const { schema } = buildGeneration(catalog);
  expect(String(schema.getType('K_AppStateFilter'))).toBe('K_AppStateFilter');
  expect(schema.getType('AppState')).toBeUndefined();
});

test('whatever kinds and columns there are, no two types have one name, and no kind is left out', () => {
  const word = fc.constantFrom('App', 'State', 'Filter', 'Change', 'Health', 'Status', 'Edge', 'Pod');
  const type = fc
    .array(word, { minLength: 1, maxLength: 3 })
    .map((words) => words.join(''))
    .filter((name) => name !== 'AppPodState');
  const column = fc
    .array(fc.oneof(word, fc.constantFrom('state', 'filter', '_', 'x_y')), { minLength: 1, maxLength: 3 })
    .map((words) => words.join(''))
    .filter((name) => /^[A-Za-z]/.test(name));
  const kind = fc.record({ type, columns: fc.uniqueArray(column, { minLength: 1, maxLength: 4 }) });
  fc.assert(
    fc.property(fc.uniqueArray(kind, { selector: (each) => each.type.toLowerCase(), maxLength: 5 }), (kinds) => {
      const described = kinds.flatMap((each) => abstract(each.type, ...each.columns));
      const catalog = assembleCatalog([withDefinition('Crate', 'AppPodState'), ...described]);
      expect(alikeNames(catalog)).toEqual([]);
      expect(buildGeneration(catalog).diagnostics).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
