import { expect, test } from 'vitest';
import { engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../../../test/kit/graphql-world.ts';
import { decodeLiveCursor } from '../../live/log/live-cursor.ts';

async function world() {
  const fixture = engineFixture({ maxPageSize: 10 });
  await fixture.declare(widget(), gadget(), widget('west'));
  const sizes = [3, 1, 2, 5, 4];
  await fixture.sync(
    widgets,
    sizes.map((replicas) =>
      made({ name: `w${replicas}`, spec: { replicas, total: replicas * 10, name: `w${replicas}` } }),
    ),
  );
  return fixture;
}

type World = Awaited<ReturnType<typeof world>>;

async function page({ query }: World, args: string) {
  const { data, errors } = await query(`{ list: exampleComWidgets(${args}) {
    nodes { metadata { name } } edges { cursor node { metadata { name } } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`);
  if (errors[0] !== undefined) throw errors[0].originalError ?? errors[0];
  const { nodes, edges, pageInfo } = data.list;
  expect(edges.map((edge: { node: unknown }) => edge.node)).toEqual(nodes);
  expect(pageInfo.startCursor).toBe(edges[0]?.cursor ?? null);
  expect(pageInfo.endCursor).toBe(edges.at(-1)?.cursor ?? null);
  return { names: nodes.map((node: { metadata: { name: string } }) => node.metadata.name).join(' '), ...pageInfo };
}

const order = 'orderBy: [{ path: "spec.replicas", direction: DESC }]';

test('walks forward and backward through one order', async () => {
  const of = await world();
  const first = await page(of, `first: 2, ${order}`);
  expect(first).toMatchObject({ names: 'w5 w4', hasNextPage: true, hasPreviousPage: false });
  const second = await page(of, `first: 2, after: "${first.endCursor}", ${order}`);
  expect(second).toMatchObject({ names: 'w3 w2', hasNextPage: true, hasPreviousPage: true });
  const third = await page(of, `first: 2, after: "${second.endCursor}", ${order}`);
  expect(third).toMatchObject({ names: 'w1', hasNextPage: false });
  expect(await page(of, `last: 2, before: "${third.startCursor}", ${order}`)).toMatchObject({
    names: 'w3 w2',
    hasPreviousPage: true,
  });
  expect(await page(of, `last: 2, ${order}`)).toMatchObject({
    names: 'w2 w1',
    hasPreviousPage: true,
    hasNextPage: false,
  });
});

test('reads a window between two cursors again', async () => {
  const of = await world();
  const { startCursor, endCursor } = await page(of, `first: 5, ${order}`);
  const window = `after: "${startCursor}", before: "${endCursor}", ${order}`;
  expect(await page(of, window)).toMatchObject({ names: 'w4 w3 w2', hasPreviousPage: true, hasNextPage: true });
  expect(await page(of, `first: 2, ${window}`)).toMatchObject({ names: 'w4 w3', hasNextPage: true });
  expect(await page(of, `first: 9, ${window}`)).toMatchObject({ names: 'w4 w3 w2', hasNextPage: false });
  expect(await page(of, `last: 2, ${window}`)).toMatchObject({ names: 'w3 w2', hasPreviousPage: true });
  expect(await page(of, `first: 9, before: "${endCursor}", ${order}`)).toMatchObject({ names: 'w5 w4 w3 w2' });
  expect(await page(of, `last: 9, after: "${startCursor}", ${order}`)).toMatchObject({ names: 'w4 w3 w2 w1' });
  // The other way round, there is nothing between them.
  expect(await page(of, `after: "${endCursor}", before: "${startCursor}", ${order}`)).toMatchObject({ names: '' });
});

test('first: 0 tells whether there is anything', async () => {
  const of = await world();
  expect(await page(of, 'first: 0')).toMatchObject({ names: '', hasNextPage: true, startCursor: null });
  expect(await page(of, 'first: 0, filter: { spec: { replicas: { gt: 9 } } }')).toMatchObject({ hasNextPage: false });
});

test.each([
  ['both directions', 'first: 1, last: 1', /cannot be combined/],
  [
    'a second cursor that is none',
    'after: "WzEsIkZpMzNNVHloQVpqcyIsWzFdLCJlYXN0Iiwid2lkZ2V0cyIsImEiLCJiIl0", before: "y"',
    /not a cursor/,
  ],
  [
    'cursors of another list',
    'after: "WzEsIkZpMzNNVHloQVpqcyIsWzFdLCJlYXN0Iiwid2lkZ2V0cyIsImEiLCJiIl0", before: "WzEsIkZpMzNNVHloQVpqcyIsWzFdLCJlYXN0Iiwid2lkZ2V0cyIsImEiLCJiIl0"',
    /belongs to another list/,
  ],
  ['a negative page', 'first: -1', /must be 0 or more/],
  ['too large a page', 'first: 11', /at most 10/],
  ['a cursor that is none', 'after: "x"', /not a cursor/],
  ['an order by a list', 'orderBy: [{ path: "spec.ports" }]', /spec\.ports\[\] goes through its elements/],
  ['an order by an object', 'orderBy: [{ path: "spec.template" }]', /is a object|is an object/],
  ['an order by what is not there', 'orderBy: [{ path: "spec.replcas" }]', /replicas/],
])('%s is refused', async (_what, args, message) => {
  await expect(page(await world(), args)).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
    message: expect.stringMatching(message),
  });
});

test('a cursor of another order is refused', async () => {
  const of = await world();
  const { endCursor } = await page(of, `first: 1, ${order}`);
  await expect(page(of, `first: 1, after: "${endCursor}"`)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
});

test('counts, to a limit, and says where a subscription goes on', async () => {
  const { query, writer } = await world();
  const { data, operation } = await query(
    '{ list: exampleComWidgets(first: 1) { totalCount few: totalCount(limit: 3) changesCursor } }',
  );
  expect(data.list).toMatchObject({ totalCount: 5, few: 3 });
  expect(decodeLiveCursor(data.list.changesCursor)).toEqual({ epoch: writer().epoch, sequence: writer().revision() });
  expect(operation.extensions()).toMatchObject({ revision: writer().revision() });
});

test('everything in an answer is true at one revision, and readiness is asked once for a list', async () => {
  const { query, statements } = await world();
  statements.length = 0;
  await query('{ exampleComWidgets { nodes { id } totalCount changesCursor pageInfo { hasNextPage } } }');
  expect(statements.filter(({ sql }) => sql.includes('min(r.synced)'))).toHaveLength(1);
});

test('a kind that is not synced is refused, with the others answered', async () => {
  const { query } = await world();
  const { data, errors } = await query('{ exampleComGadgets { totalCount } exampleComWidgets { totalCount } }');
  expect(data).toEqual({ exampleComGadgets: null, exampleComWidgets: { totalCount: 5 } });
  expect(errors.map(({ originalError }) => originalError)).toMatchObject([
    { code: 'CACHE_NOT_READY', details: { resources: [gadgets] } },
  ]);
});

test('what one of two clusters has not synced is told beside the answer', async () => {
  const { query, sync } = await world();
  const ask = (filter: string) => query(`{ exampleComWidgets${filter} { totalCount } }`);
  const partly = await ask('');
  expect(partly.data.exampleComWidgets.totalCount).toBe(5);
  expect(partly.operation.extensions()['notReady']).toEqual([{ cluster: 'west', key: widgets }]);
  expect((await ask('(filter: { clusters: ["east"] })')).operation.extensions()).not.toHaveProperty('notReady');
  expect((await ask('(filter: { clusters: ["west"] })')).errors[0]?.originalError).toMatchObject({
    code: 'CACHE_NOT_READY',
  });
  await sync(widgets, [made({ name: 'w' })], 'west');
  const whole = await ask('');
  expect(whole.data.exampleComWidgets.totalCount).toBe(6);
  expect(whole.operation.extensions()).not.toHaveProperty('notReady');
});

test('a cluster that does not serve the kind has nothing of it, whether or not others are synced', async () => {
  const { query } = await world();
  const { data, errors } = await query(
    '{ exampleComGadgets(filter: { clusters: ["west"] }) { totalCount nodes { id } } }',
  );
  expect(errors).toEqual([]);
  expect(data.exampleComGadgets).toEqual({ totalCount: 0, nodes: [] });
});

test('one object by name', async () => {
  const { query, sync } = await world();
  await sync(gadgets, [made({ name: 'g', namespace: null })]);
  const one = (args: string) => query(`{ one: exampleComWidget(${args}) { metadata { name } cluster } }`);
  expect((await one('namespace: "default", name: "w1", cluster: "east"')).data.one).toEqual({
    metadata: { name: 'w1' },
    cluster: 'east',
  });
  expect((await one('namespace: "other", name: "w1", cluster: "east"')).data.one).toBeNull();
  expect(
    (await query('{ exampleComGadget(name: "g") { kind metadata { namespace } } }')).data.exampleComGadget,
  ).toEqual({
    kind: 'Gadget',
    metadata: { namespace: null },
  });
  const errors = async (args: string) => (await one(args)).errors.map(({ originalError }) => originalError);
  expect(await errors('namespace: "default", name: "w1"')).toMatchObject([
    { code: 'BAD_USER_INPUT', message: expect.stringContaining('east, west') },
  ]);
  expect(await errors('namespace: "default", name: "w1", cluster: "north"')).toMatchObject([
    { code: 'BAD_USER_INPUT' },
  ]);
  expect(await errors('namespace: "default", name: "w1", cluster: "west"')).toMatchObject([
    { code: 'CACHE_NOT_READY' },
  ]);
});
