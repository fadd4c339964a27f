/** Rights that an API server decides: SubjectAccessReviews of a server of the test, over a store. */
import { describe, expect, test } from 'vitest';
import type { Caller } from '../../src/access/caller.ts';
import { isVisible, type RowIdentity, type Scope, type Scopes } from '../../src/access/scope.ts';
import { AccessReviews } from '../../src/auth/rights/access-reviews.ts';
import { DeletedNamespaces } from '../../src/auth/rights/deleted-namespaces.ts';
import { type GrantedRights, ReviewedRights } from '../../src/auth/rights/reviewed-rights.ts';
import { RightsCheck } from '../../src/auth/rights/rights-check.ts';
import { systemClock } from '../../src/base/clock.ts';
import { codeOf } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/log.ts';
import { must } from '../../src/base/must.ts';
import { beginOperation } from '../../src/operation/operation.ts';
import { requireVisible, withSettledRights } from '../../src/operation/require-visible.ts';
import { engineFixture, made } from '../kit/engine-fixture.ts';
import { eventually } from '../kit/eventually.ts';
import { widget, widgets } from '../kit/graphql-world.ts';
import { ManualClock } from '../kit/manual-clock.ts';
import { type Asked, alice, reviewedAlice, server } from '../kit/reviewed-alice.ts';
import { describeSimulatedKinds } from '../kit/simulated-kinds.ts';
import { callerOf, userOf } from '../kit/user.ts';

async function world(allows: (asked: Asked) => boolean | 'down') {
  const { clock, asked, reviews, reviewed, rights } = reviewedAlice(allows);
  const fixture = engineFixture({ engine: { rights } });
  await fixture.declare(widget());
  await fixture.sync(widgets, [made({ name: 'x', namespace: 'a' }), made({ name: 'y', namespace: 'b' })]);
  /** As the admission does it: again after the reviews that the query has caused. */
  const query = async (text: string) => {
    for (let round = 0; ; round += 1) {
      const answer = await fixture.query(text);
      if (round === 4 || (await answer.operation.pendingRights()) !== true) return answer;
    }
  };
  const names = async (filter = ''): Promise<unknown> => {
    const { data, errors } = await query(`{ w: exampleComWidgets${filter} { nodes { metadata { name } } } }`);
    const [error] = errors;
    return error === undefined
      ? data.w.nodes.map((node: { metadata: { name: string } }) => node.metadata.name)
      : codeOf(error.originalError);
  };
  return { clock, asked, names, query, reviewed, reviews, fixture };
}

test('an operation that is executed once reads with the rights that its reads have asked for', async () => {
  const { fixture, asked } = await world(({ verb, namespace }) => verb === 'list' && namespace === 'a');
  const operation = beginOperation(fixture.engine.source, alice);
  const read = (namespace: string): Promise<void> =>
    operation.read(async (_lease, view) => requireVisible([view], [widgets], { kind: 'namespaces', in: [namespace] }));
  await expect(read('a')).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await expect(withSettledRights(operation, () => read('a'))).resolves.toBeUndefined();
  await expect(withSettledRights(operation, () => read('b'))).rejects.toMatchObject({ code: 'FORBIDDEN' });
  const before = asked.length;
  await expect(withSettledRights(operation, () => read('b'))).rejects.toMatchObject({ code: 'FORBIDDEN' });
  expect(asked.length).toBe(before);
  operation.end();
});

test('a right to the whole cluster shows all rows', async () => {
  const { names } = await world(({ namespace }) => namespace === '');
  expect(await names()).toEqual(['x', 'y']);
});

test('a right to a namespace counts once a filter has named the namespace', async () => {
  const { names, asked } = await world(({ verb, namespace }) => verb === 'list' && namespace === 'a');
  expect(await names()).toBe('FORBIDDEN');
  expect(await names('(filter: { namespaces: ["b"] })')).toBe('FORBIDDEN');
  expect(await names('(filter: { namespaces: ["nowhere"] })')).toBe('FORBIDDEN');
  expect(await names('(filter: { namespaces: ["a", "b"] })')).toEqual(['x']);
  expect(await names()).toEqual(['x']);
  const before = asked.length;
  expect(await names('(filter: { namespaces: ["a", "b"] })')).toEqual(['x']);
  expect(asked.length).toBe(before);
});

test.each(['a commit of its own', 'a relist'])(
  'what was allowed in a namespace ends with the namespace: %s',
  async (how) => {
    let allowed = true;
    const { names, asked, reviews, fixture, clock } = await world(
      ({ namespace }) => allowed && ['a', 'b'].includes(namespace),
    );
    const described = await describeSimulatedKinds({ objects: 'empty' });
    const namespaces = must(
      described.find(({ resource }) => resource.plural === 'namespaces'),
      'namespaces',
    );
    await fixture.declare(widget(), { ...namespaces, cluster: 'east' });
    const [a, b] = ['a', 'b'].map((name) => made({ name, namespace: null }));
    await fixture.sync(
      'namespaces',
      [a, b].flatMap((each) => each ?? []),
    );
    let lost = 0;
    const deleted = new DeletedNamespaces({
      reader: fixture.reader,
      log: silentLogger,
      gone: (cluster, namespace) => reviews.namespaceDeleted(cluster, namespace),
      lost: () => {
        lost += 1;
        reviews.rolesChanged();
      },
    });
    fixture.writer().onCommit((commit) => deleted.wake(commit));
    deleted.wake();
    const both = '(filter: { namespaces: ["a", "b"] })';
    expect(await names(both)).toEqual(['x', 'y']);
    fixture.apply(widgets, 'MODIFIED', made({ name: 'x', namespace: 'a', spec: { total: 2 } }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const before = asked.length;
    expect(await names(both)).toEqual(['x', 'y']);
    expect([asked.length, lost]).toEqual([before, 0]);
    // The namespace goes, and another one with the same name is not open to the caller.
    allowed = false;
    clock.advance(1);
    if (how === 'a relist')
      await fixture.sync(
        'namespaces',
        [b].flatMap((each) => each ?? []),
      );
    else if (a !== undefined) fixture.apply('namespaces', 'DELETED', a);
    await eventually(async () => expect(await names(both)).toEqual(['y']));
    expect(asked.slice(before).every(({ namespace }) => namespace !== 'b')).toBe(true);
  },
);

test('one object is asked for by its name', async () => {
  const { query } = await world(({ verb, namespace, name }) => verb === 'get' && namespace === 'b' && name === 'y');
  const one = (namespace: string, name: string) =>
    query(`{ w: exampleComWidget(namespace: "${namespace}", name: "${name}") { metadata { name } } }`);
  expect((await one('b', 'y')).data.w).toEqual({ metadata: { name: 'y' } });
  expect(codeOf((await one('a', 'x')).errors[0]?.originalError)).toBe('FORBIDDEN');
});

test('a decision holds for a minute', async () => {
  let allowed = true;
  const { clock, names, asked } = await world(({ namespace }) => allowed && namespace === '');
  expect(await names()).toEqual(['x', 'y']);
  allowed = false;
  clock.advance(30_000);
  expect(await names()).toEqual(['x', 'y']);
  clock.advance(31_000);
  const before = asked.length;
  expect(await names()).toBe('FORBIDDEN');
  expect(asked.length).toBeGreaterThan(before);
});

test('a decision that expires between two looks is renewed before the answer', async () => {
  const { clock, names, reviews } = await world(({ namespace }) => namespace === '');
  // A decision that is made now holds for five seconds.
  reviews.rolesChanged();
  clock.advance(1000);
  expect(await names()).toEqual(['x', 'y']);
  clock.advance(4500);
  expect(await names()).toEqual(['x', 'y']);
  clock.advance(700);
  expect(await names()).toEqual(['x', 'y']);
});

test('without an answer of the API server nothing is visible, and it is asked again soon', async () => {
  let down = true;
  const { clock, names } = await world(() => (down ? 'down' : true));
  expect(await names()).toBe('FORBIDDEN');
  down = false;
  expect(await names()).toBe('FORBIDDEN');
  clock.advance(6000);
  expect(await names()).toEqual(['x', 'y']);
});

test.each<readonly [string, Scope]>([
  ['all rows', { rows: 'all' }],
  [
    'rows of both',
    {
      rows: 'some',
      clusters: new Map([
        ['home', 'all'],
        ['east', 'all'],
      ]),
    },
  ],
])('an alarm concerns its cluster alone, where the roles grant %s', async (_what, scope) => {
  const clock = { ...systemClock, sleep: async () => {} };
  const answering = (allowed: boolean) => ({ post: async <T>() => ({ status: { allowed } }) as T });
  const clients = new Map([
    ['home', answering(true)],
    ['east', answering(false)],
  ]);
  const reviews = new AccessReviews({ clients, clock, log: silentLogger });
  const check = new RightsCheck({ reviews, clock, log: silentLogger, alarm: () => {} });
  const scopes: Scopes = { id: 'granted', of: () => scope };
  const granted = { granted: () => scopes, allows: async () => true } as unknown as GrantedRights;
  const clusters = ['home', 'east'];
  const rights = new ReviewedRights({ granted, reviews, clock, check, clusters, served: Number.POSITIVE_INFINITY });
  const request = { ...{ verb: 'list', group: '', resource: 'pods' }, subresource: '', namespace: '', name: '' };
  const isAllowed = (cluster: string) => rights.allows(alice, cluster, request);
  expect(await isAllowed('east')).toBe(true);
  check.offer(
    userOf('alice'),
    () => ({ cluster: 'east', request }),
    () => true,
  );
  await eventually(() => expect(check.alarmed).toBe(true));
  expect(rights.now(alice)?.of('pods')).toEqual({ rows: 'some', clusters: new Map([['home', 'all']]) });
  expect(rights.now(alice)?.of('pods')).toBe(rights.now(alice)?.of('pods'));
  expect([await isAllowed('home'), await isAllowed('east')]).toEqual([true, false]);
  // Another cluster may come under the name.
  clusters.pop();
  rights.clustersChanged();
  expect(check.alarmed).toBe(false);
});

describe('a restricted caller', () => {
  const scoped = (scope: string) => callerOf('alice', ['devs'], { extra: { 'example.com/scopes': [scope] } });
  const request = { ...{ verb: 'list', group: '', resource: 'pods' }, subresource: '', namespace: '', name: '' };

  /** Roles that grant a scope to everybody, and an API server that decides by the scope of the extra. */
  function restricted(granted: Scope, allows: (scope: string, asked: Asked) => boolean) {
    const clock = new ManualClock();
    const asked: string[] = [];
    const client = {
      async post<T>(_path: string, body: unknown): Promise<T> {
        const { spec } = body as { spec: { extra: Record<string, string[]>; resourceAttributes: Asked } };
        const scope = spec.extra['example.com/scopes']?.[0] ?? '';
        const { verb, namespace, name } = spec.resourceAttributes;
        asked.push([scope, verb, namespace, name].join(' '));
        return { status: { allowed: allows(scope, spec.resourceAttributes) } } as T;
      },
    };
    const reviews = new AccessReviews({ clients: new Map([['east', client]]), clock, log: silentLogger });
    const check = new RightsCheck({ reviews, clock, log: silentLogger, alarm: () => expect.unreachable('no alarm') });
    const scopes: Scopes = { id: 'granted', of: () => granted };
    const roles = { granted: () => scopes, allows: async () => true } as unknown as GrantedRights;
    const rights = new ReviewedRights({ granted: roles, reviews, clock, check, clusters: ['east'], served: 1 });
    /** As operations do it: again while a review allows more. */
    const scopeOf = async (caller: Caller): Promise<Scope> => {
      for (;;) {
        const now = must(rights.now(caller), 'nothing has expired');
        const scope = now.of('pods');
        if ((await rights.pending(caller, now)) !== true) return scope;
      }
    };
    return { asked, rights, scopeOf };
  }

  const inA = { namespaces: new Set(['a']), names: new Map() };
  const parts: Scope = {
    rows: 'some',
    clusters: new Map([['east', { namespaces: new Set(['a', 'b']), names: new Map([['c', new Set(['x', 'y'])]]) }]]),
  };

  test('sees of what roles grant to all rows only what the API server allows', async () => {
    const { rights, scopeOf } = restricted({ rows: 'all' }, (scope) => scope === 'full');
    expect(await scopeOf(callerOf('alice', ['devs']))).toEqual({ rows: 'all' });
    expect(await scopeOf(scoped('full'))).toEqual({ rows: 'all' });
    expect(await scopeOf(scoped('none'))).toEqual({ rows: 'none' });
    expect(await rights.allows(scoped('none'), 'east', request)).toBe(false);
    expect(await rights.allows(scoped('full'), 'east', request)).toBe(true);
    expect(await rights.allows(callerOf('alice'), 'east', request)).toBe(true);
  });

  test('is asked about the namespaces and objects that roles grant, and sees those that are allowed', async () => {
    const { asked, scopeOf } = restricted(
      parts,
      (scope, { namespace, name }) => scope === 'a' && (namespace === 'a' || name === 'x'),
    );
    expect(await scopeOf(scoped('a'))).toEqual({
      rows: 'some',
      clusters: new Map([['east', { ...inA, names: new Map([['c', new Set(['x'])]]) }]]),
    });
    expect(asked).toEqual(['a list  ', 'a list a ', 'a list b ', 'a list c x', 'a list c y']);
    expect(await scopeOf(scoped('b'))).toEqual({ rows: 'none' });
    expect(asked.slice(5).every((each) => each.startsWith('b '))).toBe(true);
  });

  test('is not asked about parts where all is allowed', async () => {
    const { asked, scopeOf } = restricted(parts, () => true);
    expect(await scopeOf(scoped('full'))).toEqual({ rows: 'all' });
    expect(asked).toEqual(['full list  ']);
  });

  test('has a bound of the parts that are asked about', async () => {
    const namespaces = new Set(Array.from({ length: 5000 }, (_, index) => `ns-${index}`));
    const many: Scope = { rows: 'some', clusters: new Map([['east', { namespaces, names: new Map() }]]) };
    const { asked, scopeOf } = restricted(many, () => false);
    await scopeOf(scoped('none'));
    expect(asked).toHaveLength(51);
  });

  test('with extra of Kubernetes itself alone has what roles grant', async () => {
    const extra = { 'authentication.kubernetes.io/pod-name': ['web-0'] };
    const { asked, scopeOf } = restricted(parts, () => false);
    expect(await scopeOf(callerOf('robot', [], { extra }))).toEqual(parts);
    expect(asked.filter((each) => !each.endsWith(' list  ')).length).toBeLessThanOrEqual(1);
  });
});

describe('a caller who names thousands of objects', () => {
  const named = (name: string): RowIdentity => ({ cluster: 'east', key: 'pods', namespace: 'a', name });

  /** Roles that grant the namespace `granted`, and an API server that answers when the test lets it. */
  function naming(granted: string) {
    const clock = new ManualClock();
    const asked: string[] = [];
    const waiting: (() => void)[] = [];
    const state = { isHeld: false };
    const client = {
      async post<T>(_path: string, body: unknown): Promise<T> {
        const { user, resourceAttributes } = (body as { spec: { user: string; resourceAttributes: Asked } }).spec;
        const { verb, resource, namespace, name } = resourceAttributes;
        asked.push([user, verb, resource, namespace, name].join(' '));
        if (state.isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
        return { status: { allowed: namespace === 'a' } } as T;
      },
    };
    const reviews = new AccessReviews({ clients: new Map([['east', client]]), clock, log: silentLogger });
    const part = { namespaces: new Set([granted]), names: new Map() };
    const scopes: Scopes = { id: 'granted', of: () => ({ rows: 'some', clusters: new Map([['east', part]]) }) };
    const roles = { granted: () => scopes, allows: async () => true } as unknown as GrantedRights;
    const rights = new ReviewedRights({ granted: roles, reviews, clock, check: null, clusters: ['east'], served: 1 });
    /** As an operation that reads these Pods. */
    const read = async (names: readonly string[], key = 'pods', caller = alice): Promise<readonly boolean[]> => {
      for (;;) {
        const now = must(rights.now(caller) ?? (await rights.at(undefined as never, caller)), 'scopes');
        for (const name of names) now.want?.(key, 'get', ['east'], { namespace: 'a', name });
        const seen = names.map((name) => isVisible(now.of(key, 'get'), named(name)));
        if (names.length === 0) now.of(key, 'list');
        if ((await rights.pending(caller, now)) !== true) return seen;
      }
    };
    return { asked, clock, read, rights, state, waiting };
  }
  const names = (document: number) => Array.from({ length: 190 }, (_, index) => `pod-${document}-${index}`);
  const documents = Array.from({ length: 15 }, (_, document) => names(document));

  test('is asked about none of them in a namespace that roles grant', async () => {
    const { asked, read } = naming('a');
    for (const document of documents) expect((await read(document)).every(Boolean)).toBe(true);
    expect(new Set(asked)).toEqual(new Set(['alice get pods  ', 'alice list pods  ']));
  });

  test('is asked about each once, and later only about what is remembered of the kind in use', async () => {
    const { asked, clock, read } = naming('b');
    for (const document of documents) expect((await read(document)).every(Boolean)).toBe(true);
    expect(asked.length).toBeLessThanOrEqual(2 * (15 * 190 + 1));
    const first = asked.length;
    clock.advance(61_000);
    await read([], 'services');
    expect(asked.slice(first)).toEqual(['alice list services  ']);
    const second = asked.length;
    await read(names(0).slice(0, 1));
    // 200 objects of a kind are remembered, each with two verbs, and the whole kind.
    expect(asked.length - second).toBeLessThanOrEqual(2 * 202);
  });

  test("does not delay another caller's question", async () => {
    const { asked, read, rights, state, waiting } = naming('b');
    state.isHeld = true;
    const [first] = documents;
    const flood = read(must(first, 'a document'));
    await eventually(() => expect([asked.length, waiting.length]).toEqual([20, 20]));
    const bob = callerOf('bob');
    must(rights.now(bob), 'scopes').of('pods', 'list');
    state.isHeld = false;
    // Each answer lets one more question go.
    for (const answer of waiting.splice(0)) answer();
    await flood;
    const turn = asked.findIndex((each) => each.startsWith('bob '));
    expect(turn).toBeGreaterThanOrEqual(20);
    expect(turn).toBeLessThanOrEqual(22);
  });
});

test('a cluster that is gone is not asked about', async () => {
  const clock = new ManualClock();
  const { asked, clients } = server(() => true);
  const clusters = ['east'];
  const reviews = new AccessReviews({ clients, clock, log: silentLogger });
  const rights = new ReviewedRights({ granted: null, reviews, clock, check: null, clusters, served: Infinity });
  const before = must(rights.now(alice), 'nothing has expired');
  expect(before.of('widgets.example.com')).toEqual({ rows: 'none' });
  expect(await rights.pending(alice, before)).toBe(true);
  expect(rights.now(alice)?.of('widgets.example.com')).toMatchObject({ rows: 'some' });
  expect(asked).toHaveLength(1);
  clusters.pop();
  clients.delete('east');
  clock.advance(2000);
  rights.clustersChanged();
  reviews.rolesChanged();
  // Known without a review, so that prepared answers stay fast.
  expect(rights.now(alice)?.of('widgets.example.com')).toEqual({ rows: 'none' });
  // One of the same name comes later: what the former one allowed is not known to hold.
  clusters.push('east');
  rights.clustersChanged();
  expect(rights.now(alice)?.of('widgets.example.com')).toEqual({ rows: 'none' });
});

test.each([
  ['refuses', false, true, true],
  ['allows', true, true, false],
  ['refuses what the roles no longer grant', false, false, false],
] as const)('a sample that the API server %s', async (_, allowed, isGranted, alarmed) => {
  const clock = new ManualClock();
  const { clients, asked } = server(() => allowed);
  let alarms = 0;
  const check = new RightsCheck({
    reviews: new AccessReviews({ clients, clock, log: silentLogger }),
    clock: { ...clock, now: () => clock.now(), monotonic: () => clock.monotonic(), sleep: async () => {} },
    log: silentLogger,
    alarm: () => {
      alarms += 1;
    },
  });
  const request = { verb: 'list', group: '', resource: 'pods', subresource: '', namespace: 'a', name: '' };
  const sample = { cluster: 'east', request };
  const offer = (): void =>
    check.offer(
      userOf('alice'),
      () => sample,
      () => isGranted,
    );
  offer();
  offer();
  await eventually(() => expect([check.alarmed, alarms]).toEqual([alarmed, alarmed ? 1 : 0]));
  await eventually(() => expect(asked.length).toBe(alarmed ? 3 : 1));
});
