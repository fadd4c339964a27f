/** Columns of the type Enum, and the Events of the objects behind, over a whole gateway: HTTP, WebSocket and the file of abstract kinds. */
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { ask, data, subscribe } from '../kit/graphql-client.ts';
import { type KubeconfigFolder, kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { namespace } from '../kit/manifests.ts';

const group = 'apps.portolan.example';

function crd(kind: string, plural: string, properties: object): object {
  const openAPIV3Schema = {
    type: 'object',
    properties: { status: { type: 'object', properties } },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced' },
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

const text = { type: 'string' };
const condition = { type: 'object', properties: { type: text, status: text } };

/** @param values those of the column `state` */
const file = (values: string): string => `
abstractKinds:
  - name: instances
    columns:
      state: { type: Enum, values: [${values}], description: Its state. }
      bad: { type: Enum, values: [a-b] }
    members:
      - resource: redises.${group}
        columns: { state: status.state }
      - resource: mysqls.${group}
        columns: { state: { of: status.phase, map: { Ready: Running }, otherwise: Broken } }
`;

let folder: KubeconfigFolder;
let cluster: SimCluster;
let api: RestClient;
let gateway: RunningGateway;
let url: string;
let kinds: string;

const path = (plural: string, name = ''): string =>
  `/apis/${group}/v1/namespaces/shop/${plural}/${name}`.replace(/\/$/, '');
const create = (kind: string, plural: string, name: string, status: object) =>
  api.post(path(plural), { apiVersion: `${group}/v1`, kind, metadata: { name, namespace: 'shop' }, status });
const names = async (args: string): Promise<readonly string[]> => {
  const found = await data<{ instances: { nodes: readonly { metadata: { name: string } }[] } }>(
    url,
    `{ instances(${args}) { nodes { metadata { name } } } }`,
  );
  return found.instances.nodes.map(({ metadata }) => metadata.name);
};

beforeAll(async () => {
  folder = kubeconfigFolder();
  cluster = await startSimCluster({ objects: 'empty' });
  const kubeconfig = folder.file('config', cluster.kubeconfig());
  api = new RestClient(await connect({ kubeconfig }));
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await api.post(crds, crd('Redis', 'redises', { state: text, conditions: { type: 'array', items: condition } }));
  await api.post(crds, crd('MySQL', 'mysqls', { phase: text }));
  await api.post('/api/v1/namespaces', namespace('shop'));
  kinds = folder.file('kinds.yaml', file('Starting, Running, Broken'));
  gateway = await runGateway({ name: 'east', kubeconfig }, { abstractKinds: kinds });
  url = gateway.url;
  await eventually(async () => {
    await create('Redis', 'redises', 'a', { state: 'Running' }).catch(() => {});
    expect(await names('first: 9')).toEqual(['a']);
  });
  await create('Redis', 'redises', 'b', { state: 'Starting' });
  await create('Redis', 'redises', 'c', { state: 'running' });
  await create('MySQL', 'mysqls', 'd', { phase: 'Ready' });
  await create('MySQL', 'mysqls', 'e', { phase: 'Odd' });
  await eventually(async () => expect(await names('first: 9')).toHaveLength(5));
});

afterAll(async () => {
  await gateway?.close();
  await api?.connection.close();
  await cluster?.close();
  folder?.remove();
});

test('the schema has the enum and its filter, and a wrong column costs itself', async () => {
  const found = await data(
    url,
    `{
      state: __type(name: "InstanceState") { kind enumValues { name } }
      filter: __type(name: "InstanceStateFilter") { inputFields { name } }
      fields: __type(name: "Instance") { fields { name } }
      bad: __type(name: "InstanceBad") { name }
    }`,
  );
  expect(found).toMatchObject({
    state: { kind: 'ENUM', enumValues: ['Starting', 'Running', 'Broken'].map((name) => ({ name })) },
    filter: { inputFields: ['exists', 'eq', 'ne', 'in', 'notIn'].map((name) => ({ name })) },
    bad: null,
  });
  expect(found['fields']).not.toMatchObject({ fields: expect.arrayContaining([{ name: 'bad' }]) });
});

test('an enum is filtered, ordered by text, grouped and counted', async () => {
  const order = 'orderBy: [{ path: "state" }, { path: "metadata.name" }]';
  expect(await names(order)).toEqual(['e', 'a', 'd', 'b', 'c']);
  expect(await names('orderBy: [{ path: "state", direction: DESC }], first: 1')).toEqual(['b']);
  const filters: readonly (readonly [string, readonly string[]])[] = [
    ['eq: Running', ['a', 'd']],
    ['ne: Running', ['e', 'b', 'c']],
    ['in: [Broken, Starting]', ['e', 'b']],
    ['notIn: [Broken, Starting]', ['a', 'd', 'c']],
    ['exists: false', ['c']],
    ['exists: true, ne: Broken', ['a', 'd', 'b']],
  ];
  for (const [filter, found] of filters) {
    expect(await names(`filter: { state: { ${filter} } }, ${order}`), filter).toEqual(found);
  }
  expect(await names('filter: { path: [{ path: "state", startsWith: "St" }] }')).toEqual(['b']);
  expect(await names('filter: { cluster: { eq: "east" }, state: { eq: Starting } }')).toEqual(['b']);
  const found = await data(
    url,
    `query ($state: InstanceState, $filter: InstanceFilter) {
      instances {
        aggregate {
          least: min(path: "state") greatest: max(path: "state")
          groups(by: ["state"]) { keys aggregate { count } }
        }
        facets(paths: ["state"]) { values { value count } }
      }
      one: instances(filter: { state: { eq: $state } }) { nodes { state value(path: "state") } }
      other: instances(filter: $filter) { totalCount }
      redis: instance(name: "c", namespace: "shop") { state }
    }`,
    { state: 'Broken', filter: { state: { in: ['Running'] } } },
  );
  expect(found).toEqual({
    instances: {
      aggregate: {
        ...{ least: 'Broken', greatest: 'Starting' },
        groups: [
          { keys: ['Running'], aggregate: { count: 2 } },
          { keys: ['Broken'], aggregate: { count: 1 } },
          { keys: ['Starting'], aggregate: { count: 1 } },
          { keys: [null], aggregate: { count: 1 } },
        ],
      },
      facets: [
        {
          values: [
            { value: 'Running', count: 2 },
            { value: 'Broken', count: 1 },
            { value: 'Starting', count: 1 },
            { value: null, count: 1 },
          ],
        },
      ],
    },
    one: { nodes: [{ state: 'Broken', value: 'Broken' }] },
    other: { totalCount: 2 },
    redis: { state: null },
  });
});

test('a text and a value that the enum does not have are refused', async () => {
  for (const value of ['"Running"', 'Stopped', 'running']) {
    const { errors } = await ask(url, `{ instances(filter: { state: { eq: ${value} } }) { totalCount } }`);
    expect(errors?.[0]?.message, value).toContain('InstanceState');
  }
});

interface Page {
  readonly instances: {
    readonly nodes: readonly { readonly metadata: { readonly name: string } }[];
    readonly pageInfo: { readonly endCursor: string; readonly hasNextPage: boolean };
  };
}

test('pages meet without a seam in the order of an enum', async () => {
  const found: string[] = [];
  for (let after: string | null = null; ; ) {
    const { instances }: Page = await data<Page>(
      url,
      `query ($after: String) { instances(first: 2, after: $after, orderBy: [{ path: "state", direction: DESC }]) {
        nodes { metadata { name } state } pageInfo { endCursor hasNextPage } } }`,
      { after },
    );
    found.push(...instances.nodes.map(({ metadata }) => metadata.name));
    if (!instances.pageInfo.hasNextPage) break;
    after = instances.pageInfo.endCursor;
  }
  expect(found).toEqual(['b', 'a', 'd', 'e', 'c']);
});

interface Message {
  readonly phase: string;
  readonly removedIds: readonly string[];
  readonly changes: readonly { readonly type: string; readonly changedPaths: readonly string[] | null }[];
}

test('a subscription with a filter, a live query and a history have the enum, and name the health as paths do', async () => {
  await create('Redis', 'redises', 'live', { state: 'Starting', conditions: [{ type: 'Ready', status: 'True' }] });
  const patch = (status: object) => api.patch(path('redises', 'live'), 'merge', { status });
  const changes = subscribe(
    url,
    `subscription { instanceChanges(filter: { state: { in: [Starting, Broken] }, metadata: { name: { eq: "live" } } }) {
      phase removedIds changes { type reason changedPaths object { state health { status } } } } }`,
    {},
    (found) => found['instanceChanges'] as Message,
  );
  onTestFinished(() => changes.stop());
  const live = subscribe(
    url,
    'query @live { instances(filter: { metadata: { name: { eq: "live" } } }) { nodes { state events { nodes { reason } } } } }',
    {},
    (found) => (found['instances'] as { nodes: readonly unknown[] }).nodes[0],
  );
  onTestFinished(() => live.stop());
  await changes.until(
    (all) => all.some(({ phase }) => phase === 'SYNCED') && all.flatMap((each) => each.changes).length > 0,
  );
  await live.until((all) => JSON.stringify(all.at(-1)) === '{"state":"Starting","events":{"nodes":[]}}');
  await patch({ state: 'Broken', conditions: [{ type: 'Ready', status: 'False' }] });
  const broken = await changes.until((all) => all.at(-1)?.changes[0]?.type === 'MODIFIED');
  expect(broken.at(-1)?.changes).toMatchObject([
    {
      changedPaths: expect.arrayContaining(['health.status', 'state']),
      object: { state: 'Broken', health: { status: 'InProgress' } },
    },
  ]);
  expect(broken.at(-1)?.changes[0]?.changedPaths).not.toContainEqual(expect.stringContaining('["health"]'));
  await live.until((all) => JSON.stringify(all.at(-1)) === '{"state":"Broken","events":{"nodes":[]}}');
  await api.post('/api/v1/namespaces/shop/events', event('first', 'Redis', 'live'));
  await live.until(
    (all) => JSON.stringify(all.at(-1)) === '{"state":"Broken","events":{"nodes":[{"reason":"first"}]}}',
  );
  await patch({ state: 'Running' });
  const gone = await changes.until((all) => (all.at(-1)?.removedIds.length ?? 0) > 0);
  expect(gone.at(-1)?.changes).toMatchObject([{ type: 'REMOVED', reason: 'NO_LONGER_MATCHES' }]);
  const found = await data(
    url,
    `{ instance(namespace: "shop", name: "live") { history(first: 2) { nodes {
      changedPaths object { ... on Instance { state } } before { ... on Instance { state } } } } } }`,
  );
  expect(found).toEqual({
    instance: {
      history: {
        nodes: [
          { changedPaths: ['state'], object: { state: 'Running' }, before: { state: 'Broken' } },
          {
            changedPaths: expect.arrayContaining(['health.status', 'state']),
            object: { state: 'Broken' },
            before: { state: 'Starting' },
          },
        ],
      },
    },
  });
  await api.delete(path('redises', 'live'));
});

function event(reason: string, kind: string, name: string): object {
  const at = `2026-03-01T00:00:0${reason.length}Z`;
  return {
    ...{ apiVersion: 'v1', kind: 'Event', metadata: { name: `${name}.${reason}`, namespace: 'shop' } },
    ...{ reason, type: 'Normal', firstTimestamp: at, lastTimestamp: at },
    involvedObject: { apiVersion: `${group}/v1`, kind, name, namespace: 'shop' },
  };
}

test('a changed list of values is another enum, and what it no longer has is null', async () => {
  writeFileSync(kinds, file('Running, Broken, Stopped'));
  await eventually(async () => {
    const found = await data(url, '{ __type(name: "InstanceState") { enumValues { name } } }');
    expect(found).toEqual({ __type: { enumValues: ['Running', 'Broken', 'Stopped'].map((name) => ({ name })) } });
  }, 60_000);
  await eventually(async () => {
    const found = await data(
      url,
      `{ instances(orderBy: [{ path: "metadata.name" }]) { nodes { state } aggregate { groups(by: ["state"]) { keys } } }
        none: instances(filter: { state: { eq: Stopped } }) { totalCount }
        instance(namespace: "shop", name: "b") { history(first: 1) { nodes { before { ... on Instance { state } } } } } }`,
    );
    expect(found).toMatchObject({
      instances: { nodes: ['Running', null, null, 'Running', 'Broken'].map((state) => ({ state })) },
      none: { totalCount: 0 },
    });
    expect(JSON.stringify(found)).not.toContain('Starting');
  });
}, 120_000);
