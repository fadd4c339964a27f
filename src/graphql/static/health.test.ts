import { expect, test } from 'vitest';
import { engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../../../test/kit/graphql-world.ts';
import { codeOf, messageOf } from '../../base/errors.ts';

/** A widget with a condition, such as `Ready=False Waiting`. */
function conditioned(name: string, text: string, namespace = 'default') {
  const [, type, status, reason] = /^(\w+)=(\w+) ?(\w*)$/.exec(text) ?? [];
  return made({ name, namespace, status: { conditions: [{ type, status, ...(reason === '' ? {} : { reason }) }] } });
}

async function world() {
  const fixture = engineFixture();
  await fixture.declare(widget(), gadget(), widget('west'));
  await fixture.sync(widgets, [
    conditioned('a', 'Ready=True'),
    conditioned('b', 'Ready=False Waiting'),
    conditioned('c', 'Stalled=True Broken', 'other'),
    made({ name: 'd', namespace: 'other' }),
  ]);
  await fixture.sync(gadgets, [made({ name: 'g', namespace: null })]);
  await fixture.sync(widgets, [conditioned('a', 'Ready=False Other')], 'west');
  return fixture;
}

test('each object has a health', async () => {
  const { query } = await world();
  const { data, errors } = await query(
    '{ exampleComWidgets(filter: { clusters: ["east"] }) { nodes { metadata { name } health { status reason } } } objects(kinds: ["ExampleComGadget"]) { nodes { health { status reason } } } }',
  );
  expect(errors).toEqual([]);
  expect(data.exampleComWidgets.nodes).toEqual([
    { metadata: { name: 'a' }, health: { status: 'Current', reason: null } },
    { metadata: { name: 'b' }, health: { status: 'InProgress', reason: 'Waiting' } },
    { metadata: { name: 'c' }, health: { status: 'Failed', reason: 'Broken' } },
    { metadata: { name: 'd' }, health: { status: 'Current', reason: null } },
  ]);
  expect(data.objects.nodes).toEqual([{ health: { status: 'Current', reason: null } }]);
});

test('filters, orders, groups and facets take the health', async () => {
  const { query } = await world();
  const { data, errors } = await query(`{
    failed: exampleComWidgets(filter: { health: { status: { eq: Failed } } }) { nodes { metadata { name } } }
    unwell: exampleComWidgets(filter: { health: { status: { notIn: [Current] }, reason: { startsWith: "W" } } }) { nodes { cluster metadata { name } } }
    byPath: exampleComWidgets(filter: { path: [{ path: "health.status", ne: "Current" }] }, orderBy: [{ path: "health.reason", direction: DESC }]) {
      nodes { health { reason } }
    }
    any: objects(kinds: ["*"], filter: { health: { reason: { exists: true } } }) { totalCount }
    exampleComWidgets {
      aggregate { groups(by: ["cluster", "health.status"]) { keys aggregate { count } } }
      facets(paths: ["health.status"]) { values { value count } }
    }
  }`);
  expect(errors).toEqual([]);
  expect(data.failed.nodes).toEqual([{ metadata: { name: 'c' } }]);
  expect(data.unwell.nodes).toEqual([{ cluster: 'east', metadata: { name: 'b' } }]);
  expect(data.byPath.nodes.map(({ health }: { health: { reason: string } }) => health.reason)).toEqual([
    'Waiting',
    'Other',
    'Broken',
  ]);
  expect(data.any.totalCount).toBe(3);
  expect(data.exampleComWidgets.aggregate.groups).toEqual([
    { keys: ['east', 'Current'], aggregate: { count: 2 } },
    { keys: ['east', 'Failed'], aggregate: { count: 1 } },
    { keys: ['east', 'InProgress'], aggregate: { count: 1 } },
    { keys: ['west', 'InProgress'], aggregate: { count: 1 } },
  ]);
  expect(data.exampleComWidgets.facets).toEqual([
    {
      values: [
        { value: 'Current', count: 2 },
        { value: 'InProgress', count: 2 },
        { value: 'Failed', count: 1 },
      ],
    },
  ]);
});

test('a filter by the status takes variables', async () => {
  const { query } = await world();
  const { data } = await query(
    'query ($filter: ExampleComWidgetFilter) { exampleComWidgets(filter: $filter) { totalCount } }',
    { filter: { health: { status: { in: ['Failed', 'InProgress'] } } } },
  );
  expect(data.exampleComWidgets.totalCount).toBe(3);
});

test('an object that becomes well leaves a live list of objects that are not', async () => {
  const { subscribe, apply } = await world();
  const events =
    await subscribe(`subscription { list: exampleComWidgetChanges(filter: { health: { status: { eq: InProgress } }, namespaces: ["default"], clusters: ["east"] }) {
    phase changes { type reason object { metadata { name } health { status reason } } } } }`);
  const next = async () => JSON.parse(JSON.stringify((await events.next()).value)).data.list;
  expect(await next()).toEqual({
    phase: 'SNAPSHOT',
    changes: [
      {
        type: 'ADDED',
        reason: null,
        object: { metadata: { name: 'b' }, health: { status: 'InProgress', reason: 'Waiting' } },
      },
    ],
  });
  expect(await next()).toMatchObject({ phase: 'SYNCED' });
  apply(widgets, 'MODIFIED', conditioned('b', 'Ready=True'));
  expect(await next()).toMatchObject({ phase: 'LIVE', changes: [{ type: 'REMOVED', reason: 'NO_LONGER_MATCHES' }] });
});

test('a path into the health that does not exist is refused with what does', async () => {
  const { query } = await world();
  const { errors } = await query('{ exampleComWidgets(orderBy: [{ path: "health.colour" }]) { nodes { id } } }');
  const [error] = errors;
  expect(codeOf(error?.originalError)).toBe('BAD_USER_INPUT');
  expect(messageOf(error?.originalError)).toContain('use health.status, health.reason, health.message');
});

test('a field whose name begins with health is no part of it', async () => {
  const fixture = engineFixture();
  const check = { type: 'object', properties: { status: { type: 'string' } } };
  await fixture.declare(widget('east', { 'health-check': check, health: check }));
  await fixture.sync(widgets, [made({ name: 'a', 'health-check': { status: 'x' } })]);
  const list = (path: string) =>
    `{ exampleComWidgets(orderBy: [{ path: "${path}" }]) { nodes { value(path: "${path}") } } }`;
  const { data, errors } = await fixture.query(list('health-check.status'));
  expect(errors).toEqual([]);
  expect(data.exampleComWidgets.nodes).toEqual([{ value: 'x' }]);
  const refused = await fixture.query('{ exampleComWidgets { nodes { value(path: "health.score") } } }');
  expect(codeOf(refused.errors[0]?.originalError)).toBe('BAD_USER_INPUT');
});

test('a field of the data called health keeps its values', async () => {
  const fixture = engineFixture();
  const health = { type: 'object', properties: { status: { type: 'string' } } };
  await fixture.declare(widget('east', { health }));
  await fixture.sync(widgets, [
    made({ name: 'a', health: { status: 'green' } }),
    made({ name: 'b', health: { status: 'red' } }),
  ]);
  const { data, errors } = await fixture.query(`{
    fields: exampleComWidgets { nodes { health { status } health_ { status } value(path: "[\\"health\\"].status") } }
    filter: exampleComWidgets(filter: { health_: { status: { eq: "red" } } }) { totalCount }
    path: exampleComWidgets(filter: { path: [{ path: "[\\"health\\"].status", eq: "green" }] }, orderBy: [{ path: "[\\"health\\"].status" }]) {
      nodes { metadata { name } } } }`);
  expect(errors).toEqual([]);
  expect(data).toEqual({
    fields: {
      nodes: [
        { health: { status: 'Current' }, health_: { status: 'green' }, value: 'green' },
        { health: { status: 'Current' }, health_: { status: 'red' }, value: 'red' },
      ],
    },
    filter: { totalCount: 1 },
    path: { nodes: [{ metadata: { name: 'a' } }] },
  });
});

test('resources are counted by namespace and health, with one statement', async () => {
  const fixture = await world();
  const { query, apply, statements } = fixture;
  const text = `{ resources { key cluster counts { namespace health objects } } }`;
  const before = statements.length;
  const { data, errors } = await query(text);
  expect(errors).toEqual([]);
  expect(data.resources).toEqual([
    { key: gadgets, cluster: 'east', counts: [{ namespace: null, health: 'Current', objects: 1 }] },
    {
      key: widgets,
      cluster: 'east',
      counts: [
        { namespace: 'default', health: 'Current', objects: 1 },
        { namespace: 'default', health: 'InProgress', objects: 1 },
        { namespace: 'other', health: 'Current', objects: 1 },
        { namespace: 'other', health: 'Failed', objects: 1 },
      ],
    },
    { key: widgets, cluster: 'west', counts: [{ namespace: 'default', health: 'InProgress', objects: 1 }] },
  ]);
  expect(statements.slice(before).filter(({ sql }) => sql.includes('object_count'))).toHaveLength(1);

  apply(widgets, 'DELETED', conditioned('c', 'Stalled=True Broken', 'other'));
  apply(widgets, 'MODIFIED', conditioned('b', 'Ready=True'));
  const grouped = await query(`{ resources(kinds: ["Widget"], clusters: ["east"]) {
    byHealth: counts(by: [HEALTH]) { namespace health objects } byNamespace: counts(by: [NAMESPACE]) { namespace health objects }
    all: counts(by: []) { objects } one: counts(by: [], namespaces: ["other", "none"]) { objects } } }`);
  expect(grouped.data.resources).toEqual([
    {
      byHealth: [{ namespace: null, health: 'Current', objects: 3 }],
      byNamespace: [
        { namespace: 'default', health: null, objects: 2 },
        { namespace: 'other', health: null, objects: 1 },
      ],
      all: [{ objects: 3 }],
      one: [{ objects: 1 }],
    },
  ]);
});
