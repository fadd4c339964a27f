/** Two simulated clusters serve one CRD with different schemas. One gateway answers for both, and each object names its cluster. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { eventually } from '../kit/eventually.ts';
import { gadgetCrd } from '../kit/gadget-crd.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { ask, data } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';

const clusters: SimCluster[] = [];
const folder = kubeconfigFolder();
let gateway: RunningGateway;

beforeAll(async () => {
  const worlds = [
    { name: 'east', spec: { size: { type: 'integer' }, color: { type: 'string' } }, object: { size: 3, color: 'red' } },
    {
      name: 'west',
      spec: { size: { type: 'string' }, weight: { type: 'number' } },
      object: { size: 'large', weight: 1.5 },
    },
  ];
  const options = [];
  for (const { name, spec, object } of worlds) {
    const cluster = await startSimCluster({ objects: 'empty', crds: [gadgetCrd(spec)] });
    clusters.push(cluster);
    cluster.create({
      apiVersion: 'two.portolan.example/v1',
      kind: 'Gadget',
      metadata: { name: 'same', namespace: 'default' },
      spec: object,
    });
    options.push({ name, kubeconfig: folder.file(name, cluster.kubeconfig()) });
  }
  gateway = await runGateway(options);
});

afterAll(async () => {
  await gateway?.close();
  for (const cluster of clusters) await cluster.close();
  folder.remove();
});

test('the tree is the union, and a leaf of two types is JSON', async () => {
  const answer = await data(
    gateway.url,
    `{ twoPortolanExampleGadgets { totalCount nodes { id cluster metadata { name } spec { size color weight } } } }`,
  );
  expect(answer).toEqual({
    twoPortolanExampleGadgets: {
      totalCount: 2,
      nodes: [
        {
          id: expect.any(String),
          cluster: 'east',
          metadata: { name: 'same' },
          spec: { size: 3, color: 'red', weight: null },
        },
        {
          id: expect.any(String),
          cluster: 'west',
          metadata: { name: 'same' },
          spec: { size: 'large', color: null, weight: 1.5 },
        },
      ],
    },
  });
  const ids = (answer['twoPortolanExampleGadgets'] as { nodes: { id: string }[] }).nodes.map(({ id }) => id);
  expect(new Set(ids).size).toBe(2);
});

test('one object needs its cluster, a list may name some', async () => {
  const one = (more: string): string =>
    `{ twoPortolanExampleGadget(namespace: "default", name: "same"${more}) { cluster } }`;
  expect((await ask(gateway.url, one(''))).errors?.[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
  expect(await data(gateway.url, one(', cluster: "west"'))).toEqual({ twoPortolanExampleGadget: { cluster: 'west' } });
  expect(await data(gateway.url, `{ namespaces(filter: { clusters: ["east"] }) { nodes { cluster } } }`)).toMatchObject(
    {
      namespaces: { nodes: expect.arrayContaining([{ cluster: 'east' }]) },
    },
  );
  const { namespaces } = await data<{ namespaces: { nodes: { cluster: string }[] } }>(
    gateway.url,
    '{ namespaces { nodes { cluster } } }',
  );
  expect(new Set(namespaces.nodes.map(({ cluster }) => cluster))).toEqual(new Set(['east', 'west']));
});

const overview = '{ clusters { name version reachable error staleSince resources objects } }';

interface Overview {
  readonly clusters: readonly Readonly<Record<string, unknown>>[];
}

test('the clusters with their versions and sizes', async () => {
  const one = { version: 'v1.37.2', reachable: true, error: null, staleSince: null };
  const east = await eventually(async () => {
    const { clusters } = await data<Overview>(gateway.url, overview);
    expect(clusters).toMatchObject([
      { name: 'east', ...one },
      { name: 'west', ...one },
    ]);
    return clusters[0];
  });
  const { resources } = await data<{ resources: { cluster: string; objects: number }[] }>(
    gateway.url,
    '{ resources { cluster objects } }',
  );
  const own = resources.filter(({ cluster }) => cluster === 'east');
  expect(east).toMatchObject({
    resources: own.length,
    objects: own.reduce((sum, { objects }) => sum + objects, 0),
  });
});

test('a cluster that goes away leaves its data and its neighbour alone', async () => {
  await clusters[1]?.close();
  const answer = await data(gateway.url, `{ twoPortolanExampleGadgets { nodes { cluster } } }`);
  expect(answer).toEqual({ twoPortolanExampleGadgets: { nodes: [{ cluster: 'east' }, { cluster: 'west' }] } });
  await eventually(async () => {
    expect((await data<Overview>(gateway.url, overview)).clusters).toMatchObject([
      { name: 'east', reachable: true, staleSince: null },
      { name: 'west', reachable: false, version: 'v1.37.2', staleSince: expect.any(String), error: expect.any(String) },
    ]);
  });
});
