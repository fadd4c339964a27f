/**
 * Hostile documents and variables, over HTTP against a whole gateway. Each is refused with a code that names the broken limit, and a
 * query of another client at the same time is answered.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import type { ClusterOptions } from '../../src/kube/client/connection.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { ask, data } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';

const folder = kubeconfigFolder();
let sim: SimCluster;
let gateway: RunningGateway;

beforeAll(async () => {
  sim = await startSimCluster({ objects: 'demo' });
  const cluster: ClusterOptions = { name: 'demo', kubeconfig: folder.file('config', sim.kubeconfig()) };
  gateway = await runGateway(cluster, { leaseMs: '20000' });
}, 120_000);

afterAll(async () => {
  await gateway?.close();
  await sim?.close();
  folder.remove();
});

const list = 'query ($filter: PodFilter) { pods(filter: $filter, first: 1) { nodes { id } totalCount } }';
const named = { metadata: { name: { eq: 'x' } } };
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const deep = (depth: number, wrap: (inner: object) => object): object => {
  let filter: object = named;
  for (let count = 0; count < depth; count++) filter = wrap(filter);
  return filter;
};
const pods = (filter: string): string => `{ pods(filter: ${filter}) { nodes { id } } }`;

test.each<[what: string, document: string, variables: () => Record<string, unknown>, code: string, says: RegExp]>([
  [
    '10,000 aliases',
    `{ ${many(10_000, (index) => `a${index}: __typename`).join(' ')} }`,
    () => ({}),
    'QUERY_TOO_COSTLY',
    /10000 tokens/,
  ],
  [
    '1,000 aliases',
    `{ ${many(1000, (index) => `a${index}: __typename`).join(' ')} }`,
    () => ({}),
    'QUERY_TOO_COSTLY',
    /1000 aliases; at most 200/,
  ],
  [
    'fields 500 deep',
    `${'{ owned { nodes '.repeat(500)}{ id }${' } }'.repeat(500)}`,
    () => ({}),
    'QUERY_TOO_COSTLY',
    /nests \d+ brackets/,
  ],
  [
    'a filter 500 deep in the document',
    pods(`${'{ not: '.repeat(500)}{ metadata: { name: { eq: "x" } } }${' }'.repeat(500)}`),
    () => ({}),
    'QUERY_TOO_COSTLY',
    /brackets/,
  ],
  [
    'fragments in fragments',
    `{ ...F0 } ${many(40, (index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`).join(' ')} fragment F40 on Query { pods { nodes { id } } }`,
    () => ({}),
    'QUERY_TOO_COSTLY',
    /could give/,
  ],
  [
    'not 500 deep in a variable',
    list,
    () => ({ filter: deep(500, (not) => ({ not })) }),
    'QUERY_TOO_COSTLY',
    /variables nest \d+ deep; at most 100/,
  ],
  [
    'and, or, not 60 deep',
    list,
    () => ({ filter: deep(20, (inner) => ({ and: [{ or: [{ not: inner }] }] })) }),
    'QUERY_TOO_COSTLY',
    /nests 61 levels; at most 50|variables nest/,
  ],
  [
    '1,000 conditions',
    list,
    () => ({ filter: { or: many(1000, () => named) } }),
    'QUERY_TOO_COSTLY',
    /has at least 501 conditions; at most 500/,
  ],
  [
    '100,000 values',
    list,
    () => ({ filter: { metadata: { name: { in: many(100_000, String) } } } }),
    'QUERY_TOO_COSTLY',
    /names 100000 values; at most 10000/,
  ],
  [
    '20,000 namespaces',
    list,
    () => ({ filter: { namespaces: many(20_000, String) } }),
    'QUERY_TOO_COSTLY',
    /names 20000 values/,
  ],
  ['10,000 ids that are none', list, () => ({ filter: { ids: many(10_000, String) } }), 'BAD_USER_INPUT', /id/],
  [
    'a label selector of 20,000 values',
    list,
    () => ({ filter: { labelSelector: `app in (${many(20_000, String).join(',')})` } }),
    'QUERY_TOO_COSTLY',
    /names 20000 values/,
  ],
  [
    'a label selector of 5,000 requirements',
    list,
    () => ({ filter: { labelSelector: many(5000, (index) => `a${index}`).join(',') } }),
    'BAD_USER_INPUT',
    /./,
  ],
  [
    'a field selector of 5,000 terms',
    list,
    () => ({ filter: { fieldSelector: many(5000, () => 'metadata.name!=x').join(',') } }),
    'BAD_USER_INPUT',
    /at most 100/,
  ],
  [
    'a search for 5,000 words',
    list,
    () => ({ filter: { search: many(5000, String).join(' ') } }),
    'BAD_USER_INPUT',
    /at most 10/,
  ],
  [
    'a pattern of 5,000 characters',
    list,
    () => ({ filter: { metadata: { name: { matches: '(a|b)*'.repeat(1000) } } } }),
    'BAD_USER_INPUT',
    /at most 500/,
  ],
  [
    'a pattern that multiplies',
    list,
    () => ({ filter: { metadata: { name: { matches: '((a{100}){100}){100}' } } } }),
    'BAD_USER_INPUT',
    /./,
  ],
  [
    'a path of 1,000,000 characters',
    list,
    () => ({ filter: { path: [{ path: 'a.'.repeat(400_000), exists: true }] } }),
    'BAD_USER_INPUT',
    /./,
  ],
])('%s', async (_what, document, variables, code, says) => {
  const neighbours = many(3, () =>
    data<{ pods: { nodes: unknown[] } }>(gateway.url, '{ pods(first: 3) { nodes { id } } }'),
  );
  const answer = await ask(gateway.url, document, variables());
  expect(
    answer.errors?.map(({ extensions }) => extensions?.['code']),
    JSON.stringify(answer).slice(0, 500),
  ).toContain(code);
  expect(answer.errors?.map(({ message }) => message).join('\n')).toMatch(says);
  expect(answer.errors?.every(({ extensions }) => extensions?.['code'] !== 'INTERNAL_SERVER_ERROR')).toBe(true);
  for (const neighbour of await Promise.all(neighbours)) expect(neighbour.pods.nodes.length).toBe(3);
});

test('not 100,000 deep in a variable', async () => {
  // JSON.stringify itself would overflow the stack.
  const filter = `${'{"not":'.repeat(100_000)}${JSON.stringify(named)}${'}'.repeat(100_000)}`;
  const response = await fetch(gateway.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: `{"query":${JSON.stringify(list)},"variables":{"filter":${filter}}}`,
  });
  const { errors } = (await response.json()) as { errors: { message: string; extensions: { code: string } }[] };
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatchObject({
    message: expect.stringMatching(/nest 100\d+ deep/),
    extensions: { code: 'QUERY_TOO_COSTLY' },
  });
  expect(await data(gateway.url, '{ __typename }')).toEqual({ __typename: 'Query' });
});

test('a body beyond 1 MiB is refused before it is read', async () => {
  const response = await fetch(gateway.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: `{ __typename } # ${'x'.repeat(1_100_000)}` }),
  });
  expect(response.status).toBe(413);
  expect(await data(gateway.url, '{ __typename }')).toEqual({ __typename: 'Query' });
});

test.each<[what: string, filter: () => object]>([
  ['500 conditions', () => ({ or: many(499, () => named) })],
  [
    '500 conditions that all hold',
    () => ({ and: many(499, () => ({ spec: { nodeName: { ne: 'x' } } })).slice(0, 240) }),
  ],
  ['49 levels', () => deep(48, (not) => ({ not }))],
  ['10,000 values', () => ({ metadata: { name: { in: many(10_000, String) } } })],
  ['a pattern that explodes elsewhere', () => ({ metadata: { name: { matches: '(a+)+(b+)+$' } } })],
])('what just fits is answered: %s', async (_what, filter) => {
  const answer = await ask(gateway.url, list, { filter: filter() });
  expect(answer.errors).toBeUndefined();
});
