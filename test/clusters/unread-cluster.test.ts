/** A configured cluster that has not been read yet is no unknown cluster: each entry point answers CACHE_NOT_READY. */
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { ask, data, subscribe } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';

const folder = kubeconfigFolder();
let east: SimCluster;
let gateway: RunningGateway;

beforeAll(async () => {
  east = await startSimCluster({ objects: 'empty' });
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const address = silent.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  // Nobody listens there any more.
  await new Promise((resolve) => silent.close(resolve));
  const west = folder.write({ server: `http://127.0.0.1:${address.port}` }, {}, 'west');
  gateway = await runGateway([
    { name: 'east', kubeconfig: folder.file('east', east.kubeconfig()) },
    { name: 'west', kubeconfig: west },
  ]);
});

afterAll(async () => {
  await gateway?.close();
  await east?.close();
  folder.remove();
});

const doors: readonly [string, (cluster: string) => string][] = [
  ['a list', (cluster) => `{ deployments(filter: { clusters: ["${cluster}"] }) { nodes { id } } }`],
  ['a count', (cluster) => `{ deployments(filter: { clusters: ["${cluster}"] }) { totalCount } }`],
  ['a live list', (cluster) => `query @live { pods(filter: { clusters: ["${cluster}"] }) { totalCount } }`],
  ['several kinds', (cluster) => `{ objects(kinds: ["Pod"], filter: { clusters: ["${cluster}"] }) { nodes { id } } }`],
  [
    'a search',
    (cluster) => `{ objects(kinds: ["*"], filter: { search: "web", clusters: ["${cluster}"] }) { nodes { id } } }`,
  ],
  [
    'groups',
    (cluster) =>
      `{ pods(filter: { clusters: ["${cluster}"] }) { aggregate { groups(by: ["metadata.namespace"]) { keys } } } }`,
  ],
  ['one object', (cluster) => `{ pod(namespace: "default", name: "a", cluster: "${cluster}") { id } }`],
  ['history', (cluster) => `{ changes(since: "-1m", kinds: ["Pod"], clusters: ["${cluster}"]) { nodes { type } } }`],
];

test.each(doors)('%s in it is not ready', async (_door, document) => {
  const { errors } = await ask(gateway.url, document('west'));
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'CACHE_NOT_READY' });
  expect(errors?.[0]?.message).toContain('The cluster "west" has not been read yet; try again in a moment.');
});

test.each(doors)('%s in a cluster that nobody configured is wrong', async (_door, document) => {
  const { errors } = await ask(gateway.url, document('wets'));
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
  expect(errors?.[0]?.message).toMatch(/cluster "wets".*there is .*east/);
});

test.each([
  ['podChanges', 'podChanges(filter: { clusters: [$cluster] }) { phase }'],
  ['objectChanges', 'objectChanges(kinds: ["Pod"], filter: { clusters: [$cluster] }) { phase }'],
])('a subscription to %s in it is not ready', async (_name, field) => {
  const failure = (cluster: string): Promise<string> =>
    subscribe(gateway.url, `subscription ($cluster: String!) { ${field} }`, { cluster }, (message) => message)
      .until(() => false)
      .then(() => 'no error', String);
  expect(await failure('west')).toContain('CACHE_NOT_READY');
  expect(await failure('wets')).toContain('BAD_USER_INPUT');
});

test('a name under an or is a warning that says the same', async () => {
  const { extensions } = await ask(
    gateway.url,
    '{ pods(filter: { or: [{ clusters: ["west"] }, { clusters: ["wets"] }] }) { totalCount } }',
  );
  const warnings = JSON.stringify(extensions);
  expect(warnings).toContain('has not been read yet');
  expect(warnings).toContain('There is no cluster \\"wets\\"');
});

test('the list of clusters names it, with the reason', async () => {
  await eventually(async () => {
    const { clusters } = await data<{ clusters: { name: string; error: string | null }[] }>(
      gateway.url,
      '{ clusters { name error } }',
    );
    expect(clusters.find(({ name }) => name === 'west')?.error).toEqual(expect.any(String));
  });
});
