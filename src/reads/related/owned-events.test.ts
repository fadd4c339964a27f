import { describe, expect, test } from 'vitest';
import { Dice } from '../../../test/fuzz/dice.ts';
import { made, type Schema } from '../../../test/kit/engine-fixture.ts';
import { widgets } from '../../../test/kit/graphql-world.ts';
import {
  eventsKey,
  idOf,
  isSeen,
  type PlacedObject,
  randomObjects,
  randomScopes,
  type ScopedStore,
  scopedStore,
  worldNames,
} from '../../../test/kit/scoped-world.ts';
import { type Scopes, unrestricted } from '../../access/scope.ts';
import { orderKey } from '../../catalog/values/values.ts';
import { compareIdentity } from '../../query/plan/identity-order.ts';

const cluster = 'east';
const namespace = 'n0';

function placed(key: string, name: string, rest: Schema): PlacedObject {
  return { cluster, key, namespace, name, object: made({ name, namespace, ...rest }) };
}

const owned = (name: string, by: string | null, rest: Schema = {}): PlacedObject =>
  placed(widgets, name, { uid: `u-${name}`, ...(by === null ? {} : { owner: { uid: `u-${by}` } }), ...rest });

const about = (of: string, name: string, rest: Schema = {}): PlacedObject =>
  placed(eventsKey, name, {
    involvedObject: { kind: 'Widget', apiVersion: 'example.com/v1', name: of, namespace },
    message: name,
    ...rest,
  });

const at = (minute: number): string => `2026-03-01T00:${String(minute).padStart(2, '0')}:00Z`;

/** `app` owns `web`, and `web` owns `pod`. */
async function applications(more: readonly PlacedObject[] = []): Promise<ScopedStore> {
  const store = await scopedStore();
  await store.fill([
    ...[owned('app', null), owned('web', 'app'), owned('pod', 'web'), owned('alone', null)],
    about('app', 'last', { lastTimestamp: at(1), eventTime: at(50), series: { lastObservedTime: at(50) } }),
    about('pod', 'series', { lastTimestamp: null, series: { lastObservedTime: at(4) }, eventTime: at(50) }),
    about('web', 'time', { eventTime: '2026-03-01T00:03:00.000001Z' }),
    about('pod', 'created', { metadata: { creationTimestamp: at(2) } }),
    about('alone', 'other', { lastTimestamp: at(9) }),
    ...more,
  ]);
  return store;
}

const messages = ({ nodes }: { nodes: { message: string }[] }): string => nodes.map(({ message }) => message).join(' ');

async function eventsOf({ pair }: ScopedStore, args: string, selection = 'totalCount nodes { message }') {
  const { data, errors } = await pair.fixture.query(
    `{ exampleComWidget(cluster: "east", namespace: "n0", name: "app") { events${args} { ${selection} } } }`,
  );
  return { events: data?.exampleComWidget?.events, errors };
}

describe('events(includeOwned: true)', () => {
  test('has the Events about what the object owns, newest first by their one time', async () => {
    const store = await applications();
    const { events } = await eventsOf(store, '(includeOwned: true)');
    expect(messages(events)).toBe('series time created last');
    expect(events.totalCount).toBe(4);
    for (const args of ['', '(includeOwned: false)', '(includeOwned: null)']) {
      expect(messages((await eventsOf(store, args)).events)).toBe('last');
    }
  });

  test('takes a filter, a limit of the count, and groups', async () => {
    const store = await applications();
    const selection =
      'totalCount few: totalCount(limit: 1) edges { via node { message } } aggregate { count groups(by: ["message"]) { keys } }';
    const { events, errors } = await eventsOf(
      store,
      '(includeOwned: true, first: 1, filter: { message: { in: ["created", "last", "other"] } })',
      selection,
    );
    expect(errors).toEqual([]);
    expect(events).toEqual({
      ...{ totalCount: 2, few: 1 },
      edges: [{ via: ['involvedObject.name'], node: { message: 'created' } }],
      aggregate: { count: 2, groups: [{ keys: ['created'] }, { keys: ['last'] }] },
    });
  });

  test.each([
    ['an order', 'orderBy: [{ path: "message" }]', /leave out orderBy/],
    [
      'a cursor of another list',
      `after: "${Buffer.from('[1,"x",[],"","",null,""]').toString('base64url')}"`,
      /another list/,
    ],
    ['a negative page', 'first: -1', /0 or more/],
  ])('refuses %s', async (_what, args, message) => {
    const { errors } = await eventsOf(await applications(), `(includeOwned: true, ${args})`);
    expect(errors[0]?.originalError).toMatchObject({ code: 'BAD_USER_INPUT', message: expect.stringMatching(message) });
  });

  test('reads the trees of all objects of a page in one statement', async () => {
    const { pair } = await applications();
    const { statements } = pair.fixture;
    statements.length = 0;
    const { errors } = await pair.fixture.query(
      '{ exampleComWidgets { nodes { events(includeOwned: true) { totalCount nodes { message } } } } }',
    );
    expect(errors).toEqual([]);
    expect(statements.filter(({ sql }) => sql.includes('RECURSIVE'))).toHaveLength(1);
  });

  test('is left to the executor by a server with prepared answers, also by a variable', async () => {
    const { pair } = await applications();
    const query =
      'query ($all: Boolean) { exampleComWidgets(filter: { metadata: { name: { eq: "app" } } }) { nodes { events(includeOwned: $all) { nodes { message } } } } }';
    for (const [all, expected] of [
      [false, 'last'],
      [true, 'series time created last'],
    ]) {
      for (const { text } of await pair.ask(JSON.stringify({ query, variables: { all } }))) {
        expect(messages(JSON.parse(text).data.exampleComWidgets.nodes[0].events)).toBe(expected);
      }
    }
  });
});

/** The object, owned by a widget of its namespace. */
function ownedBySome(dice: Dice, each: PlacedObject): PlacedObject {
  const { metadata, ...rest } = each.object as { readonly metadata: Schema };
  const uid = `u-${each.cluster}-${widgets}-${each.namespace}-${dice.pick(worldNames)}`;
  const ownerReferences = [{ apiVersion: 'example.com/v1', kind: 'Widget', name: 'o', uid }];
  return { ...each, object: { ...rest, metadata: { ...metadata, ownerReferences } } };
}

/** Objects of {@link randomObjects} with more owners, and with Events at various times. */
function timedObjects(dice: Dice): readonly PlacedObject[] {
  const time = (): string | null => dice.pick([null, at(dice.below(4)), `2026-03-01T00:01:00.00000${dice.below(3)}Z`]);
  const events = Array.from({ length: 12 }, (_, index): PlacedObject => {
    const place = { cluster: dice.pick(['east', 'west']), namespace: dice.pick(['n0', 'n1', 'n2']) };
    const involvedObject = {
      ...{
        kind: 'Widget',
        apiVersion: 'example.com/v1',
        name: dice.pick(['a', 'b', 'c', 'd']),
        namespace: place.namespace,
      },
    };
    const name = `t${index}`;
    const rest = { lastTimestamp: time(), series: dice.pick([{}, { lastObservedTime: time() }]), eventTime: time() };
    const object = made({ name, namespace: place.namespace, message: name, involvedObject, ...rest });
    return { ...place, key: eventsKey, name, object };
  });
  const objects = randomObjects(dice).map((each) =>
    each.key === widgets && dice.chance(0.7) ? ownedBySome(dice, each) : each,
  );
  return [...objects, ...events];
}

// biome-ignore lint/suspicious/noExplicitAny: the objects are those of the test.
type Body = any;

/** The ids of the Events about an object and what it owns, computed from all objects. */
function plainEvents(root: PlacedObject, objects: readonly PlacedObject[], scopes: Scopes): readonly string[] {
  const visible = objects.filter((each) => each.cluster === root.cluster && isSeen(scopes, each, 'list'));
  const bodyOf = ({ object }: PlacedObject): Body => object;
  const tree = new Set([root]);
  let level = [root];
  for (let depth = 1; depth <= 8; depth += 1) {
    level = level.flatMap((owner) =>
      visible.filter((each) => {
        const references: Body[] = bodyOf(each).metadata.ownerReferences ?? [];
        const isOwned = references.some(({ uid }) => uid === bodyOf(owner).metadata.uid);
        return isOwned && !tree.has(each) && (owner.namespace === null || owner.namespace === each.namespace);
      }),
    );
    for (const each of level) tree.add(each);
  }
  const timeOf = ({ object }: PlacedObject): bigint => {
    const { lastTimestamp, series, eventTime, metadata } = object as Body;
    const time = lastTimestamp ?? series?.lastObservedTime ?? eventTime ?? metadata.creationTimestamp;
    return orderKey('DateTime', time) as bigint;
  };
  return visible
    .filter((each) => {
      const { involvedObject: involved } = bodyOf(each);
      return (
        each.key === eventsKey &&
        [...tree].some(
          ({ key, name, namespace: of }) => key === widgets && name === involved.name && of === involved.namespace,
        )
      );
    })
    .toSorted((a, b) => Number(timeOf(b) - timeOf(a)) || compareIdentity(a, b))
    .map(idOf);
}

test('is what a plain computation over the visible objects gives, in pages too', { timeout: 300_000 }, async () => {
  const store = await scopedStore();
  const { fixture } = store.pair;
  let [whole, paged] = [0, 0];
  for (let seed = 1; seed <= 60; seed += 1) {
    const dice = new Dice(seed);
    const objects = timedObjects(dice);
    await store.fill(objects);
    store.scopes = dice.chance(0.3) ? unrestricted : randomScopes(dice, { same: true });
    const { scopes } = store;
    const roots = objects.filter((each) => each.key === widgets && isSeen(scopes, each, 'list'));
    const { data } = await fixture.query(
      '{ exampleComWidgets { nodes { id events(includeOwned: true, first: 100) { totalCount nodes { id } } } } }',
    );
    for (const root of roots) {
      const expected = plainEvents(root, objects, scopes);
      const { events } = data.exampleComWidgets.nodes.find(({ id }: { id: string }) => id === idOf(root));
      expect(events.nodes.map(({ id }: { id: string }) => id)).toEqual(expected);
      expect(events.totalCount).toBe(expected.length);
      whole += expected.length;
      if (expected.length < 3) continue;
      const found: string[] = [];
      for (let after: string | null = null, more = true; more; ) {
        const page: Body = await fixture.query(
          'query ($id: ID!, $after: String) { object(id: $id) { ... on ExampleComWidget { events(includeOwned: true, first: 2, after: $after) { totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage endCursor } } } } }',
          { id: idOf(root), after },
        );
        expect(page.errors).toEqual([]);
        const { nodes, pageInfo, totalCount } = page.data.object.events;
        expect([totalCount, pageInfo.hasPreviousPage]).toEqual([expected.length, after !== null]);
        found.push(...nodes.map(({ id }: { id: string }) => id));
        ({ endCursor: after, hasNextPage: more } = pageInfo);
      }
      expect(found).toEqual(expected);
      paged += 1;
    }
  }
  expect(whole).toBeGreaterThan(100);
  expect(paged).toBeGreaterThan(5);
});
