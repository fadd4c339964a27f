/** docs/sets.md: its mutations run in a simulated cluster, in their order, and its tables have every state. */
import { createClient } from 'graphql-sse';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { shadowRecordCrd } from '../../src/sets/record/shadow-record-crd.ts';
import { eventually } from '../kit/eventually.ts';
import { type Answer, ask } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { WritingGateway } from '../kit/writing-gateway.ts';
import { blocksOf, readPage } from '../kit/written-page.ts';

const page = readPage('docs/sets.md');

interface Write {
  readonly items?: readonly { readonly result: string; readonly errors: readonly unknown[] }[];
}

const folder = kubeconfigFolder();
let sim: SimCluster;
let gateway: WritingGateway;

beforeAll(async () => {
  sim = await startSimCluster();
  const post = (path: string, body: object) =>
    fetch(new URL(path, sim.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', shadowRecordCrd());
  await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  gateway = await WritingGateway.start(folder.write({ server: sim.url }));
});
afterAll(async () => {
  await gateway?.close();
  await sim?.close();
  folder.remove();
});

const run = async (
  document: string,
  variables: Record<string, unknown> = {},
): Promise<Write & { readonly nodes?: readonly unknown[] }> => {
  const answer: Answer<Record<string, Write>> = await ask<Record<string, Write>>(
    gateway.url,
    document,
    variables,
    gateway.headers,
  );
  if (answer.errors !== undefined) throw new Error(JSON.stringify(answer.errors));
  return Object.values(answer.data ?? {})[0] ?? {};
};

test('each mutation does what it says, and the record shows its members', async () => {
  const examples = blocksOf(page, 'graphql').filter((block) => !block.startsWith('subscription'));
  const [submit = '', plan = '', remove = '', back = '', sets = ''] = examples;
  const resultsOf = async (document: string, variables: Record<string, unknown> = {}) => {
    const { items = [] } = await run(document, variables);
    expect(items.flatMap(({ errors }) => errors)).toEqual([]);
    return items.map(({ result }) => result);
  };
  expect(await resultsOf(submit)).toEqual(['CREATED', 'CREATED', 'CREATED']);
  expect(await resultsOf(submit)).toEqual(['UNCHANGED', 'UNCHANGED', 'UNCHANGED']);
  await eventually(async () =>
    expect((await run(sets)).nodes).toMatchObject([
      {
        metadata: { name: 'banner' },
        spec: { phase: 'Applied' },
        setHealth: { status: 'Current' },
        members: [
          { name: 'banner', state: 'PRESENT', manifest: { kind: 'ConfigMap', data: { text: 'hello' } } },
          { name: 'colours', state: 'PRESENT', object: { health: { status: 'Current' } } },
        ],
      },
    ]),
  );
  expect(await resultsOf(plan)).toEqual(['CHANGED', 'DELETED', 'CHANGED']);
  // The reach of a history begins at a whole second.
  const then = await eventually(async () => {
    const at = new Date().toISOString();
    await resultsOf(back, { to: at });
    return at;
  });
  expect(await resultsOf(remove)).toEqual(['DELETED', 'DELETED', 'DELETED']);
  await eventually(async () => expect(await resultsOf(back, { to: then })).toEqual(['CREATED', 'CREATED', 'CREATED']));
});

interface Progress {
  readonly done: number;
  readonly total: number;
  readonly item: { readonly target: { readonly name: string }; readonly result: string } | null;
  readonly write: { readonly planId: string | null; readonly complete: boolean } | null;
}

test('the subscription tells of each member, of a plan and of its writing', async () => {
  const query = blocksOf(page, 'graphql').find((block) => block.startsWith('subscription')) ?? '';
  const client = createClient({ url: gateway.url, retryAttempts: 0, headers: gateway.headers });
  const configMap = (name: string) => ({
    json: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } },
  });
  const follow = async (options: object, names: readonly string[]): Promise<readonly Progress[]> => {
    const messages: Progress[] = [];
    const variables = { docs: names.map(configMap), options: { ...options } };
    for await (const { data, errors } of client.iterate<{ writes: Progress }>({ query, variables })) {
      expect(errors).toBeUndefined();
      if (data) messages.push(data.writes);
    }
    return messages;
  };
  const told = (messages: readonly Progress[]): readonly string[] =>
    messages.flatMap(({ item }) => (item === null ? [] : [`${item.target.name} ${item.result}`]));
  const planned = await follow({ dryRun: true }, ['one', 'two']);
  expect(planned.map(({ done, total }) => `${done} of ${total}`)).toEqual([
    '0 of 3',
    '1 of 3',
    '2 of 3',
    '3 of 3',
    '3 of 3',
  ]);
  expect(told(planned).toSorted()).toEqual(['banner CREATED', 'one CREATED', 'two CREATED']);
  const plan = planned.at(-1)?.write?.planId;
  expect(told(await follow({ plan }, ['one', 'two'])).toSorted()).toEqual(told(planned).toSorted());
  // What is left alone is told of too.
  const pruned = await follow({ requestId: '0b8f7d5e-5d0c-4a51-9d4f-1f2f6f0f7a11' }, ['two']);
  expect(told(pruned).toSorted()).toEqual(['banner CHANGED', 'one DELETED', 'two UNCHANGED']);
  expect(pruned.at(-1)).toMatchObject({ done: 3, total: 3, item: null, write: { complete: true } });
  client.dispose();
});

test('the page names every state', () => {
  for (const state of ['PRESENT', 'LEAVING', 'MISSING', 'REPLACED', 'PENDING', 'HIDDEN', 'UNKNOWN'])
    expect(page).toContain(`\`${state}\``);
});
