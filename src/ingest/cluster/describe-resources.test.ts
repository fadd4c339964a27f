import { expect, onTestFinished, test } from 'vitest';
import { kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import { type LoopbackServer, sendJson, sendStatus, startLoopbackServer } from '../../../test/kit/loopback-server.ts';
import { must } from '../../base/must.ts';
import type { Resource } from '../../catalog/resources/resource.ts';
import { connect } from '../../kube/client/connection.ts';
import { RestClient } from '../../kube/client/rest-client.ts';
import { describeResources } from './describe-resources.ts';
import { isGone } from './inventory.ts';

/** A server that answers paths (without their query) with JSON, and all others with 404; a number is a status. */
async function serving(
  answers: Readonly<Record<string, unknown>>,
): Promise<{ client: RestClient; server: LoopbackServer; asked(): string[] }> {
  const server = await startLoopbackServer((request, response) => {
    const found = answers[(request.url ?? '').split('?')[0] ?? ''];
    if (typeof found === 'number') return sendStatus(response, found, 'Trouble', 'trouble');
    if (found === undefined) return sendStatus(response, 404, 'NotFound', 'there is nothing here');
    return sendJson(response, 200, found);
  });
  onTestFinished(() => server.close());
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const connection = await connect({ kubeconfig: folder.write({ server: server.url }), env: {} });
  onTestFinished(() => connection.close());
  return { client: new RestClient(connection), server, asked: () => server.requests.map(({ url }) => url ?? '') };
}

function resource(group: string, kind: string): Resource {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  return {
    group,
    version: 'v1',
    plural,
    singular,
    kind,
    namespaced: true,
    verbs: ['list', 'watch'],
    shortNames: [],
    categories: [],
  };
}

const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
function crd(kind: string, { version = 'v1', created = '2026-01-01T00:00:00Z', resourceVersion = '5' } = {}): unknown {
  const { group, plural, singular } = resource('shop.example.com', kind);
  const openAPIV3Schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
  };
  return {
    metadata: { name: `${plural}.${group}`, uid: `uid-of-${plural}`, resourceVersion, creationTimestamp: created },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

const openApi = {
  '/openapi/v3': { paths: { 'api/v1': { serverRelativeURL: '/openapi/v3/api/v1?hash=1' } } },
  '/openapi/v3/api/v1': {
    components: {
      schemas: {
        Pod: {
          type: 'object',
          properties: {
            metadata: { type: 'object' },
            spec: { type: 'object', properties: { node: { type: 'string' } } },
          },
          'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Pod' }],
        },
      },
    },
  },
};

test('a few definitions are asked for by name, and say more than OpenAPI', async () => {
  const { client, asked } = await serving({ ...openApi, [`${crdPath}/carts.shop.example.com`]: crd('Cart') });
  const found = await describeResources(client, 'east', [resource('shop.example.com', 'Cart'), resource('', 'Pod')]);
  expect(found.problems).toEqual([]);
  expect(found.provisional).toEqual(new Set());
  expect([...found.crds]).toEqual([
    ['carts.shop.example.com', expect.objectContaining({ uid: 'uid-of-carts', resourceVersion: '5' })],
  ]);
  const [pod, cart] = found.described.map(({ tree }) => JSON.stringify(tree));
  expect(cart).toContain('"size"');
  expect(pod).toContain('"node"');
  expect(asked()).toContain(`${crdPath}/carts.shop.example.com`);
});

test('many definitions are read as one list', async () => {
  const kinds = Array.from({ length: 12 }, (_, index) => `Kind${index}x`);
  const { client, asked } = await serving({
    [crdPath]: { metadata: { resourceVersion: '9' }, items: kinds.map((kind) => crd(kind)) },
  });
  const found = await describeResources(
    client,
    'east',
    kinds.map((kind) => resource('shop.example.com', kind)),
  );
  expect(found.described.map((each) => each.resource.kind)).toEqual(kinds.toSorted());
  expect(asked()).toEqual([`${crdPath}?limit=50`]);
});

test('kinds come in the order in which their definitions were created, behind those without one', async () => {
  const definitions = [
    crd('Late', { created: '2026-01-02T00:00:00Z', resourceVersion: '4' }),
    crd('Second', { resourceVersion: '10' }),
    crd('First', { resourceVersion: '9' }),
  ];
  const { client } = await serving({
    ...openApi,
    [crdPath]: { metadata: { resourceVersion: '9' }, items: definitions },
  });
  const others = Array.from({ length: 9 }, (_, index) => resource('shop.example.com', `Gone${index}`));
  const custom = ['Late', 'Second', 'First'].map((kind) => resource('shop.example.com', kind));
  const { described } = await describeResources(client, 'east', [...custom, ...others, resource('', 'Pod')]);
  const found = described.map(({ resource: { kind } }) => kind).filter((kind) => !kind.startsWith('Gone'));
  expect(found).toEqual(['Pod', 'First', 'Second', 'Late']);
});

test('a kind that cannot be understood is left out alone', async () => {
  const { client } = await serving({
    [`${crdPath}/carts.shop.example.com`]: crd('Cart', { version: 'v2' }),
    [`${crdPath}/bills.shop.example.com`]: crd('Bill'),
  });
  const found = await describeResources(client, 'east', [
    resource('shop.example.com', 'Cart'),
    resource('shop.example.com', 'Bill'),
  ]);
  expect(found.described.map((each) => each.resource.kind)).toEqual(['Bill']);
  expect(found.problems).toEqual([
    {
      resource: 'carts.shop.example.com',
      message: expect.stringContaining('no version v1'),
      kinds: ['carts.shop.example.com'],
    },
  ]);
});

test.each([
  ['no OpenAPI document has it', openApi, resource('', 'Node')],
  ['its document is missing', openApi, resource('metrics.k8s.io', 'Metric')],
  ['OpenAPI cannot be read', { '/openapi/v3': 500 }, resource('', 'Pod')],
])('free JSON for now: %s', async (_, answers, wanted) => {
  const { client } = await serving(answers);
  const found = await describeResources(client, 'east', [wanted]);
  expect(found.described).toHaveLength(1);
  expect(
    must(found.described[0], 'a description')
      .diagnostics.map(({ message }) => message)
      .join(),
  ).toContain('no schema');
  expect(found.provisional.size).toBe(1);
});

test('F30: only a 404 means that a collection is gone', async () => {
  const { client } = await serving({ '/api/v1/pods': { items: [] }, '/api/v1/nodes': 503 });
  expect(await isGone(client, resource('', 'Pod'), '')).toBe(false);
  expect(await isGone(client, resource('', 'Node'), '')).toBe(false);
  expect(await isGone(client, resource('', 'Secret'), '')).toBe(true);
});
