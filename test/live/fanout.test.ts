/**
 * Many subscribers of one document, over real WebSockets: each gets every change once, a client that does not read costs bounded memory,
 * and subscribers share a result only if it is the same for all of them.
 */
import { queryObjects } from 'node:v8';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { type Caller, localUser } from '../../src/access/caller.ts';
import { fixedRights, type Rights } from '../../src/access/rights.ts';
import { allRows, noRows, type Scope, type Scopes, scopeText } from '../../src/access/scope.ts';
import { silentLogger } from '../../src/base/log.ts';
import { must } from '../../src/base/must.ts';
import { Delivery } from '../../src/graphql/generation/shared-results.ts';
import { startServer } from '../../src/server/http-server.ts';
import { SocketEvents } from '../../src/server/websocket/socket-events.ts';
import type { WriterOptions } from '../../src/store/write/writer-options.ts';
import { FollowedList } from '../kit/consistency/followed-list.ts';
import { type ChannelEvents, openChannel, type Result } from '../kit/consistency/live-channel.ts';
import { LiveClient } from '../kit/consistency/live-client.ts';
import type { Shown } from '../kit/consistency/watched-objects.ts';
import { engineFixture, made } from '../kit/engine-fixture.ts';
import { gadgets, widgets } from '../kit/graphql-world.ts';
import { worldResources } from '../kit/scoped-world.ts';
import { userOf } from '../kit/user.ts';

const executions = vi.hoisted(() => ({ count: 0 }));
vi.mock('graphql', async (original) => {
  const graphql = await original<typeof import('graphql')>();
  return {
    ...graphql,
    executeSubscriptionEvent: (...args: Parameters<typeof graphql.executeSubscriptionEvent>) => {
      executions.count += 1;
      return graphql.executeSubscriptionEvent(...args);
    },
  };
});

interface Change {
  readonly type: string;
  readonly reason: string | null;
  readonly object: (Shown & { readonly gadget?: object | null; readonly viewerCan?: boolean | null }) | null;
}

/** Keeps every change besides the fold, which checks the protocol. */
class Follower extends FollowedList {
  readonly changes: Change[] = [];
  readonly phases: string[] = [];

  override take(result: Result): void {
    super.take(result);
    const message = (result.data as { changes: { phase: string; changes: readonly Change[] } } | null)?.changes;
    this.phases.push(message?.phase ?? 'refused');
    this.changes.push(...(message?.changes ?? []));
  }

  get names(): readonly string[] {
    return [...this.held.byId.values()].map(({ metadata }) => metadata.name).sort();
  }
}

const only = (...namespaces: readonly string[]): Scope => ({
  rows: 'some',
  clusters: new Map([['east', { namespaces: new Set(namespaces), names: new Map() }]]),
});
const named = (...names: readonly string[]): Scope => ({
  rows: 'some',
  clusters: new Map([['east', { namespaces: new Set(), names: new Map([['', new Set(names)]]) }]]),
});

const plain = 'id kind metadata { namespace name resourceVersion }';
const document = (object: string): string => `subscription ($filter: ExampleComWidgetFilter, $since: String) {
  changes: exampleComWidgetChanges(filter: $filter, since: $since) {
    phase reset cursor totalCount removedIds changes { type id reason object { ${object} } }
  }
}`;

interface WorldOptions {
  readonly writer?: WriterOptions;
  readonly allows?: Rights['allows'];
}

async function world({ writer, allows }: WorldOptions = {}) {
  /** What a user may see of each kind; everything by default. */
  const visible = new Map<string, Readonly<Record<string, Scope>>>();
  const scopesOf = ({ name }: Caller): Scopes => {
    const scopes = visible.get(name) ?? {};
    const of = (key: string): Scope => scopes[key] ?? allRows;
    return {
      id: Object.entries(scopes)
        .map(([key, scope]) => `${key} ${scopeText(scope)}`)
        .join(),
      of,
    };
  };
  const rights = { ...fixedRights(scopesOf), ...(allows === undefined ? {} : { allows }) };
  const fixture = engineFixture({ engine: { rights }, ...(writer === undefined ? {} : { writer }) });
  const resources = worldResources().filter(({ cluster }) => cluster === 'east');
  await fixture.declare(...resources);
  for (const { resource } of resources) {
    await fixture.sync(resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`, []);
  }
  const callers = new Map<string, Caller>();
  const connected = vi.spyOn(WebSocketServer.prototype, 'emit');
  onTestFinished(() => connected.mockRestore());
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: fixture.engine.source,
    authenticate: ({ connectionParams }) => {
      const name = String(connectionParams?.['authorization']).replace('Bearer ', '');
      const caller = callers.get(name) ?? { ...localUser, name, user: userOf(name) };
      callers.set(name, caller);
      return caller;
    },
    callerBounds: {
      requests: 1000,
      costPerMinute: 1e12,
      subscriptions: 1000,
      connections: 1000,
      logs: 200,
      logBytes: 1e9,
    },
    readiness: () => ({ ready: true }),
    tabs: [],
    log: silentLogger,
  });
  onTestFinished(() => server.close());
  const broken: unknown[] = [];
  onTestFinished(() => expect(broken).toEqual([]));
  return {
    fixture,
    server,
    /** @param isTold false leaves the subscriptions to find out at their next message */
    see(user: string, scopes: Readonly<Record<string, Scope>>, isTold = true): void {
      visible.set(user, scopes);
      if (isTold) fixture.engine.interrupt();
    },
    put(name: string, rest: object = {}, namespace = 'n0'): void {
      fixture.apply(widgets, 'MODIFIED', made({ name, namespace, ...rest }));
    },
    remove(name: string, namespace = 'n0'): void {
      fixture.apply(widgets, 'DELETED', made({ name, namespace }));
    },
    /** A client with so many subscriptions to the document. */
    follow(user: string, query: string, count = 1) {
      const question = { query, filter: null, kinds: ['Widget'], selection: 'narrow', matches: () => true } as const;
      const followed = Array.from({ length: count }, () => new Follower(user, question));
      const client = new LiveClient({
        url: server.url,
        user,
        token: user,
        transport: 'websocket',
        followed,
        broken: (error) => void broken.push(error),
      });
      onTestFinished(() => client.stop());
      return { client, lists: followed };
    },
    /** The sockets of the server, in the order of their connections. */
    sockets(): readonly WebSocket[] {
      return connected.mock.calls.flatMap(([name, socket]) =>
        name === 'connection' && socket instanceof WebSocket ? [socket] : [],
      );
    },
  };
}

const patience = { timeout: 20_000 };
const synced = (lists: readonly Follower[]): Promise<void> =>
  expect.poll(() => lists.every(({ held }) => held.whole), patience).toBe(true);
const turn = (milliseconds = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

test('each of many subscribers gets every change once, also those that read slowly [L2]', async () => {
  const { put, remove, follow } = await world();
  for (let index = 0; index < 150; index += 1) put(`first-${index}`);
  const clients = Array.from({ length: 20 }, () => follow('all', document(plain), 2));
  const lists = clients.flatMap((each) => each.lists);
  await synced(lists);
  const slow = clients.slice(0, 4);
  for (let index = 0; index < 300; index += 1) {
    put(`name-${index}`, { spec: { name: 'x'.repeat(5000) } });
    if (index % 3 === 0) remove(`name-${index}`);
    if (index % 20 === 0) for (const { client } of slow) client.isPaused ? client.resume() : client.pause();
    if (index % 7 === 0) await turn(1);
  }
  for (const { client } of slow) client.resume();
  put('last');
  await expect.poll(() => lists.every(({ names }) => names.includes('last')), patience).toBe(true);
  for (const { names, changes, phases } of lists) {
    expect(names).toEqual(must(lists[lists.length - 1], 'a list').names);
    expect(phases).not.toContain('GAP');
    const added = changes.flatMap(({ type, object }) => (type === 'ADDED' ? [object?.metadata.name] : []));
    expect(added.length).toBe(new Set(added).size);
    // A subscriber may never see an object that was removed at once; every other object comes once.
    expect(added.filter((name) => !name?.startsWith('first')).length).toBeGreaterThanOrEqual(201);
    expect(added.filter((name) => name?.startsWith('first')).length).toBe(150);
  }
});

test.each([
  ['gets what it missed', undefined],
  ['gets GAP, and a snapshot', { changeLog: { maxBytes: 6 * 2 ** 20 } }],
] as const)(
  'a client that stops reading costs bounded memory, and then %s [L8]',
  { timeout: 120_000 },
  async (what, writer) => {
    const { put, follow, sockets } = await world(writer === undefined ? {} : { writer });
    const body = (): object => ({ spec: { name: 'x'.repeat(20_000) } });
    for (const name of ['a', 'b']) put(name, body());
    const query = document(`${plain} spec { name }`);
    const stopped = follow('all', query, 3);
    await synced(stopped.lists);
    const others = Array.from({ length: 3 }, () => follow('all', query, 3));
    const reading = others.flatMap(({ lists }) => lists);
    await synced(reading);
    const socket = must(sockets()[0], 'the socket of the client that stops');
    stopped.client.pause();
    const largest = 2 * 20_000 + 1000;
    const bound = 64 * 1024 + 4 * largest;
    let most = 0;
    for (let index = 0; index < 1200; index += 1) {
      put(index % 2 === 0 ? 'a' : 'b', body());
      await turn();
      most = Math.max(most, socket.bufferedAmount);
    }
    put('c');
    await expect.poll(() => reading.every(({ names }) => names.includes('c')), patience).toBe(true);
    expect(most).toBeGreaterThan(64 * 1024);
    expect(most).toBeLessThan(bound);
    expect(stopped.lists.every(({ names }) => !names.includes('c'))).toBe(true);
    for (const { phases } of reading) expect(phases).not.toContain('GAP');
    stopped.client.resume();
    await expect
      .poll(() => stopped.lists.every(({ names, held }) => held.whole && names.includes('c')), patience)
      .toBe(true);
    for (const { lines, phases } of stopped.lists) {
      expect(lines).toEqual(must(reading[0], 'a list').lines);
      expect(phases.includes('GAP')).toBe(what.includes('GAP'));
    }
  },
);

test.each([
  ['at once', true],
  ['with the next change', false],
])(
  'a subscriber who learns %s that rights ended gets NO_LONGER_VISIBLE and nothing more, and others go on',
  async (_when, isTold) => {
    const { put, remove, follow, see } = await world();
    see('alice', { [widgets]: only('n0', 'n1') });
    see('bob', { [widgets]: only('n0', 'n1') });
    for (const namespace of ['n0', 'n1', 'n2']) for (const name of ['a', 'b']) put(name, {}, namespace);
    const [alice, bob] = [follow('alice', document(plain), 2), follow('bob', document(plain), 2)];
    const lists = [...alice.lists, ...bob.lists];
    await synced(lists);
    const shown = ({ changes }: Follower): readonly unknown[] =>
      changes.map(({ type, reason, object }) => [type, reason, object?.metadata.namespace, object?.metadata.name]);
    for (const list of lists) list.changes.length = 0;
    see('alice', { [widgets]: only('n0') }, isTold);
    put('a', {}, 'n1');
    await expect
      .poll(() => alice.lists.map(({ names }) => names), patience)
      .toEqual([
        ['a', 'b'],
        ['a', 'b'],
      ]);
    put('b', {}, 'n1');
    put('c', {}, 'n1');
    await expect.poll(() => bob.lists.every(({ names }) => names.includes('c')), patience).toBe(true);
    remove('a', 'n1');
    put('d', {}, 'n0');
    await expect.poll(() => lists.every(({ names }) => names.includes('d')), patience).toBe(true);
    const hidden = ['REMOVED', 'NO_LONGER_VISIBLE', undefined, undefined];
    for (const list of alice.lists) {
      expect(shown(list)).toEqual([hidden, hidden, ['ADDED', null, 'n0', 'd']]);
      expect(list.held.byId.size).toBe(3);
    }
    for (const list of bob.lists) {
      expect(list.held.byId.size).toBe(5);
      expect(shown(list)).toContainEqual(['ADDED', null, 'n1', 'c']);
      expect(list.hidden).toBe(0);
    }
  },
);

test('callers who see the same objects but other related ones get their own results of one document', async () => {
  const { fixture, put, remove, follow, see } = await world();
  await fixture.sync(
    gadgets,
    ['g1', 'g2'].map((name) => made({ name, namespace: null })),
  );
  see('alice', { [gadgets]: named('g1') });
  see('bob', { [gadgets]: named('g2') });
  see('carol', { [gadgets]: noRows });
  put('before', { spec: { name: 'g1' } });
  const query = document(`${plain} gadget { metadata { name } }`);
  const users = ['alice', 'bob', 'carol', 'all'];
  const clients = users.map((user) => ({ user, ...follow(user, query, 3) }));
  await synced(clients.flatMap(({ lists }) => lists));
  for (let round = 0; round < 5; round += 1) {
    // A message of removed objects alone is the same for all.
    remove('one');
    await turn(round);
    put('one', { spec: { name: 'g1' } });
    if (round % 2 === 0) await turn(5);
    put('two', { spec: { name: 'g2' } });
    await turn(5);
  }
  put('last');
  await expect.poll(() => clients.every(({ lists }) => lists.every(({ names }) => names.includes('last')))).toBe(true);
  const seen = { alice: ['g1'], bob: ['g2'], carol: [], all: ['g1', 'g2'] } as Readonly<Record<string, string[]>>;
  for (const { user, lists } of clients) {
    for (const { changes } of lists) {
      for (const { object } of changes) {
        if (object === null || object.metadata.name === 'last') continue;
        const wanted = object.metadata.name === 'two' ? 'g2' : 'g1';
        const expected = seen[user]?.includes(wanted) === true ? { metadata: { name: wanted } } : null;
        // A relation is read when the message is made. An object that is gone by then has none.
        if (object.metadata.name === 'one' && object.gadget === null) continue;
        expect([user, object.gadget]).toEqual([user, expected]);
      }
    }
  }
});

test('viewerCan in a subscription is that of each caller', async () => {
  const { put, follow } = await world({ allows: async ({ name }) => name === 'alice' });
  put('a');
  const query = document(`${plain} viewerCan(verb: "delete")`);
  const clients = ['alice', 'bob'].map((user) => ({ user, ...follow(user, query, 2) }));
  await synced(clients.flatMap(({ lists }) => lists));
  for (const name of ['b', 'c', 'd']) {
    put(name);
    await turn(5);
  }
  await expect.poll(() => clients.every(({ lists }) => lists.every(({ names }) => names.includes('d')))).toBe(true);
  for (const { user, lists } of clients) {
    for (const { changes } of lists) {
      expect(changes.map(({ object }) => object?.viewerCan)).toEqual([1, 2, 3, 4].map(() => user === 'alice'));
    }
  }
});

test('a change is executed once for all callers of a document without relations, and for each caller with one', async () => {
  const { put, follow, see } = await world();
  see('alice', { [gadgets]: named('g1') });
  const users = ['alice', 'bob', 'carol'];
  const object = `${plain} yaml`;
  const lists = users.flatMap((user) => [1, 2, 3].flatMap(() => follow(user, document(object), 2).lists));
  await synced(lists);
  executions.count = 0;
  for (let change = 1; change <= 5; change += 1) {
    put(`name-${change}`);
    await expect.poll(() => lists.every(({ names }) => names.includes(`name-${change}`)), patience).toBe(true);
    expect(executions.count).toBe(change);
  }
  const related = users.flatMap((user) => follow(user, document(`${plain} gadget { id }`)).lists);
  await synced(related);
  executions.count = 0;
  put('related');
  await expect.poll(() => [...lists, ...related].every(({ names }) => names.includes('related')), patience).toBe(true);
  expect(executions.count).toBeGreaterThanOrEqual(1 + users.length);
});

test('complete from the client stops the messages of its id, and of no other', async () => {
  const { put, server } = await world();
  const next = new Map<string, string[]>();
  const events: ChannelEvents = {
    opened() {
      for (const id of ['kept', 'ended', 'also kept']) channel.send({ id, query: document(plain), variables: {} });
    },
    next(id, result) {
      next.set(id, [...(next.get(id) ?? []), JSON.stringify(result)]);
    },
    over: () => {},
    closed: () => {},
  };
  const channel = openChannel('websocket', server.url, 'all', events);
  onTestFinished(() => channel.drop());
  const has = (id: string, text: string): boolean => next.get(id)?.some((each) => each.includes(text)) === true;
  await expect.poll(() => [...next.values()].filter((results) => results.join().includes('SYNCED')).length).toBe(3);
  put('before');
  await expect.poll(() => ['kept', 'ended', 'also kept'].every((id) => has(id, 'before'))).toBe(true);
  channel.complete('ended');
  // The server answers in order, so it has taken `complete` when it answers.
  channel.send({ id: 'asked', query: '{ __typename }', variables: {} });
  await expect.poll(() => next.has('asked')).toBe(true);
  const received = next.get('ended')?.length;
  for (let index = 0; index < 5; index += 1) {
    put(`after-${index}`);
    await turn(2);
  }
  await expect.poll(() => has('kept', 'after-4') && has('also kept', 'after-4')).toBe(true);
  expect(next.get('ended')?.length).toBe(received);
});

/** How many objects of a class are in memory after a garbage collection. */
const inMemory = (type: abstract new (...given: never) => unknown): number => queryObjects(type as never) as never;

test('nothing of a subscription stays in memory when its client has gone, while others of its document go on [L12]', async () => {
  const { put, follow } = await world();
  const first = follow('all', document(plain));
  await synced(first.lists);
  const second = follow('all', document(plain));
  const another = follow('all', document('id kind metadata { namespace name resourceVersion uid }'));
  await synced([...second.lists, ...another.lists]);
  put('a');
  const hear = (lists: readonly Follower[], name: string): Promise<void> =>
    expect.poll(() => lists.every(({ names }) => names.includes(name)), patience).toBe(true);
  await hear([...first.lists, ...second.lists, ...another.lists], 'a');
  expect([inMemory(Delivery), inMemory(SocketEvents)]).toEqual([2, 3]);
  await first.client.stop();
  await expect.poll(() => [inMemory(Delivery), inMemory(SocketEvents)], patience).toEqual([2, 2]);
  put('b');
  await hear([...second.lists, ...another.lists], 'b');
  await Promise.all([second.client.stop(), another.client.stop()]);
  await expect.poll(() => [inMemory(Delivery), inMemory(SocketEvents)], patience).toEqual([0, 0]);
});
