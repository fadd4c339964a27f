/**
 * Live queries through relations to any kind and to Namespaces: a change of the other object reaches the subscriber. Live queries of a
 * caller whose rights come and go by role bindings.
 */
import { createClient } from 'graphql-ws';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { StoredRights } from '../../src/auth/rights/stored-rights.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { must } from '../../src/base/must.ts';
import { engineFixture, made } from '../kit/engine-fixture.ts';
import { gadgets, widget, widgets } from '../kit/graphql-world.ts';
import {
  binding,
  clusterRoleBindingsKey,
  clusterRolesKey,
  rbacKinds,
  role,
  roleBindingsKey,
  rolesKey,
} from '../kit/rbac-kinds.ts';
import { namespacesKey, type PlacedObject, scopedStore } from '../kit/scoped-world.ts';
import { serveFixture } from '../kit/served-fixture.ts';
import { callerOf } from '../kit/user.ts';

interface Result {
  // biome-ignore lint/suspicious/noExplicitAny: the shape of an answer is the query's, which the test has beside it.
  readonly data?: any;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
}

/** The results of a live query, as they come. */
function follow(url: string, selection: string): { readonly results: Result[]; newest(): Result } {
  const client = createClient({ url: url.replace(/^http/, 'ws'), webSocketImpl: WebSocket, retryAttempts: 0 });
  onTestFinished(() => void client.dispose());
  const results: Result[] = [];
  void (async () => {
    for await (const result of client.iterate({ query: `query @live(throttle: 0) { ${selection} }` }))
      results.push(result as unknown as Result);
  })();
  return { results, newest: () => must(results.at(-1), 'a result') };
}

const poll = { timeout: 60_000 };

async function until(
  live: ReturnType<typeof follow>,
  read: (data: Result['data']) => unknown,
  expected: unknown,
): Promise<void> {
  await expect.poll(() => (live.results.length === 0 ? undefined : read(live.newest().data)), poll).toEqual(expected);
}

const refTo = (kind: string, name: string) => ({ kind, group: 'example.com', name });
const placed = (key: string, namespace: string | null, name: string, more: object = {}): PlacedObject => ({
  cluster: 'east',
  key,
  namespace,
  name,
  object: made({ name, namespace, uid: `u-${name}`, ...more }),
});

test('a change of an object at the end of a relation to any kind reaches the subscriber', async () => {
  const { pair, fill } = await scopedStore();
  const { fixture, server } = pair;
  const refs = (...of: readonly object[]) => ({ spec: { refs: of } });
  await fill([
    placed(widgets, 'n0', 'a', refs(refTo('Gadget', 'g1'), refTo('Widget', 'b'))),
    placed(widgets, 'n0', 'b'),
    placed(gadgets, null, 'g1', { labels: { app: 'x' } }),
  ]);
  const list = follow(
    server.url,
    'exampleComWidgets(filter: { metadata: { name: { eq: "a" } } }) { nodes { sources { nodes { kind metadata { name labels } } } } }',
  );
  const filtered = follow(
    server.url,
    'exampleComWidgets(filter: { sources: { some: { labelSelector: "app=y" } } }) { nodes { metadata { name } } }',
  );
  const graph = follow(
    server.url,
    'exampleComWidgets(filter: { metadata: { name: { eq: "a" } } }) { nodes { graph(depth: 1) { nodes { metadata { name labels } } } } }',
  );
  const ends = ({ exampleComWidgets: { nodes } }: Result['data']): unknown =>
    nodes[0].sources.nodes.map((each: Result['data']) => [
      each.kind,
      each.metadata.name,
      each.metadata.labels?.app ?? null,
    ]);
  const names = ({ exampleComWidgets: { nodes } }: Result['data']): unknown =>
    nodes.map(({ metadata }: Result['data']) => metadata.name);
  const inGraph = ({ exampleComWidgets: { nodes } }: Result['data']): unknown =>
    nodes[0].graph.nodes
      .map(({ metadata }: Result['data']) => `${metadata.name} ${metadata.labels?.app ?? '-'}`)
      .sort();
  await until(list, ends, [
    ['Gadget', 'g1', 'x'],
    ['Widget', 'b', null],
  ]);
  await until(filtered, names, []);
  await until(graph, inGraph, ['a -', 'b -', 'g1 x']);

  fixture.apply(gadgets, 'MODIFIED', placed(gadgets, null, 'g1', { labels: { app: 'y' } }).object);
  await until(list, ends, [
    ['Gadget', 'g1', 'y'],
    ['Widget', 'b', null],
  ]);
  await until(filtered, names, ['a']);
  await until(graph, inGraph, ['a -', 'b -', 'g1 y']);

  fixture.apply(widgets, 'DELETED', placed(widgets, 'n0', 'b').object);
  await until(list, ends, [['Gadget', 'g1', 'y']]);
  await until(graph, inGraph, ['a -', 'g1 y']);
  fixture.apply(gadgets, 'ADDED', placed(gadgets, null, 'g2', { labels: { app: 'z' } }).object);
  fixture.apply(widgets, 'MODIFIED', placed(widgets, 'n0', 'a', refs(refTo('Gadget', 'g2'))).object);
  await until(list, ends, [['Gadget', 'g2', 'z']]);
  await until(filtered, names, []);
  await until(graph, inGraph, ['a -', 'g2 z']);
});

test('a change of a label of the Namespace reaches the subscriber', async () => {
  const { pair, fill } = await scopedStore();
  const { fixture, server } = pair;
  const home = (team: string): PlacedObject => placed(namespacesKey, null, 'n0', { labels: { team } });
  await fill([home('red'), placed(widgets, 'n0', 'a'), placed(widgets, 'n1', 'b')]);
  const filtered = follow(
    server.url,
    'exampleComWidgets(filter: { namespace: { is: { labelSelector: "team=red" } } }) { totalCount nodes { metadata { name } } }',
  );
  const grouped = follow(
    server.url,
    'exampleComWidgets { aggregate { groups(by: ["namespace.metadata.labels[\\"team\\"]"]) { keys aggregate { count } } } }',
  );
  const counts = ({ exampleComWidgets: { totalCount, nodes } }: Result['data']): unknown => [totalCount, nodes.length];
  const keys = ({ exampleComWidgets: { aggregate } }: Result['data']): unknown =>
    aggregate.groups.map((each: Result['data']) => each.keys[0]).sort();
  await until(filtered, counts, [1, 1]);
  await until(grouped, keys, [null, 'red'].sort());
  fixture.apply(namespacesKey, 'MODIFIED', home('blue').object);
  await until(filtered, counts, [0, 0]);
  await until(grouped, keys, [null, 'blue'].sort());
  fixture.apply(namespacesKey, 'MODIFIED', home('red').object);
  await until(filtered, counts, [1, 1]);
  fixture.apply(namespacesKey, 'DELETED', home('red').object);
  await until(filtered, counts, [0, 0]);
  await until(grouped, keys, [null]);
});

test('a subscriber who lost all rights gets one result when a role binding gives them again', async () => {
  const rights = new StoredRights({
    reader: {
      lease: (work, options) => fixture.reader.lease(work, options),
      open: (options) => fixture.reader.open(options),
      close: async () => {},
    },
    clock: systemClock,
    log: silentLogger,
    clusters: ['east'],
    served: 1,
    changed: () => fixture.engine.interrupt(),
  });
  onTestFinished(() => rights.close());
  const fixture = engineFixture({ engine: { rights } });
  fixture.writer().onCommit((commit) => rights.wake(commit));
  await fixture.declare(widget(), ...rbacKinds());
  const verbs = ['get', 'list', 'watch'];
  await fixture.sync(rolesKey, []);
  await fixture.sync(clusterRoleBindingsKey, []);
  await fixture.sync(clusterRolesKey, [role('viewer', null, { verbs, apiGroups: ['example.com'], resources: ['*'] })]);
  const bound = (): object => binding('of-alice', 'default', 'viewer', 'alice');
  await fixture.sync(roleBindingsKey, [bound()]);
  await fixture.sync(widgets, [made({ name: 'a' })]);
  await rights.refresh();
  const alice = callerOf('alice');
  const { url } = await serveFixture(fixture, { authenticate: () => alice });
  const live = follow(url, 'exampleComWidgets { nodes { metadata { name } } }');
  const shown = (data: Result['data']): unknown =>
    data?.exampleComWidgets?.nodes.map(({ metadata }: Result['data']) => metadata.name) ?? null;
  await until(live, shown, ['a']);
  for (const round of [1, 2, 3]) {
    fixture.apply(roleBindingsKey, 'DELETED', bound());
    await until(live, shown, null);
    expect(live.newest().errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    const before = live.results.length;
    const { runs } = fixture.engine.source.liveQueries.facts;
    fixture.apply(roleBindingsKey, 'ADDED', bound());
    await until(live, shown, ['a']);
    expect(live.results.length - before, `round ${round}`).toBe(1);
    // The commit of the binding leads to the result, and no repeated look for rights.
    expect(fixture.engine.source.liveQueries.facts.runs - runs).toBeLessThanOrEqual(2);
  }
});
