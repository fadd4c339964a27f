/**
 * The end-to-end suite. Its expectations are the same for the simulated cluster and for a real kube-apiserver with etcd and the
 * controller manager.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { codeOf } from '../../src/base/errors.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { eventually } from './eventually.ts';
import { type RunningGateway, runGateway } from './gateway.ts';
import { ask, data, subscribe } from './graphql-client.ts';
import * as manifests from './manifests.ts';
import { differences } from './table-difference.ts';

export interface World {
  /** Path of a kubeconfig that may do everything. */
  readonly kubeconfig: string;
  close(): Promise<void>;
}

interface Message {
  readonly phase: string;
  readonly reset: boolean;
  readonly cursor: string;
  readonly totalCount: number | null;
  readonly removedIds: readonly string[];
  readonly changes: readonly {
    readonly type: string;
    readonly id: string;
    readonly object: { readonly metadata: { readonly name: string } } | null;
  }[];
}

const namesOfPods = /* GraphQL */ `
  query ($filter: PodFilter, $orderBy: [ObjectOrder!], $first: Int, $after: String, $last: Int, $before: String) {
    pods(filter: $filter, orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before) {
      totalCount
      changesCursor
      nodes { id metadata { name namespace labels } spec { nodeName } status { phase } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`;

interface PodPage {
  readonly pods: {
    readonly totalCount: number;
    readonly changesCursor: string;
    readonly nodes: readonly { readonly id: string; readonly metadata: { readonly name: string } }[];
    readonly pageInfo: {
      readonly hasNextPage: boolean;
      readonly hasPreviousPage: boolean;
      readonly startCursor: string;
      readonly endCursor: string;
    };
  };
}

const podChanges = /* GraphQL */ `
  subscription ($filter: PodFilter, $since: String, $snapshot: Boolean) {
    podChanges(filter: $filter, since: $since, snapshot: $snapshot) {
      phase reset cursor totalCount removedIds
      changes { type id reason changedPaths object { metadata { name } status { phase } } }
    }
  }
`;

/** Runs the suite against the cluster that `start` returns. */
export function describeEndToEnd(name: string, start: () => Promise<World>): void {
  describe(`end to end: ${name}`, () => {
    let world: World;
    let gateway: RunningGateway;
    let api: RestClient;
    let url: string;
    const namespace = 'e2e';

    beforeAll(async () => {
      world = await start();
      api = new RestClient(await connect({ kubeconfig: world.kubeconfig }));
      await api.post('/api/v1/namespaces', manifests.namespace(namespace));
      for (let index = 0; index < 25; index += 1) {
        await api.post(`/api/v1/namespaces/${namespace}/pods`, manifests.pod(namespace, index));
      }
      gateway = await runGateway({ kubeconfig: world.kubeconfig });
      url = gateway.url;
      await eventually(async () => expect((await pods({ filter: here() })).totalCount).toBe(25));
    });

    afterAll(async () => {
      await gateway?.close();
      await api?.connection.close();
      await world?.close();
    });

    const here = (more: object = {}): object => ({ namespaces: [namespace], labelSelector: 'app=e2e', ...more });
    const pods = async (variables: Record<string, unknown>): Promise<PodPage['pods']> =>
      (await data<PodPage>(url, namesOfPods, variables)).pods;
    const watch = (variables: Record<string, unknown>) =>
      subscribe(url, podChanges, variables, (found) => found['podChanges'] as Message);

    test('a list is filtered and ordered', async () => {
      const page = await pods({
        filter: here({ labelSelector: 'app=e2e,tier=front' }),
        orderBy: [{ path: 'metadata.labels["rank"]', direction: 'DESC' }],
      });
      const expected = manifests.ranks
        .filter(({ tier }) => tier === 'front')
        .toSorted((a, b) => (a.rank < b.rank ? 1 : -1));
      expect(page.nodes.map(({ metadata }) => metadata.name)).toEqual(expected.map((each) => each.name));
      expect(page.totalCount).toBe(expected.length);
    });

    test('what changed, who changed it and what was deleted', async () => {
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { color: 'blue' } };
      await api.post(path, settings, { query: { fieldManager: 'creator' } });
      const shown = `nodes { type name changedPaths managers { manager operation }
        before { ... on ConfigMap { data } } object { ... on ConfigMap { data } } }`;
      const of = async (field: string) => {
        const found = await data<{ changes: { nodes: readonly { name: string }[] } }>(
          url,
          `{ changes(since: "-10m", kinds: ["ConfigMap"], namespaces: ["${namespace}"]) { ${field} } }`,
        );
        return found.changes.nodes.filter(({ name }) => name === 'settings');
      };
      await eventually(async () => expect(await of(shown)).toHaveLength(1));
      await api.patch(`${path}/settings`, 'merge', { data: { color: 'red' } }, { query: { fieldManager: 'painter' } });
      const applied = { ...settings, data: { size: 'large' } };
      await eventually(async () => expect(await of(shown)).toHaveLength(2));
      await api.patch(`${path}/settings`, 'apply', applied, { query: { fieldManager: 'applier' } });
      await eventually(async () => expect(await of(shown)).toHaveLength(3));
      const history = await data<{ configMap: { history: object } }>(
        url,
        `{ configMap(namespace: "${namespace}", name: "settings") { history(first: 2) { nodes { type changedPaths } isComplete } } }`,
      );
      expect(history.configMap.history).toEqual({
        nodes: [
          { type: 'MODIFIED', changedPaths: ['data.size'] },
          { type: 'MODIFIED', changedPaths: ['data.color'] },
        ],
        isComplete: true,
      });
      await api.delete(`${path}/settings`);
      const last = { color: 'red', size: 'large' };
      await eventually(async () =>
        expect(await of(shown)).toMatchObject([
          { type: 'DELETED', managers: [], before: { data: last }, object: null },
          { type: 'MODIFIED', changedPaths: ['data.size'], managers: [{ manager: 'applier', operation: 'Apply' }] },
          {
            type: 'MODIFIED',
            changedPaths: ['data.color'],
            managers: [{ manager: 'painter', operation: 'Update' }],
            before: { data: { color: 'blue' } },
            object: { data: { color: 'red' } },
          },
          { type: 'ADDED', changedPaths: null, managers: [{ manager: 'creator', operation: 'Update' }], before: null },
        ]),
      );
    });

    test('pages meet without a seam, forward and backward', async () => {
      const orderBy = [{ path: 'metadata.labels["rank"]' }];
      const whole = (await pods({ filter: here(), orderBy, first: 100 })).nodes.map(({ id }) => id);
      expect(new Set(whole).size).toBe(25);
      const forward: string[] = [];
      for (let after: string | null = null; ; ) {
        const page: PodPage['pods'] = await pods({ filter: here(), orderBy, first: 7, after });
        forward.push(...page.nodes.map(({ id }) => id));
        if (!page.pageInfo.hasNextPage) break;
        after = page.pageInfo.endCursor;
      }
      expect(forward).toEqual(whole);
      const backward: string[] = [];
      for (let before: string | null = null; ; ) {
        const page: PodPage['pods'] = await pods({ filter: here(), orderBy, last: 7, before });
        backward.unshift(...page.nodes.map(({ id }) => id));
        if (!page.pageInfo.hasPreviousPage) break;
        before = page.pageInfo.startCursor;
      }
      expect(backward).toEqual(whole);
    });

    test('a cursor of another order is refused', async () => {
      const page = await pods({ filter: here(), first: 2 });
      const answer = await ask(url, namesOfPods, {
        filter: here(),
        orderBy: [{ path: 'metadata.name', direction: 'DESC' }],
        after: page.pageInfo.endCursor,
      });
      expect(answer.errors?.[0]?.extensions?.['code']).toBe('BAD_USER_INPUT');
    });

    test('typed filters reach into lists, quantities and absent values', async () => {
      const names = async (filter: object): Promise<number> => (await pods({ filter: here(filter) })).totalCount;
      expect(await names({ spec: { containers: { some: { image: { startsWith: 'registry.example/web:' } } } } })).toBe(
        25,
      );
      expect(await names({ spec: { containers: { none: { name: { eq: 'web' } } } } })).toBe(0);
      expect(await names({ metadata: { name: { in: ['pod-03', 'pod-04', 'nope'] } } })).toBe(2);
      expect(await names({ spec: { nodeName: { exists: false } } })).toBe(25);
      expect(
        await names({ or: [{ metadata: { name: { eq: 'pod-01' } } }, { metadata: { name: { endsWith: '-02' } } }] }),
      ).toBe(2);
      expect(await names({ not: { metadata: { name: { contains: 'POD', ignoreCase: true } } } })).toBe(0);
    });

    test('an empty or null filter below the top is refused with its path', async () => {
      const answer = await ask(url, namesOfPods, { filter: { spec: { nodeName: {} } } });
      expect(answer.errors?.[0]?.message).toContain('filter.spec.nodeName');
      expect(answer.errors?.[0]?.extensions?.['code']).toBe('BAD_USER_INPUT');
    });

    test('objects are found by name and by id', async () => {
      const one = await data(
        url,
        `{ pod(namespace: "${namespace}", name: "pod-07") { id metadata { uid } columns { name } yaml raw value(path: "spec.containers[].name") condition(type: "Ready") { status } } }`,
      );
      const pod = one['pod'] as {
        id: string;
        yaml: string;
        value: unknown;
        raw: { metadata: Record<string, unknown> };
        columns: unknown[];
      };
      expect(pod.value).toEqual(['web']);
      expect(pod.yaml).toMatch(/^apiVersion: v1\nkind: Pod\n/);
      expect(pod.raw.metadata).not.toHaveProperty('managedFields');
      expect(pod.columns.length).toBeGreaterThan(1);
      const found = await data(
        url,
        `query ($id: ID!) { object(id: $id) { __typename id metadata { name } } objectsById(ids: [$id]) { id } }`,
        { id: pod.id },
      );
      expect(found).toEqual({
        object: { __typename: 'Pod', id: pod.id, metadata: { name: 'pod-07' } },
        objectsById: [{ id: pod.id }],
      });
      expect(await data(url, `{ pod(namespace: "${namespace}", name: "nobody") { id } }`)).toEqual({ pod: null });
    });

    test('a Secret is shown without its data', async () => {
      await api.post(`/api/v1/namespaces/${namespace}/secrets`, manifests.secret(namespace));
      await eventually(async () => {
        const answer = await data(url, `{ secret(namespace: "${namespace}", name: "hidden") { raw redacted data } }`);
        expect(answer['secret']).toMatchObject({ redacted: ['data', 'stringData'], data: null });
        expect(JSON.stringify(answer)).not.toContain('dG9wIHNlY3JldA');
      });
    });

    test('a Deployment, its ReplicaSet and its Pods hang together, live', async () => {
      const filter = { namespaces: [namespace], labelSelector: 'app=web' };
      const live = watch({ filter });
      await live.until((all) => all.some(({ phase }) => phase === 'SYNCED'));
      await api.post(`/apis/apps/v1/namespaces/${namespace}/deployments`, manifests.deployment(namespace, 3));
      const added = await live.until((all) => changesOf(all, 'ADDED').length >= 3);
      expect(new Set(changesOf(added, 'ADDED').map(({ id }) => id)).size).toBe(3);
      await eventually(async () => {
        const tree = await data(
          url,
          `{ deployment(namespace: "${namespace}", name: "web") {
               owned { totalCount nodes { __typename kind owned { totalCount nodes { kind metadata { name } owners { nodes { kind } } } } } } } }`,
        );
        const owned = (
          tree['deployment'] as {
            owned: {
              totalCount: number;
              nodes: {
                kind: string;
                owned: { totalCount: number; nodes: { kind: string; owners: { nodes: { kind: string }[] } }[] };
              }[];
            };
          }
        ).owned;
        expect(owned.nodes.map(({ kind }) => kind)).toEqual(['ReplicaSet']);
        const [replicaSet] = owned.nodes;
        expect(replicaSet?.owned.totalCount).toBe(3);
        expect(
          replicaSet?.owned.nodes.map(({ kind, owners }) => [kind, owners.nodes.map((owner) => owner.kind)]),
        ).toEqual(Array.from({ length: 3 }, () => ['Pod', ['ReplicaSet']]));
      });
      await api.delete(`/apis/apps/v1/namespaces/${namespace}/deployments/web`, {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        propagationPolicy: 'Background',
      });
      const removed = await live.until((all) => changesOf(all, 'REMOVED').length >= 3);
      expect(removed.flatMap(({ removedIds }) => removedIds)).toHaveLength(3);
      expect(foldIds(removed)).toEqual(new Set());
      await live.stop();
    });

    test('a subscription goes on from where a list was read', async () => {
      const before = await pods({ filter: here() });
      await api.post(`/api/v1/namespaces/${namespace}/pods`, manifests.pod(namespace, 90));
      await eventually(async () => expect((await pods({ filter: here() })).totalCount).toBe(26));
      const live = watch({ filter: here(), since: before.changesCursor });
      const messages = await live.until((all) => changesOf(all, 'ADDED').length === 1);
      expect(messages[0]).toMatchObject({ phase: 'SYNCED', reset: false });
      expect(messages.some(({ phase }) => phase === 'SNAPSHOT')).toBe(false);
      expect(changesOf(messages, 'ADDED')[0]?.object?.metadata.name).toBe('pod-90');
      await api.patch(`/api/v1/namespaces/${namespace}/pods/pod-90`, 'merge', {
        metadata: { labels: { app: 'other' } },
      });
      const gone = await live.until((all) => changesOf(all, 'REMOVED').length === 1);
      expect(changesOf(gone, 'REMOVED')[0]).toMatchObject({ reason: 'NO_LONGER_MATCHES', object: null });
      await live.stop();
      await api.delete(`/api/v1/namespaces/${namespace}/pods/pod-90`, { gracePeriodSeconds: 0 });
    });

    test('a foreign cursor is answered with GAP and a snapshot', async () => {
      const foreign = Buffer.from(JSON.stringify(['live1', 'another-epoch', 1])).toString('base64url');
      const live = watch({ filter: here(), since: foreign });
      const messages = await live.until((all) => all.some(({ phase }) => phase === 'SYNCED'));
      expect([...new Set(messages.map(({ phase }) => phase))]).toEqual(['GAP', 'SNAPSHOT', 'SYNCED']);
      expect(messages[1]?.reset).toBe(true);
      expect(messages.at(-1)?.totalCount).toBe(25);
      await live.stop();
    });

    test('a CRD that arrives while the gateway runs can be queried, changed and dropped', async () => {
      await api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', manifests.widgetCrd());
      await eventually(async () => {
        const answer = await data(
          url,
          '{ e2ePortolanExampleWidgets { totalCount nodes { spec { size big weight ports } } } }',
        );
        expect(answer).toEqual({ e2ePortolanExampleWidgets: { totalCount: 0, nodes: [] } });
      });
      await eventually(async () => {
        const widgets = `/apis/e2e.portolan.example/v1/namespaces/${namespace}/widgets`;
        await api.post(widgets, manifests.widget(namespace)).catch((error: unknown) => {
          if (codeOf(error) !== 'ALREADY_EXISTS') throw error;
        });
        const answer = await data(
          url,
          `{ e2ePortolanExampleWidget(namespace: "${namespace}", name: "first") { spec { size big weight ports } columns { name type value } } }`,
        );
        expect(answer).toEqual({
          e2ePortolanExampleWidget: {
            spec: { size: 3, big: '9007199254740993', weight: '250m', ports: ['http', 80] },
            columns: [
              { name: 'Name', type: 'string', value: 'first' },
              { name: 'Size', type: 'integer', value: 3 },
            ],
          },
        });
      });
      await api.delete('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.e2e.portolan.example');
      await eventually(async () => {
        const answer = await ask(url, `{ e2ePortolanExampleWidgets { totalCount } }`);
        expect(answer.errors?.[0]?.message).toMatch(/Cannot query field/);
      });
    });

    test('every resource is synced and equal to the API server', async () => {
      await eventually(async () => {
        const { resources } = await data<{ resources: { key: string; synced: boolean; phase: string }[] }>(
          url,
          '{ resources { key synced phase } }',
        );
        expect(resources.length).toBeGreaterThan(20);
        expect(resources.filter(({ synced }) => !synced)).toEqual([]);
        // Objects that two groups serve are ingested once, and a list-only kind is polled.
        expect(resources.map(({ key }) => key)).toContain('events');
        expect(resources.map(({ key }) => key)).not.toContain('events.events.k8s.io');
        expect(resources.find(({ key }) => key === 'componentstatuses')?.phase).toBe('POLLING');
      });
      await eventually(async () => expect(await differences(api, url)).toEqual([]));
    });

    test('/readyz says so', async () => {
      const response = await fetch(new URL('/readyz', url));
      expect(response.status).toBe(200);
    });
  });
}

function changesOf(messages: readonly Message[], type: string): readonly Message['changes'][number][] {
  return messages.flatMap(({ changes }) => changes.filter((change) => change.type === type));
}

/** The ids that a client holds after these messages. */
function foldIds(messages: readonly Message[]): ReadonlySet<string> {
  const held = new Set<string>();
  for (const { reset, changes } of messages) {
    if (reset) held.clear();
    for (const { type, id } of changes) {
      if (type === 'REMOVED') held.delete(id);
      else held.add(id);
    }
  }
  return held;
}
