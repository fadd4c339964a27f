/** Kinds whose names are alike, over a whole gateway: the first keeps its names, the later one has its own, and each is reachable. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { eventually } from '../kit/eventually.ts';
import { runGateway } from '../kit/gateway.ts';
import { ask, data } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';

const definition = (group: string, kind: string, plural: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
});

const first = { group: 'kafka.example.io', kind: 'Topic', plural: 'topics' };
const pairs = [
  [first, { group: 'kafka-example.io', kind: 'Topic', plural: 'topics' }, 'topics___kafka__example___io'],
  [
    { group: 'case.example.com', kind: 'FooBar', plural: 'foobars' },
    { group: 'case.example.com', kind: 'Foobar', plural: 'foobarz' },
    'foobarz___case___example___com',
  ],
  [
    { group: 'farm.example.com', kind: 'Sheep', plural: 'sheep' },
    { group: 'farm.example.com', kind: 'SheepByName', plural: 'sheepbynames' },
    'sheepbynames___farm___example___com',
  ],
] as const;

async function world() {
  const sim = await startSimCluster();
  onTestFinished(() => sim.close());
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const kubeconfig = folder.file('config', sim.kubeconfig());
  const start = async (name: string) => {
    const gateway = await runGateway(
      { name: 'east', kubeconfig },
      { data: join(temporaryDirectory(name), 'store.db') },
    );
    onTestFinished(() => gateway.close());
    return gateway;
  };
  const create = ({ group, kind, plural }: typeof first, ...names: readonly string[]): void => {
    sim.create(definition(group, kind, plural));
    for (const name of names) sim.create({ apiVersion: `${group}/v1`, kind, metadata: { name } });
  };
  return { sim, start, create };
}

/** The names in a list. */
async function namesIn(url: string, list: string): Promise<readonly string[]> {
  const found = await data<{ list: { nodes: readonly { metadata: { name: string } }[] } }>(
    url,
    `{ list: ${list} { nodes { metadata { name } } } }`,
  );
  return found.list.nodes.map(({ metadata: { name } }) => name);
}

test.each(pairs)('%o keeps its names, and %o is %s', { timeout: 60_000 }, async (one, other, list) => {
  const { start, create } = await world();
  create(one, 'early');
  const gateway = await start('first');
  const resources = `{ resources(kinds: ["${one.plural}.${one.group}"]) { list diagnostics } }`;
  const before = await data<{ resources: readonly { list: string }[] }>(gateway.url, resources);
  const known = before.resources[0]?.list ?? '';
  create(other, 'late', 'later');
  await eventually(async () => expect(await namesIn(gateway.url, list)).toEqual(['late', 'later']));
  expect(await namesIn(gateway.url, known)).toEqual(['early']);
  expect(await data(gateway.url, resources)).toEqual({ resources: [{ list: known, diagnostics: [] }] });

  const key = `${other.plural}.${other.group}`;
  expect(await namesIn(gateway.url, `objects(kinds: ["${key}"])`)).toEqual(['late', 'later']);
  expect(await namesIn(gateway.url, `objects(kinds: ["*.${one.group}", "*.${other.group}"])`)).toEqual(
    expect.arrayContaining(['early', 'late', 'later']),
  );
  const told = `{ resources(kinds: ["${key}"]) { list diagnostics } }`;
  expect(await data(gateway.url, told)).toEqual({
    resources: [{ list, diagnostics: [expect.stringContaining(`belongs to ${one.plural}.${one.group}`)] }],
  });

  // Another gateway, which sees both at once.
  const second = await start('second');
  expect([await namesIn(second.url, known), await namesIn(second.url, list)]).toEqual([['early'], ['late', 'later']]);
});

test('the names of a kind that is gone are free for nobody else', { timeout: 60_000 }, async () => {
  const { sim, start, create } = await world();
  const [one, other, list] = pairs[0];
  create(one, 'early');
  create(other, 'late');
  const gateway = await start('first');
  sim.delete(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${one.plural}.${one.group}`);
  const known = '{ kafkaExampleIoTopics { totalCount } }';
  await eventually(async () =>
    expect((await ask(gateway.url, known)).errors?.[0]?.message).toContain('Cannot query field'),
  );
  expect(await namesIn(gateway.url, list)).toEqual(['late']);
  create(one, 'again');
  await eventually(async () => expect(await namesIn(gateway.url, 'kafkaExampleIoTopics')).toEqual(['again']));
});
