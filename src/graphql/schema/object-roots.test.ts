import { expect, test } from 'vitest';
import { engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../../../test/kit/graphql-world.ts';
import { encodeObjectId } from '../../query/plan/object-id.ts';

async function world() {
  const fixture = engineFixture({ maxPageSize: 4 });
  await fixture.declare(widget(), gadget());
  await fixture.sync(
    widgets,
    [1, 3].map((total) => made({ name: `w${total}`, spec: { total, name: 'w' } })),
  );
  return fixture;
}

const id = (key: string, name: string, cluster = 'east') =>
  encodeObjectId({ cluster, key, namespace: key === widgets ? 'default' : null, name });

test('an object by its id, typed by its kind', async () => {
  const { query } = await world();
  const text =
    'query ($id: ID!) { object(id: $id) { __typename id metadata { name } ... on ExampleComWidget { spec { total } } } }';
  const found = await query(text, { id: id(widgets, 'w3') });
  expect(found.data.object).toEqual({
    __typename: 'ExampleComWidget',
    id: id(widgets, 'w3'),
    metadata: { name: 'w3' },
    spec: { total: 3 },
  });
  expect((await query(text, { id: id(widgets, 'gone') })).data.object).toBeNull();
  expect((await query(text, { id: id('pods', 'unserved') })).data.object).toBeNull();
  expect((await query(text, { id: id(gadgets, 'g') })).errors[0]?.originalError).toMatchObject({
    code: 'CACHE_NOT_READY',
  });
  expect((await query(text, { id: 'x' })).errors[0]?.originalError).toMatchObject({ code: 'BAD_USER_INPUT' });
});

test('an object of a cluster that is not there any more is gone, not about to come', async () => {
  const { query } = await world();
  const { data, errors } = await query('query ($id: ID!) { object(id: $id) { id } }', {
    id: id(widgets, 'w1', 'away'),
  });
  expect(errors).toEqual([]);
  expect(data.object).toBeNull();
});

test('objects by ids, in their order, and a kind that is not ready costs its own places only', async () => {
  const { query, sync, statements } = await world();
  const ids = [id(widgets, 'w3'), id(gadgets, 'g'), id(widgets, 'gone'), id(widgets, 'w1')];
  const text = 'query ($ids: [ID!]!) { objectsById(ids: $ids) { metadata { name } } }';
  const early = await query(text, { ids });
  expect(early.data.objectsById).toEqual([{ metadata: { name: 'w3' } }, null, null, { metadata: { name: 'w1' } }]);
  expect(early.errors).toMatchObject([{ path: ['objectsById', 1], originalError: { code: 'CACHE_NOT_READY' } }]);
  await sync(gadgets, [made({ name: 'g', namespace: null })]);
  statements.length = 0;
  const late = await query(text, { ids });
  expect(late.errors).toEqual([]);
  expect(late.data.objectsById[1]).toEqual({ metadata: { name: 'g' } });
  expect(statements.filter(({ sql }) => sql.includes('JOIN object AS o'))).toHaveLength(1);
  expect((await query(text, { ids: [] })).data.objectsById).toEqual([]);
  const many = await query(text, { ids: [...ids, ...ids] });
  expect(many.errors[0]?.originalError).toMatchObject({
    code: 'BAD_USER_INPUT',
    message: expect.stringContaining('at most 4'),
  });
});

test('several kinds are one list, ordered and paged as one', async () => {
  const { query, sync } = await world();
  await sync(
    gadgets,
    [2, 4].map((total) => made({ name: `g${total}`, namespace: null, spec: { total } })),
  );
  const text = `query ($kinds: [String!]!, $after: String) {
    objects(kinds: $kinds, first: 3, after: $after, orderBy: [{ path: "spec.total", direction: DESC }]) {
      nodes { metadata { name } ... on ExampleComGadget { spec { total } } } pageInfo { endCursor hasNextPage } totalCount } }`;
  for (const kinds of [
    ['ExampleComWidget', 'ExampleComGadget'],
    ['exampleComWidgets', 'gadgets.example.com'],
    ['Widget', 'Gadget', 'Widget'],
  ]) {
    const first = (await query(text, { kinds })).data.objects;
    expect(first).toMatchObject({ totalCount: 4, pageInfo: { hasNextPage: true } });
    expect(first.nodes.map((node: { metadata: { name: string } }) => node.metadata.name)).toEqual(['g4', 'w3', 'g2']);
    expect(first.nodes[0].spec).toEqual({ total: 4 });
    const second = (await query(text, { kinds, after: first.pageInfo.endCursor })).data.objects;
    expect(second.nodes).toMatchObject([{ metadata: { name: 'w1' } }]);
  }
  const filtered = await query(
    '{ objects(kinds: ["Widget", "Gadget"], filter: { metadata: { name: { endsWith: "3" } } }) { totalCount } }',
  );
  expect(filtered.data.objects.totalCount).toBe(1);
});

test.each([
  ['no kind', [], '', /name at least one/],
  ['a kind that is not there', ['Wodget'], '', /There is no kind "Wodget"/],
  ['an order of two types', ['Widget', 'Gadget'], ', orderBy: [{ path: "spec.replicas" }]', /different types/],
  ['an order that one kind does not have', ['Widget', 'Gadget'], ', orderBy: [{ path: "spec.paused" }]', /paused/],
])('%s is refused', async (_what, kinds, args, message) => {
  const { query, sync } = await world();
  await sync(gadgets, []);
  const { errors } = await query(`query ($kinds: [String!]!) { objects(kinds: $kinds${args}) { totalCount } }`, {
    kinds,
  });
  expect(errors[0]?.originalError).toMatchObject({ code: 'BAD_USER_INPUT', message: expect.stringMatching(message) });
});

test('of several kinds, one that has not been synced is refused', async () => {
  const { query } = await world();
  const { errors } = await query('{ objects(kinds: ["Widget", "Gadget"]) { totalCount } }');
  expect(errors[0]?.originalError).toMatchObject({ code: 'CACHE_NOT_READY', details: { resources: [gadgets] } });
});
