import { expect, test } from 'vitest';
import { made, sharedFixture } from '../../../test/kit/engine-fixture.ts';
import { widget, widgets } from '../../../test/kit/graphql-world.ts';
import { clustersIn, everything, type Filter } from '../../query/plan/filter.ts';

const objects = [
  made({
    name: 'a',
    namespace: 'n1',
    labels: { app: 'web', tier: 'front' },
    spec: {
      name: 'Alpha',
      replicas: 1,
      total: 9007199254740992,
      ratio: 0.5,
      paused: true,
      at: '2026-01-01T00:00:00Z',
      port: 80,
      tags: ['x', 'y'],
      ports: [
        { name: 'http', number: 80 },
        { name: 'admin', number: 9 },
      ],
      template: { image: 'i:1' },
    },
  }),
  made({
    name: 'b',
    namespace: 'n1',
    labels: { app: 'db' },
    spec: {
      name: 'beta',
      replicas: 2,
      ratio: 1.5,
      paused: false,
      at: '2026-02-01T00:00:00Z',
      port: 'http',
      tags: ['y'],
      ports: [{ name: 'http', number: 8080 }],
    },
  }),
  made({ name: 'c', namespace: 'n2', spec: { name: 'ALPHABET', replicas: 3, tags: [], ports: [] } }),
  made({ name: 'd', namespace: 'n2' }),
];

/** The tests only read. */
const world = sharedFixture(async (fixture) => {
  await fixture.declare(widget(), widget('west'));
  await fixture.sync(
    widgets,
    objects.map((object) => JSON.stringify(object).replace('9007199254740992', '9007199254740993')),
  );
  await fixture.sync(widgets, [made({ name: 'w', spec: { replicas: 1 } })], 'west');
  return {
    ...fixture,
    async names(filter: unknown): Promise<string> {
      const { data, errors } = await fixture.query(
        'query ($filter: ExampleComWidgetFilter) { exampleComWidgets(filter: $filter) { nodes { metadata { name } } totalCount } }',
        { filter },
      );
      if (errors[0] !== undefined) throw errors[0].originalError ?? errors[0];
      const names = data.exampleComWidgets.nodes
        .map((node: { metadata: { name: string } }) => node.metadata.name)
        .sort();
      expect(data.exampleComWidgets.totalCount).toBe(names.length);
      return names.join('');
    },
  };
});

const spec = (conditions: unknown) => ({ clusters: ['east'], spec: conditions });

test.each<[string, unknown, string]>([
  ['null at the top', null, 'abcdw'],
  ['{} at the top', {}, 'abcdw'],
  ['eq', spec({ name: { eq: 'beta' } }), 'b'],
  ['ne matches where there is no value', spec({ name: { ne: 'beta' } }), 'acd'],
  ['in', spec({ replicas: { in: [1, 3, 9] } }), 'ac'],
  ['in of nothing', spec({ replicas: { in: [] } }), ''],
  ['notIn', spec({ replicas: { notIn: [1, 3] } }), 'bd'],
  ['lt', spec({ replicas: { lt: 2 } }), 'a'],
  ['lte', spec({ replicas: { lte: 2 } }), 'ab'],
  ['gt', spec({ replicas: { gt: 2 } }), 'c'],
  ['gte', spec({ ratio: { gte: 0.5 } }), 'ab'],
  ['a range', spec({ replicas: { gt: 1, lt: 3 } }), 'b'],
  ['startsWith', spec({ name: { startsWith: 'A' } }), 'ac'],
  ['endsWith', spec({ name: { endsWith: 'a' } }), 'ab'],
  ['contains', spec({ name: { contains: 'ph' } }), 'a'],
  ['startsWith, ignoring case', spec({ name: { startsWith: 'alpha', ignoreCase: true } }), 'ac'],
  ['eq, ignoring case', spec({ name: { eq: 'BETA', ignoreCase: true } }), 'b'],
  ['notIn, ignoring case', spec({ name: { notIn: ['alpha', 'BETA'], ignoreCase: true } }), 'cd'],
  ['ignoreCase false', spec({ name: { contains: 'PH', ignoreCase: false } }), 'c'],
  ['exists', spec({ name: { exists: true } }), 'abc'],
  ['exists not', spec({ name: { exists: false } }), 'd'],
  ['Boolean', spec({ paused: { eq: false } }), 'b'],
  ['DateTime by instant', spec({ at: { eq: '2026-01-01T01:00:00+01:00' } }), 'a'],
  ['IntOrString, a number', spec({ port: { eq: 80 } }), 'a'],
  ['IntOrString, a string', spec({ port: { eq: 'http' } }), 'b'],
  ['Int64 beyond 2^53, exactly', spec({ total: { eq: '9007199254740993' } }), 'a'],
  ['Int64 beyond 2^53, its neighbour', spec({ total: { eq: '9007199254740992' } }), ''],
  ['nested', spec({ template: { image: { eq: 'i:1' } } }), 'a'],
  ['some of a list of leaves', spec({ tags: { some: { eq: 'x' } } }), 'a'],
  ['none of a list of leaves', spec({ tags: { none: { eq: 'x' } } }), 'bcd'],
  ['every, which an empty or absent list meets', spec({ tags: { every: { eq: 'y' } } }), 'bcd'],
  ['a list that exists', spec({ tags: { exists: true } }), 'abc'],
  ['a list that does not', spec({ tags: { exists: false } }), 'd'],
  ['some element with all of it', spec({ ports: { some: { name: { eq: 'http' }, number: { eq: 80 } } } }), 'a'],
  ['not another element each', spec({ ports: { some: { name: { eq: 'admin' }, number: { eq: 80 } } } }), ''],
  ['some and none', spec({ ports: { some: { name: { eq: 'http' } }, none: { number: { lt: 10 } } } }), 'b'],
  ['every element', spec({ ports: { every: { number: { gt: 10 } } } }), 'bcd'],
  ['an object that exists', spec({ template: { exists: true } }), 'a'],
  ['an object that does not', spec({ template: { exists: false } }), 'bcd'],
  ['a whole object that does not', { clusters: ['east'], spec: { exists: false } }, 'd'],
  ['a whole map that exists', { clusters: ['east'], metadata: { labels: [{ exists: true }] } }, 'ab'],
  ['a whole map that does not', { clusters: ['east'], metadata: { labels: [{ exists: false }] } }, 'cd'],
  ['compare: less than another field', { compare: [{ path: 'spec.ratio', lt: 'spec.replicas' }] }, 'abcw'],
  ['compare: times', { compare: [{ path: 'spec.ratio', gte: 'spec.replicas', times: 0.5 }] }, 'ab'],
  [
    'compare: ne where both are absent',
    { clusters: ['east'], compare: [{ path: 'spec.ratio', ne: 'spec.replicas' }] },
    'abcd',
  ],
  ['compare: texts', { compare: [{ path: 'metadata.name', lt: 'spec.name' }] }, 'b'],
  ['cluster as a path', { path: [{ path: 'cluster', startsWith: 'w' }] }, 'w'],
  ['cluster as a path, eq', { path: [{ path: 'cluster', eq: 'west' }] }, 'w'],
  ['a time relative to now, before', spec({ at: { lt: '-10m' } }), 'ab'],
  ['a time relative to now, after', spec({ at: { gt: '+30d' } }), ''],
  ['metadata', { metadata: { name: { in: ['a', 'w'] } } }, 'aw'],
  ['namespaces', { namespaces: ['n2'] }, 'cd'],
  ['no namespaces', { namespaces: [] }, ''],
  ['clusters', { clusters: ['west'] }, 'w'],
  ['no clusters', { clusters: [] }, ''],
  ['labelSelector', { labelSelector: 'app in (web,db),!tier' }, 'b'],
  ['an empty labelSelector', { labelSelector: '' }, 'abcdw'],
  ['and', { and: [{ spec: { replicas: { gte: 1 } } }, { namespaces: ['n1'] }] }, 'ab'],
  ['and of nothing', { and: [] }, 'abcdw'],
  ['or', { or: [{ namespaces: ['n2'] }, { spec: { name: { eq: 'beta' } } }] }, 'bcd'],
  ['or of nothing', { or: [] }, ''],
  ['not', { clusters: ['east'], not: { namespaces: ['n1'] } }, 'cd'],
])('%s', async (_what, filter, names) => {
  const { names: of } = world();
  expect(await of(filter)).toBe(names);
});

test('ids of a page, and of nothing', async () => {
  const { names, query } = world();
  const { data } = await query('{ exampleComWidgets(filter: { namespaces: ["n2"] }) { nodes { id } } }');
  const ids = data.exampleComWidgets.nodes.map(({ id }: { id: string }) => id);
  expect(await names({ ids })).toBe('cd');
  expect(await names({ ids: [] })).toBe('');
});

test.each<[string, unknown, string, RegExp]>([
  ['null below the top', { spec: null }, 'filter.spec', /is null/],
  ['{} below the top', { spec: {} }, 'filter.spec', /is empty/],
  ['a null leaf', { spec: { name: null } }, 'filter.spec.name', /is null/],
  ['an empty leaf', { spec: { name: {} } }, 'filter.spec.name', /is empty/],
  ['an operator that is null', { spec: { name: { eq: null } } }, 'filter.spec.name.eq', /use exists/],
  ['exists: null', { spec: { name: { exists: null } } }, 'filter.spec.name.exists', /is null/],
  ['only ignoreCase', { spec: { name: { ignoreCase: true } } }, 'filter.spec.name', /is empty/],
  ['a range that ignores case', { spec: { name: { lt: 'x', ignoreCase: true } } }, 'filter.spec.name.lt', /ignoreCase/],
  ['{} in a list', { or: [{ namespaces: ['n1'] }, {}] }, 'filter.or[1]', /is empty/],
  ['not {}', { not: {} }, 'filter.not', /is empty/],
  ['or: null', { or: null }, 'filter.or', /is null/],
  ['namespaces: null', { namespaces: null }, 'filter.namespaces', /is null/],
  ['ids: null', { ids: null }, 'filter.ids', /is null/],
  ['labelSelector: null', { labelSelector: null }, 'filter.labelSelector', /is null/],
  ['some: null', { spec: { tags: { some: null } } }, 'filter.spec.tags.some', /is null/],
  ['some: {}', { spec: { ports: { some: {} } } }, 'filter.spec.ports.some', /is empty/],
  ['an empty leaf in a list', { spec: { ports: { every: { name: {} } } } }, 'filter.spec.ports.every.name', /is empty/],
  ['a list filter that is empty', { spec: { ports: {} } }, 'filter.spec.ports', /is empty/],
  ['in: null', { spec: { name: { in: null } } }, 'filter.spec.name.in', /null/],
  ['a time that is none', { spec: { at: { gt: 'soon' } } }, 'filter.spec.at.gt', /"soon" is not a time/],
  ['an Int64 that was rounded', { spec: { total: { eq: 2 ** 60 } } }, 'filter.spec.total.eq', /as a string/],
  ['an Int64 of letters', { spec: { total: { in: ['1', 'x'] } } }, 'filter.spec.total.in', /"x" is not an integer/],
  ['a fraction as IntOrString', { spec: { port: { eq: 1.5 } } }, 'filter.spec.port.eq', /1\.5 is not/],
])('%s is refused with its place', async (_what, filter, path, message) => {
  const { names } = world();
  const error = await names(filter).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'BAD_USER_INPUT', details: { path } });
  expect((error as Error).message).toMatch(message);
  expect((error as Error).message.startsWith(`${path} `)).toBe(true);
});

test.each([
  ['an id that is none', { ids: ['x'] }, /not an object id/],
  ['a selector that is none', { labelSelector: 'a in' }, /./],
  [
    'a cluster that serves nothing',
    { clusters: ['east', 'nowhere'] },
    /There is no cluster "nowhere"; there is east, west/,
  ],
])('%s is refused', async (_what, filter, message) => {
  const { names } = world();
  await expect(names(filter)).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
    message: expect.stringMatching(message),
  });
});

test('the clusters at the top of a filter', () => {
  const east: Filter = { kind: 'clusters', in: ['east'] };
  expect(clustersIn(everything)).toBeNull();
  expect(clustersIn(east)).toEqual(['east']);
  expect(
    clustersIn({
      kind: 'and',
      of: [
        { kind: 'namespaces', in: ['n'] },
        { kind: 'and', of: [east] },
      ],
    }),
  ).toEqual(['east']);
  expect(clustersIn({ kind: 'or', of: [east] })).toBeNull();
  expect(clustersIn({ kind: 'not', of: east })).toBeNull();
});

test.each<[string, (count: number) => unknown]>([
  ['paths', (count) => ({ path: Array.from({ length: count }, () => ({ path: 'spec.name', eq: 'x' })) })],
  ['field selectors', (count) => ({ and: Array.from({ length: count }, () => ({ fieldSelector: 'spec.name=x' })) })],
  ['leaves', (count) => ({ or: Array.from({ length: count }, () => spec({ name: { eq: 'x' } })) })],
])('a filter of too many %s is refused before what is after them is read', async (_of, many) => {
  const { names } = world();
  const unknown = { path: [{ path: 'spec.nope', eq: 'x' }] };
  const error = (count: number) => names({ and: [many(count), unknown] }).catch((thrown: unknown) => thrown);
  expect(await error(501)).toMatchObject({
    code: 'QUERY_TOO_COSTLY',
    message: expect.stringMatching(/^The filter has at least \d+ conditions; at most 500 are allowed\.$/),
    details: { limit: 'conditions', allowed: 500 },
  });
  expect(await error(100)).toMatchObject({ code: 'BAD_USER_INPUT' });
});
