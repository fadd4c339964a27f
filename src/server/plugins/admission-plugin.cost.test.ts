import { expect, test } from 'vitest';
import { engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { widget, widgets } from '../../../test/kit/graphql-world.ts';
import { codeOf } from '../../base/errors.ts';
import { silentLogger } from '../../base/log.ts';
import { createYogaServer } from '../graphql/yoga-server.ts';

async function world(limits: { readonly maxCost?: number; readonly maxReadBytes?: number } = {}) {
  const fixture = engineFixture({ maxPageSize: 100, ...limits });
  await fixture.declare(widget());
  const objects = [...'abcde'].map((name) => made({ name, spec: { name: name.repeat(1000), tags: ['x'] } }));
  await fixture.sync(widgets, objects);
  const yoga = createYogaServer({ source: fixture.engine.source, log: silentLogger });
  return async (query: string, variables: Readonly<Record<string, unknown>> = {}, accept = 'application/json') => {
    const response = await yoga.fetch('http://127.0.0.1/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify({ query, variables }),
    });
    const answer = (await response.json()) as {
      data?: unknown;
      errors?: { message: string; extensions: Record<string, unknown> }[];
      extensions?: { portolan: { cost: unknown } };
    };
    return { ...answer, status: response.status, cost: answer.extensions?.portolan.cost, error: answer.errors?.[0] };
  };
}

test('what was asked and what was answered stands beside the answer', async () => {
  const ask = await world();
  const { cost, error } = await ask('{ exampleComWidgets(first: 10) { nodes { metadata { name } } totalCount } }');
  expect(error).toBeUndefined();
  // The list, 10 × (a node, metadata and name), the count.
  expect(cost).toEqual({ asked: 1 + 10 * (1 + 2) + 50, allowed: 500_000, spent: 5 * 3 });
});

test('what a list has once is counted once, however large its page is', async () => {
  const ask = await world();
  const aggregate =
    'aggregate { count groups(by: ["status.phase"], first: 10) { keys aggregate { sum(path: "spec.replicas") { text } } } }';
  const once = await ask(`{ exampleComWidgets(first: 100) { ${aggregate} } }`);
  // The list, its aggregate, the count, the groups, 10 × (keys, aggregate, sum and text).
  expect(once.cost).toMatchObject({ asked: 1 + 1 + 50 + 1 + 10 * (1 + 1 + 100 + 1) });
  const fragment = await ask(
    `{ exampleComWidgets(first: 100) { ...A } } fragment A on ExampleComWidgetConnection { ${aggregate} nodes { id } }`,
  );
  expect(fragment.cost).toMatchObject({ asked: 1 + 1 + 50 + 1 + 10 * (1 + 1 + 100 + 1) + 100 * (1 + 1) });
});

test('the owners of the owners of a default page are affordable', async () => {
  const ask = await world();
  const owners = 'owners { nodes { kind owners { nodes { kind metadata { name } } } } }';
  const { cost, error } = await ask(`{ exampleComWidgets { nodes { ${owners} } } }`);
  expect(error).toBeUndefined();
  // The list, 50 × (a node, its owners, 10 × (an owner, its kind, its owners, 10 × (an owner, kind, metadata, name))).
  expect(cost).toMatchObject({ asked: 1 + 50 * (1 + 1 + 10 * (1 + 1 + 1 + 10 * 4)), allowed: 500_000 });
});

test('fields of introspection count, in fragments too', async () => {
  const ask = await world();
  // __schema and types, then name and kind.
  const plain = await ask('{ __schema { types { name kind } } }');
  expect(plain.cost).toMatchObject({ asked: 4 });
  const fragments = await ask(
    '{ __schema { ... { types { ...T } } } } fragment T on __Type { name ... on __Type { kind } }',
  );
  expect(fragments.cost).toMatchObject({ asked: 4 });
});

test('the lists of kinds in the namespaces of the viewer count', async () => {
  const ask = await world();
  const { cost, error } = await ask('{ viewer { namespaces(first: 10) { name kinds(first: 40) } } }');
  expect(error).toBeUndefined();
  // The viewer, its namespaces, 10 × (the name, the list of kinds and 40 kinds).
  expect(cost).toMatchObject({ asked: 1 + 50 + 10 * (1 + 1 + 40) });
  const byDefault = await ask('{ viewer { namespaces { kinds } } }');
  expect(byDefault.cost).toMatchObject({ asked: 1 + 50 + 100 * (1 + 20) });
});

test.each<[string, string, Readonly<Record<string, unknown>>]>([
  ['a page size', '{ exampleComWidgets(first: 100) { nodes { raw } } }', {}],
  ['a variable', 'query ($n: Int) { exampleComWidgets(first: $n) { nodes { raw } } }', { n: 100 }],
  [
    'lists in lists',
    '{ exampleComWidgets(first: 20) { nodes { owned(first: 30) { nodes { owned(first: 30) { nodes { id } } } } } } }',
    {},
  ],
  [
    'aliases',
    `{ ${Array.from({ length: 30 }, (_, index) => `a${index}: exampleComWidgets(first: 50) { nodes { id } }`).join(' ')} }`,
    {},
  ],
  [
    'a fragment',
    'query { exampleComWidgets(first: 100) { nodes { ...F } } } fragment F on KubernetesObject { raw }',
    {},
  ],
  ['a page beyond the largest', '{ exampleComWidgets(first: 2147483647) { nodes { raw } } }', {}],
  [
    'a subscription',
    'subscription { exampleComWidgetChanges { changes { object { owned(first: 100) { nodes { raw } } } } } }',
    {},
  ],
])('%s that could give too much is refused before anything is read', async (_what, query, variables) => {
  const ask = await world({ maxCost: 1000 });
  const { data, error } = await ask(query, variables);
  expect(data ?? null).toBeNull();
  expect(error?.extensions).toMatchObject({ code: 'QUERY_TOO_COSTLY', asked: expect.any(Number) });
  expect(error?.message).toMatch(/could give \d+ values.*; at most (1000|20000) are allowed/);
});

test.each([
  ['full pages', '{ exampleComWidgets(first: 100) { nodes { raw owners { nodes { id } } } } }', 1000],
  [
    'full lists inside objects',
    '{ exampleComWidgets(first: 20) { nodes { owned(first: 30) { nodes { owned(first: 50) { nodes { id } } } } } } }',
    20_000,
  ],
])('the message, its details and the cost of the answer have the same numbers: %s', async (_what, query, allowed) => {
  const ask = await world({ maxCost: 1000 });
  const { error, cost } = await ask(query);
  const [asked, limit] = [...(error?.message ?? '').matchAll(/\d+/g)].map(Number);
  expect(limit).toBe(allowed);
  expect(error?.extensions).toEqual({ code: 'QUERY_TOO_COSTLY', asked, allowed });
  expect(cost).toEqual({ asked, allowed, spent: 0 });
});

test('lists inside objects are charged by the objects that they have', async () => {
  const fixture = engineFixture({ maxCost: 1000 });
  await fixture.declare(widget());
  const children = Array.from({ length: 40 }, (_, index) => made({ name: `child-${index}`, owner: { uid: 'parent' } }));
  await fixture.sync(widgets, [made({ name: 'parent', uid: 'parent' }), made({ name: 'single' }), ...children]);
  const owned = (names: string) =>
    fixture.query(`{ exampleComWidgets(first: 10, filter: { metadata: { name: { in: ${names} } } }) { nodes {
      metadata { name } owned(first: 30) { nodes { raw } } } } }`);
  const single = await owned('["single"]');
  expect(single.errors).toEqual([]);
  const { errors } = await owned('["parent", "single"]');
  expect(codeOf(errors[0]?.originalError)).toBe('QUERY_TOO_COSTLY');
  expect(errors[0]?.message).toMatch(/give \d+ values and more; at most 1000 are allowed/);
});

test('objects that several parents share are charged for each of them', async () => {
  const fixture = engineFixture({ maxCost: 1000 });
  await fixture.declare(widget());
  const children = Array.from({ length: 20 }, (_, index) => made({ name: `child-${index}`, owner: { uid: 'parent' } }));
  await fixture.sync(widgets, [made({ name: 'parent', uid: 'parent' }), ...children]);
  const { errors } = await fixture.query(
    '{ exampleComWidgets(first: 20) { nodes { owners(first: 1) { nodes { owned(first: 20) { nodes { raw } } } } } } }',
  );
  expect(codeOf(errors[0]?.originalError)).toBe('QUERY_TOO_COSTLY');
});

test('owners are charged by their page, and a page without objects not at all', async () => {
  const fixture = engineFixture({ maxCost: 200 });
  await fixture.declare(widget());
  const parents = Array.from({ length: 40 }, (_, index) => made({ name: `p-${index}`, uid: `p-${index}` }));
  const ownerReferences = parents.map(({ metadata }) => ({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    ...(metadata as object),
  }));
  await fixture.sync(widgets, [...parents, made({ name: 'child', metadata: { ownerReferences } })]);
  const only = 'filter: { metadata: { name: { eq: "child" } } }';
  const owners = await fixture.query(
    `{ exampleComWidgets(first: 1, ${only}) { nodes { owners(first: 1) { nodes { raw } } } } }`,
  );
  expect(owners.errors).toEqual([]);
  expect(owners.operation.cost.spent).toBeLessThan(100);
  const info = await fixture.query('{ exampleComWidgets(first: 100) { pageInfo { endCursor } } }');
  expect(info.errors).toEqual([]);
  expect(info.operation.cost.spent).toBe(0);
});

test('counts inside inner lists are charged with their objects', async () => {
  const fixture = engineFixture({ maxCost: 1000 });
  await fixture.declare(widget());
  const children = Array.from({ length: 30 }, (_, index) => made({ name: `child-${index}`, owner: { uid: 'parent' } }));
  await fixture.sync(widgets, [made({ name: 'parent', uid: 'parent' }), ...children]);
  const { errors } = await fixture.query(
    '{ exampleComWidgets(first: 1, filter: { metadata: { name: { eq: "parent" } } }) { nodes { owned(first: 30) { nodes { owned { totalCount } } } } } }',
  );
  expect(codeOf(errors[0]?.originalError)).toBe('QUERY_TOO_COSTLY');
});

test('each object of a subscription may cost as much as it was admitted with', async () => {
  const fixture = engineFixture({ maxCost: 1000 });
  await fixture.declare(widget());
  const children = Array.from({ length: 10 }, (_, index) => made({ name: `child-${index}`, owner: { uid: 'parent' } }));
  const parents = Array.from({ length: 30 }, (_, index) => made({ name: `leaf-${index}` }));
  await fixture.sync(widgets, [made({ name: 'parent', uid: 'parent' }), ...children, ...parents]);
  const events = await fixture.subscribe(
    'subscription { exampleComWidgetChanges { changes { object { owners { nodes { raw } } owned(first: 10) { nodes { raw } } } } } }',
  );
  const { value } = await events.next();
  expect(value?.errors).toBeUndefined();
});

test('the same document is judged anew with other variables', async () => {
  const ask = await world({ maxCost: 1000 });
  const query = 'query ($n: Int) { exampleComWidgets(first: $n) { nodes { raw } } }';
  expect((await ask(query, { n: 5 })).error).toBeUndefined();
  expect((await ask(query, { n: 100 })).error?.extensions['code']).toBe('QUERY_TOO_COSTLY');
});

test('fragments that spread each other many times are counted at once', async () => {
  const ask = await world();
  const fragments = Array.from(
    { length: 60 },
    (_, index) => `fragment F${index} on ExampleComWidget { ...F${index + 1} ...F${index + 1} }`,
  );
  const { error } = await ask(
    `{ exampleComWidgets { nodes { ...F0 } } } ${fragments.join(' ')} fragment F60 on ExampleComWidget { id }`,
  );
  expect(error?.extensions['code']).toBe('QUERY_TOO_COSTLY');
  const ofList = fragments.map((text) => text.replace('on ExampleComWidget ', 'on ExampleComWidgetConnection '));
  const lists = await ask(
    `{ exampleComWidgets { ...F0 } } ${ofList.join(' ')} fragment F60 on ExampleComWidgetConnection { totalCount }`,
  );
  expect(lists.error?.extensions['code']).toBe('QUERY_TOO_COSTLY');
});

test('objects that are larger than one operation may read are refused', async () => {
  const ask = await world({ maxReadBytes: 3000 });
  expect((await ask('{ exampleComWidgets(first: 1) { nodes { spec { name } } } }')).error).toBeUndefined();
  const { error } = await ask('{ exampleComWidgets { nodes { spec { name } } } }');
  expect(error?.extensions).toMatchObject({ code: 'QUERY_TOO_COSTLY', allowed: 3000 });
});

test('a refused operation has no data, and the status that its media type asks for', async () => {
  const ask = await world({ maxCost: 1000 });
  const query = '{ exampleComWidgets(first: 100) { nodes { raw } } }';
  expect((await ask(query)).status).toBe(200);
  const { status, error } = await ask(query, {}, 'application/graphql-response+json');
  expect(status).toBe(400);
  expect(error?.extensions).toEqual({ code: 'QUERY_TOO_COSTLY', asked: expect.any(Number), allowed: 1000 });
});

/** The answer to a page of widgets whose spec has fields of these names, all of them selected. */
async function answerWith(names: readonly string[], first: number): Promise<unknown> {
  const fixture = engineFixture();
  const spec = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) };
  await fixture.declare(widget('east', { spec }));
  await fixture.sync(widgets, [
    made({ name: 'a', spec: Object.fromEntries(names.map((name) => [name, `its ${name}`])) }),
  ]);
  const yoga = createYogaServer({ source: fixture.engine.source, log: silentLogger });
  const response = await yoga.fetch('http://127.0.0.1/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      query: `{ exampleComWidgets(first: ${first}) { nodes { spec { ${names.join(' ')} } } } }`,
    }),
  });
  return response.json();
}

test.each([
  ['as our own dear fields are', ['resources', 'count', 'max', 'raw', 'totalCount']],
  ['as members of every JavaScript object are', ['constructor', 'toString']],
])('fields of the data cost one each, called %s', async (_how, names) => {
  expect(await answerWith(names, 2)).toMatchObject({
    data: {
      exampleComWidgets: { nodes: [{ spec: Object.fromEntries(names.map((name) => [name, `its ${name}`])) }] },
    },
    extensions: { portolan: { cost: { asked: 1 + 2 * (1 + 1 + names.length) } } },
  });
});
