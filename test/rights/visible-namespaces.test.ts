/** Callers with few rights by roles: the namespaces in which they see something, and empty lists instead of FORBIDDEN. */
import { expect, test } from 'vitest';
import { grantedScopes } from '../../src/access/granted-scopes.ts';
import { type Granted, Grants } from '../../src/access/grants.ts';
import { fixedRights } from '../../src/access/rights.ts';
import { allRows, noRows, type Scope, scopeText } from '../../src/access/scope.ts';
import { type Answer, engineFixture, made } from '../kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../kit/graphql-world.ts';
import { namespacesKey, scopedStore, worldClusters } from '../kit/scoped-world.ts';

/** A binding in the namespace, or in the whole cluster for ''. */
function bound(
  namespace: string,
  resources: readonly string[],
  verbs: readonly string[] = ['list', 'watch', 'get'],
  resourceNames: readonly string[] = [],
): Granted {
  const rule = { verbs, apiGroups: ['example.com'], resources, resourceNames, nonResourceURLs: [] };
  return {
    binding: { namespace, name: 'b', role: { kind: 'ClusterRole', name: 'r' }, subjects: ['u:alice'] },
    rules: [rule],
  };
}

async function world(...granted: readonly Granted[]) {
  const current = { scopes: grantedScopes(new Map([['east', new Grants(false, granted)]]), true) };
  const fixture = engineFixture({ engine: { rights: fixedRights(() => current.scopes) } });
  await fixture.declare(widget(), gadget());
  await fixture.sync(widgets, [made({ name: 'a', namespace: 'n1' }), made({ name: 'b', namespace: 'n2' })]);
  await fixture.sync(gadgets, [made({ name: 'g', namespace: null })]);
  return {
    ...fixture,
    bind(...others: readonly Granted[]) {
      current.scopes = grantedScopes(new Map([['east', new Grants(false, others)]]), true);
    },
  };
}

const codes = ({ errors }: Answer) => errors.map(({ originalError }) => (originalError as { code?: string }).code);

type Fixture = Awaited<ReturnType<typeof world>>;

const namespacesOf = async ({ query }: Fixture, args = ''): Promise<unknown> => {
  const { data, errors } = await query(`{ viewer { namespaces${args} { cluster name kinds kindCount } } }`);
  expect(errors).toEqual([]);
  return data.viewer.namespaces;
};

const entry = (name: string, ...kinds: readonly string[]) => ({
  cluster: 'east',
  name,
  kinds,
  kindCount: kinds.length,
});

test.each<[string, readonly Granted[], readonly unknown[]]>([
  ['nothing', [], []],
  ['one namespace', [bound('n1', ['widgets'])], [entry('n1', widgets)]],
  [
    'a namespace without objects, and another',
    [bound('n9', ['widgets']), bound('n1', ['*'])],
    [entry('n1', widgets), entry('n9', widgets)],
  ],
  ['all namespaces', [bound('', ['widgets'])], [entry('*', widgets)]],
  ['all, and one again', [bound('', ['widgets']), bound('n1', ['widgets'])], [entry('*', widgets)]],
  ['one object by its name', [bound('n2', ['widgets'], ['get'], ['b'])], [entry('n2', widgets)]],
  ['one name in any namespace', [bound('', ['widgets'], ['get'], ['b'])], []],
  ['objects of no list', [bound('n1', ['widgets'], ['get'])], []],
  ['writes alone', [bound('n1', ['widgets'], ['create', 'delete'])], []],
  ['kinds without namespaces', [bound('', ['gadgets']), bound('n1', ['gadgets'])], []],
  ['a kind that is not served', [bound('n1', ['others'])], []],
])('the namespaces of a caller who sees %s', async (_of, granted, expected) => {
  expect(await namespacesOf(await world(...granted))).toEqual(expected);
});

test('a change of roles changes the namespaces, and arguments bound them', async () => {
  const fixture = await world(bound('n1', ['widgets']));
  expect(await namespacesOf(fixture)).toEqual([entry('n1', widgets)]);
  fixture.bind(bound('n2', ['widgets']), bound('n3', ['widgets']));
  expect(await namespacesOf(fixture)).toEqual([entry('n2', widgets), entry('n3', widgets)]);
  expect(await namespacesOf(fixture, '(first: 1)')).toEqual([entry('n2', widgets)]);
  expect(await namespacesOf(fixture, '(first: 0)')).toEqual([]);
  expect(await namespacesOf(fixture, '(cluster: "east")')).toHaveLength(2);
  expect(codes(await fixture.query('{ viewer { namespaces(cluster: "west") { name } } }'))).toEqual(['BAD_USER_INPUT']);
});

const list = (args: string) => `{ exampleComWidgets(${args}) {
  totalCount nodes { metadata { name } } pageInfo { hasNextPage } scope { all namespaces names }
  aggregate { count } facets(paths: ["spec.name"]) { values { count } } } }`;
const empty = {
  totalCount: 0,
  nodes: [],
  pageInfo: { hasNextPage: false },
  aggregate: { count: 0 },
  facets: [{ values: [] }],
};

test('a caller who may list nothing there gets FORBIDDEN, or an empty list with its scope', async () => {
  const { query } = await world(bound('n1', ['widgets']));
  const hidden = await query(list('filter: { namespaces: ["n2"] }'));
  expect(codes(hidden)).toEqual(['FORBIDDEN']);
  expect(hidden.data.exampleComWidgets).toBeNull();
  // The answer does not tell whether the namespace exists.
  for (const namespace of ['n2', 'n7']) {
    const { data, errors, operation } = await query(list(`orEmpty: true, filter: { namespaces: ["${namespace}"] }`));
    expect(errors).toEqual([]);
    expect(JSON.parse(JSON.stringify(data)).exampleComWidgets).toEqual({
      ...empty,
      scope: [{ all: false, namespaces: ['n1'], names: 0 }],
    });
    expect(operation.extensions()).not.toHaveProperty('warnings');
  }
  const seen = await query(list('orEmpty: true, filter: { namespaces: ["n1", "n2"] }'));
  expect(seen.data.exampleComWidgets).toMatchObject({ totalCount: 1, nodes: [{ metadata: { name: 'a' } }] });
});

test('orEmpty: without any right, and for lists of several kinds', async () => {
  const { query } = await world();
  const { data } = await query(list('orEmpty: true'));
  expect(JSON.parse(JSON.stringify(data)).exampleComWidgets).toEqual({
    ...empty,
    scope: [{ all: false, namespaces: [], names: 0 }],
  });
  const objects = (args: string) => query(`{ objects(kinds: ["*.example.com"]${args}) { totalCount nodes { id } } }`);
  expect(codes(await objects(''))).toEqual(['FORBIDDEN']);
  expect((await objects(', orEmpty: true')).data).toEqual({ objects: { totalCount: 0, nodes: [] } });
  // Other errors stay.
  expect(codes(await query(list('orEmpty: true, first: -1')))).toEqual(['BAD_USER_INPUT']);
});

test('a search for a namespace finds what is in it, as far as the caller may see it', async () => {
  const search = '{ exampleComWidgets(filter: { search: "N2" }) { nodes { metadata { name } } } }';
  const all = await world(bound('', ['widgets']));
  expect((await all.query(search)).data.exampleComWidgets.nodes).toEqual([{ metadata: { name: 'b' } }]);
  const one = await world(bound('n1', ['widgets']));
  expect((await one.query(search)).data.exampleComWidgets.nodes).toEqual([]);
});

test('facets of a map have the keys in use, of the objects that the caller may see', async () => {
  const labelled = (name: string, namespace: string, labels: Record<string, string>, settings = {}) =>
    made({ name, namespace, labels, spec: { settings } });
  const of = async (granted: Granted, args: string) => {
    const fixture = await world(granted);
    await fixture.sync(widgets, [
      labelled('a', 'n1', { app: 'web', tier: 'x' }, { 'odd.key/"1"': '1' }),
      labelled('b', 'n1', { app: 'shop' }),
      labelled('c', 'n2', { hidden: 'y', app: 'web' }),
      made({ name: 'd', namespace: 'n1', spec: { settings: 'no map' } }),
    ]);
    const { data, errors } = await fixture.query(
      `{ exampleComWidgets { facets(${args}) { path more values { value count } } } }`,
    );
    expect(errors).toEqual([]);
    return JSON.parse(JSON.stringify(data.exampleComWidgets.facets));
  };
  const whole = bound('', ['widgets']);
  const part = bound('n1', ['widgets']);
  expect(await of(whole, 'paths: ["metadata.labels"]')).toEqual([
    {
      path: 'metadata.labels',
      more: false,
      values: [
        { value: 'app', count: 3 },
        { value: 'hidden', count: 1 },
        { value: 'tier', count: 1 },
        { value: null, count: 1 },
      ],
    },
  ]);
  expect(await of(part, 'paths: ["metadata.labels"], first: 1')).toEqual([
    { path: 'metadata.labels', more: true, values: [{ value: 'app', count: 2 }] },
  ]);
  expect(await of(part, 'paths: ["metadata.labels"], contains: "TI"')).toMatchObject([
    { values: [{ value: 'tier', count: 1 }] },
  ]);
  expect(await of(part, 'paths: ["metadata.labels[\\"app\\"]", "spec.settings"]')).toEqual([
    {
      path: 'metadata.labels["app"]',
      more: false,
      values: [
        { value: 'shop', count: 1 },
        { value: 'web', count: 1 },
        { value: null, count: 1 },
      ],
    },
    {
      path: 'spec.settings',
      more: false,
      values: [
        { value: null, count: 2 },
        { value: 'odd.key/"1"', count: 1 },
      ],
    },
  ]);
});

test('a caller who does not see all Namespaces is told of none that is missing', async () => {
  const store = await scopedStore();
  const { fixture } = store.pair;
  await store.fill([
    {
      cluster: 'east',
      key: namespacesKey,
      namespace: null,
      name: 'shop',
      object: made({ name: 'shop', namespace: null }),
    },
  ]);
  const inShop: Scope = {
    rows: 'some',
    clusters: new Map([['east', { namespaces: new Set(['n1']), names: new Map() }]]),
  };
  const warnings = async (namespaces: Scope, namespace: string): Promise<unknown> => {
    const id = `${scopeText(namespaces)} of Namespaces`;
    store.scopes = { id, of: (key) => (key === namespacesKey ? namespaces : inShop) };
    const { errors, operation } = await fixture.query(
      `{ exampleComWidgets(orEmpty: true, filter: { namespaces: ["${namespace}"] }) { totalCount } }`,
    );
    expect(errors).toEqual([]);
    return operation.extensions().warnings;
  };
  const message = 'There is no namespace "nope" in any cluster.';
  const onlyEast: Scope = { rows: 'some', clusters: new Map([['east', 'all']]) };
  for (const namespaces of [noRows, inShop, onlyEast]) {
    expect(await warnings(namespaces, 'shop')).toBeUndefined();
    expect(await warnings(namespaces, 'nope')).toBeUndefined();
  }
  const everywhere: Scope = { rows: 'some', clusters: new Map(worldClusters.map((each) => [each, 'all'])) };
  for (const namespaces of [allRows, everywhere]) {
    expect(await warnings(namespaces, 'shop')).toBeUndefined();
    expect(await warnings(namespaces, 'nope')).toEqual([{ path: ['exampleComWidgets'], message }]);
  }
});
