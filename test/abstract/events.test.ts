/** `events` of an object of an abstract kind has the Events of the object that it is made from, to whoever may see both. */
import { expect, test } from 'vitest';
import { fixedRights } from '../../src/access/rights.ts';
import { allRows, noRows, type Scopes, unrestricted } from '../../src/access/scope.ts';
import { codeOf } from '../../src/base/errors.ts';
import { readAbstractKinds } from '../../src/catalog/abstract/read-abstract-kinds.ts';
import { deriving } from '../kit/deriving.ts';
import { engineFixture, made, type Schema } from '../kit/engine-fixture.ts';
import { eventually } from '../kit/eventually.ts';
import { gadgets, widgets } from '../kit/graphql-world.ts';
import { eventsKey, worldResources } from '../kit/scoped-world.ts';

const event = (name: string, kind: string, of: string, minute: number): Schema =>
  made({
    name,
    involvedObject: { kind, apiVersion: 'example.com/v1', name: of, namespace: 'default' },
    message: name,
    lastTimestamp: `2026-03-01T00:0${minute}:00Z`,
  });

async function world(scopes: () => Scopes) {
  const fixture = engineFixture({ engine: { rights: fixedRights(scopes) } });
  await fixture.declare(...worldResources().filter(({ cluster }) => cluster === 'east'));
  await fixture.sync(widgets, [
    made({ name: 'app', uid: 'u-app' }),
    made({ name: 'part', uid: 'u-part', owner: { uid: 'u-app' } }),
  ]);
  await fixture.sync(gadgets, [made({ name: 'app', namespace: null })]);
  await fixture.sync(eventsKey, [
    event('one', 'Widget', 'app', 1),
    event('two', 'Widget', 'app', 2),
    event('of-part', 'Widget', 'part', 3),
    // An object of an abstract kind has no Events of its own.
    event('of-thing', 'Thing', 'app', 4),
  ]);
  const { kinds } = readAbstractKinds({
    abstractKinds: [
      {
        name: 'things',
        columns: { label: 'String' },
        members: [{ resource: widgets, columns: { label: { value: 'widget' } } }, { resource: gadgets }],
      },
    ],
  });
  // Reads the references of objects, which relations need.
  while (fixture.writer().maintain());
  deriving(fixture, kinds);
  await eventually(async () => {
    await fixture.engine.refreshCatalog();
    const { data, errors } = await fixture.query('{ things { totalCount } }');
    expect([data?.things?.totalCount, errors]).toEqual([3, []]);
  });
  return fixture;
}

const shown = (args: string) =>
  `events${args} { totalCount nodes { message } edges { via } pageInfo { hasNextPage endCursor } aggregate { groups(by: ["message"]) { keys } } }`;

test.each([
  ['', ['one', 'two']],
  ['(includeOwned: true)', ['of-part', 'two', 'one']],
  ['(includeOwned: true, first: 2)', ['of-part', 'two']],
  ['(orderBy: [{ path: "message", direction: DESC }], first: 1)', ['two']],
  ['(filter: { message: { eq: "two" } })', ['two']],
])('events%s has those of the object', async (args, messages) => {
  const { query } = await world(() => unrestricted);
  const { data, errors } = await query(
    `{ thing(namespace: "default", name: "app", member: "${widgets}") { ${shown(args)} object { ... on ExampleComWidget { ${shown(args)} } } } }`,
  );
  expect(errors).toEqual([]);
  const { events, object } = data.thing;
  expect(events.nodes.map(({ message }: { message: string }) => message)).toEqual(messages);
  expect(events).toEqual(object.events);
});

test('the Events of a list are those of each object, in as many reads as of one object', async () => {
  const { query, statements } = await world(() => unrestricted);
  const { data, errors } = await query(
    '{ things(orderBy: [{ path: "member" }, { path: "metadata.name" }]) { nodes { member metadata { name } events { totalCount } } } }',
  );
  expect(errors).toEqual([]);
  expect(data.things.nodes).toEqual([
    { member: gadgets, metadata: { name: 'app' }, events: { totalCount: 0 } },
    { member: widgets, metadata: { name: 'app' }, events: { totalCount: 2 } },
    { member: widgets, metadata: { name: 'part' }, events: { totalCount: 1 } },
  ]);
  const reads = async (first: number): Promise<number> => {
    statements.length = 0;
    const answer = await query(
      `{ things(first: ${first}, filter: { member: { eq: "${widgets}" } }) { nodes { events { totalCount nodes { message } } } } }`,
    );
    expect(answer.data.things.nodes).toHaveLength(first);
    return statements.length;
  };
  expect(await reads(2)).toBe(await reads(1));
});

test.each([['events'], ['events(includeOwned: true)']])(
  '%s needs the rights to the Events and to the object',
  async (field) => {
    let scopes: Scopes = unrestricted;
    const { query } = await world(() => scopes);
    const ask = async () => {
      const { data, errors } = await query(
        `{ things(filter: { member: { eq: "${widgets}" }, metadata: { name: { eq: "app" } } }) { nodes { found: ${field} { nodes { message } } object { ... on ExampleComWidget { found: ${field} { nodes { message } } } } } } }`,
      );
      return { thing: data.things.nodes[0], codes: errors.map((error) => codeOf(error.originalError)) };
    };
    const all = await ask();
    expect([all.thing.found, all.codes]).toEqual([all.thing.object.found, []]);
    expect(all.thing.found.nodes.length).toBeGreaterThan(1);
    scopes = { id: 'no events', of: (key) => (key === eventsKey ? noRows : allRows) };
    const without = await ask();
    expect(without.thing.found).toEqual(without.thing.object.found);
    expect(JSON.stringify(without)).not.toContain('one');
    scopes = { id: 'no get', of: (key, access) => (key === widgets && access === 'get' ? noRows : allRows) };
    const hidden = await ask();
    expect(hidden).toEqual({ thing: { found: null, object: null }, codes: ['FORBIDDEN', 'FORBIDDEN'] });
  },
);

test('events of an object that is gone since are null', async () => {
  const { query, apply } = await world(() => unrestricted);
  apply(widgets, 'DELETED', made({ name: 'app', uid: 'u-app' }));
  await eventually(async () => {
    const { data, errors } = await query(
      '{ changes(since: "-1h", kinds: ["Thing"], first: 9) { nodes { type before { ... on Thing { events { totalCount } } } } } }',
    );
    expect(errors).toEqual([]);
    expect(data.changes.nodes[0]).toEqual({ type: 'DELETED', before: { events: null } });
  });
});
