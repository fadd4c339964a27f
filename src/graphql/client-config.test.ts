/** The printed modules, as an application uses them: with Apollo's and graphcache's own caches, and answers as the gateway gives them. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gql, InMemoryCache } from '@apollo/client';
import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { type CacheExchangeOpts, cacheExchange } from '@urql/exchange-graphcache';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { apolloConfig, urqlConfig } from './client-config.ts';

interface Helpers {
  readonly hold: (objects?: readonly Named[], cursor?: string) => Held;
  readonly foldChanges: (held: Held, message: object) => Held;
  readonly resumable: <C>(client: C) => C;
}
interface ApolloModule extends Helpers {
  readonly cacheConfig: object;
  readonly withPortolan: <C>(cache: C) => C;
  readonly applyChanges: (cache: InMemoryCache, message: object, subscription?: { filter?: unknown }) => void;
}
interface UrqlModule extends Helpers {
  readonly cacheConfig: Partial<CacheExchangeOpts>;
}
interface Named {
  readonly id: string;
  readonly name?: string;
}
interface Held {
  readonly objects: readonly Named[];
  readonly cursor: string | null;
  readonly whole: boolean;
}

let folder: string;
let apollo: ApolloModule;
let urql: UrqlModule;
const warned = vi.fn<(...words: unknown[]) => void>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portolan-clients-'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'apollo.js'), apolloConfig());
  writeFileSync(join(folder, 'urql.js'), urqlConfig());
  apollo = (await import(pathToFileURL(join(folder, 'apollo.js')).href)) as ApolloModule;
  urql = (await import(pathToFileURL(join(folder, 'urql.js')).href)) as UrqlModule;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  warned.mockReset();
  for (const level of ['warn', 'error', 'log', 'debug'] as const) vi.spyOn(console, level).mockImplementation(warned);
});
afterEach(() => {
  vi.restoreAllMocks();
  expect(warned.mock.calls).toEqual([]);
});

const listDocument = `
  query List($filter: PodFilter, $first: Int, $after: String, $last: Int, $before: String) {
    pods(filter: $filter, first: $first, after: $after, last: $last, before: $before) {
      __typename
      totalCount
      changesCursor
      nodes { __typename id metadata { __typename name } spec { __typename nodeName containers { __typename name image } }
        status { __typename conditions { __typename type status } } }
      pageInfo { __typename startCursor endCursor hasNextPage hasPreviousPage }
    }
  }`;
const edgesDocument = listDocument
  .replace('nodes {', 'edges { __typename cursor node {')
  .replace('pageInfo', '} pageInfo');
const detailDocument = `
  query Detail($name: String!) {
    pod(namespace: "a", name: $name) {
      __typename id metadata { __typename labels }
      spec { __typename containers { __typename name resources { __typename limits } } }
      status { __typename phase conditions { __typename type reason } }
    }
  }`;
const interfaceDocument = `
  query Mixed {
    objects(kinds: ["pods", "foos"]) { __typename nodes { __typename ...Shared } }
  }
  fragment Shared on KubernetesObject { id kind metadata { __typename name } }`;

const all = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const conditions = [
  { __typename: 'PodCondition', type: 'Ready', status: 'True' },
  { __typename: 'PodCondition', type: 'Initialized', status: 'False' },
];

function pod(name: string): Record<string, unknown> {
  return {
    __typename: 'Pod',
    id: name,
    metadata: { __typename: 'ObjectMeta', name },
    spec: {
      __typename: 'PodSpec',
      nodeName: `node-${name}`,
      containers: [{ __typename: 'Container', name: 'main', image: `image-${name}` }],
    },
    status: { __typename: 'PodStatus', conditions },
  };
}

/** A page as the gateway answers it, of what is there. */
function page(names: readonly string[], args: Record<string, unknown>, edges = false, changesCursor = 'r1'): object {
  const after = typeof args['after'] === 'string' ? args['after'] : null;
  const before = typeof args['before'] === 'string' ? args['before'] : null;
  const inside = names.filter((name) => (after === null || name > after) && (before === null || name < before));
  const shown =
    typeof args['last'] === 'number'
      ? inside.slice(-args['last'])
      : inside.slice(0, (args['first'] as number | undefined) ?? 3);
  const first = shown[0];
  const last = shown.at(-1);
  return {
    __typename: 'PodConnection',
    totalCount: names.length,
    changesCursor,
    ...(edges
      ? { edges: shown.map((name) => ({ __typename: 'PodEdge', cursor: name, node: pod(name) })) }
      : { nodes: shown.map(pod) }),
    pageInfo: {
      __typename: 'PageInfo',
      startCursor: first ?? null,
      endCursor: last ?? null,
      hasNextPage: names.some((name) => last !== undefined && name > last),
      hasPreviousPage: names.some((name) => first !== undefined && name < first),
    },
  };
}

const detail = (name: string): object => ({
  pod: {
    __typename: 'Pod',
    id: name,
    metadata: { __typename: 'ObjectMeta', labels: { app: 'x' } },
    spec: {
      __typename: 'PodSpec',
      containers: [
        {
          __typename: 'Container',
          name: 'proxy',
          resources: { __typename: 'ResourceRequirements', limits: { cpu: '1' } },
        },
        {
          __typename: 'Container',
          name: 'main',
          resources: { __typename: 'ResourceRequirements', limits: { cpu: '2' } },
        },
      ],
    },
    status: {
      __typename: 'PodStatus',
      phase: 'Running',
      // In another order, and with one that is new.
      conditions: ['PodScheduled', 'Initialized', 'Ready'].map((type) => ({
        __typename: 'PodCondition',
        type,
        reason: `because-${type}`,
      })),
    },
  },
});

const change = (message: object): object => ({
  podChanges: {
    __typename: 'PodChanges',
    reset: false,
    phase: 'LIVE',
    cursor: 'r2',
    removedIds: [],
    changes: [],
    ...message,
  },
});
const removed = (id: string, reason = 'DELETED') => ({
  __typename: 'PodChange',
  type: 'REMOVED',
  id,
  reason,
  object: null,
});
const added = (id: string) => ({ __typename: 'PodChange', type: 'ADDED', id, reason: null, object: pod(id) });
const changesDocument = `
  subscription Watch($filter: PodFilter, $since: String) {
    podChanges(filter: $filter, since: $since) {
      __typename phase reset cursor removedIds
      changes { __typename type id reason object { __typename id metadata { __typename name } } }
    }
  }`;

interface Page {
  readonly names: readonly string[];
  readonly info: Readonly<Record<string, unknown>>;
  readonly changesCursor: string;
}
function shown(data: unknown): Page | null {
  const list = (data as { pods?: Record<string, unknown> } | null)?.pods;
  if (list === undefined || list === null) return null;
  const nodes = (list['nodes'] ?? (list['edges'] as { node: unknown }[]).map(({ node }) => node)) as { id: string }[];
  const { __typename, ...info } = list['pageInfo'] as Record<string, unknown>;
  return { names: nodes.map(({ id }) => id), info, changesCursor: list['changesCursor'] as string };
}

/** The two caches behind one face: write an answer, read a document. */
interface Cached {
  answer(document: string, variables: Record<string, unknown>, data: object): Promise<void> | void;
  read(document: string, variables?: Record<string, unknown>): Promise<unknown> | unknown;
  told(message: object, filter?: unknown): Promise<void> | void;
}

function apolloCache(): Cached {
  const cache = apollo.withPortolan(new InMemoryCache(apollo.cacheConfig));
  const parsed = (document: string) => cache.transformDocument(gql(document));
  return {
    answer: (document, variables, data) => void cache.writeQuery({ query: parsed(document), variables, data }),
    read: (document, variables = {}) => cache.readQuery({ query: parsed(document), variables }),
    told(message, filter = null) {
      cache.write({
        query: parsed(changesDocument),
        dataId: 'ROOT_SUBSCRIPTION',
        result: message,
        variables: { filter },
      });
      apollo.applyChanges(cache, (message as { podChanges: object }).podChanges, { filter });
    },
  };
}

function urqlCache(): Cached {
  let answer: object = {};
  const client = new Client({
    url: 'http://gateway.invalid/graphql',
    preferGetMethod: false,
    fetch: async () => Response.json({ data: answer }),
    exchanges: [
      cacheExchange(urql.cacheConfig),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: () => ({
          subscribe(sink) {
            sink.next({ data: answer as Record<string, unknown> });
            return { unsubscribe() {} };
          },
        }),
      }),
    ],
  });
  return {
    async answer(document, variables, data) {
      answer = data;
      await client.query(document, variables, { requestPolicy: 'network-only' }).toPromise();
    },
    read: (document, variables = {}) =>
      client.readQuery(document, variables, { requestPolicy: 'cache-only' })?.data ?? null,
    async told(message, matching = null) {
      answer = message;
      await new Promise((resolve) => {
        const { unsubscribe } = client.subscription(changesDocument, { filter: matching }).subscribe((result) => {
          queueMicrotask(() => unsubscribe());
          resolve(result);
        });
      });
    },
  };
}

describe.each([
  ['Apollo', apolloCache],
  ['urql', urqlCache],
])('%s', (_name, open) => {
  test('pages forward join, each object once, through nodes and through edges', async () => {
    for (const [document, edges] of [
      [listDocument, false],
      [edgesDocument, true],
    ] as const) {
      const cache = open();
      const first = { first: 3 };
      const second = { first: 3, after: 'c' };
      await cache.answer(document, first, { pods: page(all, first, edges, 'r1') });
      await cache.answer(document, second, { pods: page(all, second, edges, 'r2') });
      expect(shown(await cache.read(document, second))).toEqual({
        names: ['a', 'b', 'c', 'd', 'e', 'f'],
        info: { startCursor: 'a', endCursor: 'f', hasNextPage: true, hasPreviousPage: false },
        changesCursor: 'r1',
      });
      expect(shown(await cache.read(document, first))?.names).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
      const third = { first: 3, after: 'f' };
      await cache.answer(document, third, { pods: page(all, third, edges, 'r3') });
      expect(shown(await cache.read(document, third))?.names).toEqual(all);
      expect(shown(await cache.read(document, third))?.info['hasNextPage']).toBe(false);
    }
  });

  test('aggregates of two answers join, and groups are told by their keys, not by their place', async () => {
    const grouped = (fields: string): string => `
      query Grouped($first: Int) {
        pods(first: $first) {
          __typename
          aggregate {
            __typename
            groups(by: ["status.phase"]) { __typename keys cursor aggregate { __typename ${fields} } }
          }
          facets(paths: ["status.phase"]) { __typename path values { __typename value count } }
        }
      }`;
    const counted = grouped('count');
    const summed = grouped('max(path: "metadata.generation")');
    const whole = 'query Count { pods { __typename totalCount aggregate { __typename count } } }';
    const answer = (groups: readonly object[]): object => ({
      pods: {
        __typename: 'PodConnection',
        aggregate: { __typename: 'Aggregate', groups },
        facets: [
          { __typename: 'Facet', path: 'status.phase', values: [{ __typename: 'FacetValue', value: 'a', count: 1 }] },
        ],
      },
    });
    const group = (key: string, fields: object): object => ({
      __typename: 'Group',
      keys: [key],
      cursor: `cursor of ${key}`,
      aggregate: { __typename: 'GroupAggregate', ...fields },
    });
    const cache = open();
    await cache.answer(counted, {}, answer([group('a', { count: 1 }), group('b', { count: 2 })]));
    await cache.answer(summed, {}, answer([group('b', { max: 20 }), group('a', { max: 10 })]));
    await cache.answer(
      whole,
      {},
      {
        pods: { __typename: 'PodConnection', totalCount: 3, aggregate: { __typename: 'Aggregate', count: 3 } },
      },
    );
    const read = async (document: string) => {
      const data = (await cache.read(document)) as {
        pods: { aggregate: { groups: { keys: string[]; aggregate: Record<string, unknown> }[] } };
      };
      return data.pods.aggregate.groups.map(({ keys, aggregate }) => [...keys, aggregate['count'] ?? aggregate['max']]);
    };
    expect(await read(counted)).toEqual([
      ['b', 2],
      ['a', 1],
    ]);
    expect(await read(summed)).toEqual([
      ['b', 20],
      ['a', 10],
    ]);
    expect(await cache.read(whole)).toMatchObject({ pods: { totalCount: 3, aggregate: { count: 3 } } });
  });

  test('pages backward join in front', async () => {
    const cache = open();
    const end = { last: 2 };
    const before = { last: 3, before: 'f' };
    await cache.answer(listDocument, end, { pods: page(all, end) });
    await cache.answer(listDocument, before, { pods: page(all, before) });
    expect(shown(await cache.read(listDocument, before))).toMatchObject({
      names: ['c', 'd', 'e', 'f', 'g'],
      info: { startCursor: 'c', endCursor: 'g', hasNextPage: false, hasPreviousPage: true },
    });
  });

  test('page one read again keeps page two where it still joins on, and never leaves a hole', async () => {
    const first = { first: 3 };
    const second = { first: 3, after: 'c' };
    const without = open();
    await without.answer(listDocument, first, { pods: page(all, first) });
    await without.answer(listDocument, second, { pods: page(all, second) });
    const fewer = all.filter((name) => name !== 'b');
    await without.answer(listDocument, first, { pods: page(fewer, first) });
    expect(shown(await without.read(listDocument, first))?.names).toEqual(['a', 'c', 'd', 'e', 'f']);

    const holed = open();
    await holed.answer(listDocument, first, { pods: page(all, first) });
    await holed.answer(listDocument, second, { pods: page(all, second) });
    await holed.answer(listDocument, first, { pods: page(['0', '1', '2', ...all], first) });
    expect(shown(await holed.read(listDocument, first))).toMatchObject({
      names: ['0', '1', '2'],
      info: { endCursor: '2', hasNextPage: true },
    });
  });

  test('lists of other filters are other lists', async () => {
    const cache = open();
    const [one, two] = [{ filter: { namespaces: ['x'] } }, { filter: { namespaces: ['y'] } }];
    await cache.answer(listDocument, one, { pods: page(['a', 'b'], one) });
    await cache.answer(listDocument, two, { pods: page(['c'], two) });
    expect(shown(await cache.read(listDocument, one))?.names).toEqual(['a', 'b']);
    expect(shown(await cache.read(listDocument, two))?.names).toEqual(['c']);
  });

  test('a detail query and a list keep what the other read, also inside conditions and containers', async () => {
    const cache = open();
    const variables = { first: 3 };
    await cache.answer(listDocument, variables, { pods: page(['a'], variables) });
    await cache.answer(detailDocument, { name: 'a' }, detail('a'));
    const list = (await cache.read(listDocument, variables)) as { pods: { nodes: Record<string, unknown>[] } } | null;
    // The detail brought a condition and a container of which the list's fields are not known: it may be incomplete, never mixed up.
    if (list !== null) expect(JSON.stringify(list)).toContain('node-a');
    await cache.answer(listDocument, variables, { pods: page(['a'], variables) });
    const again = (await cache.read(listDocument, variables)) as { pods: { nodes: Record<string, unknown>[] } };
    expect(again.pods.nodes[0]).toMatchObject({ spec: { nodeName: 'node-a' }, status: { conditions } });
    expect(await cache.read(detailDocument, { name: 'a' })).toMatchObject({
      pod: {
        metadata: { labels: { app: 'x' } },
        spec: { containers: [{ name: 'main', resources: { limits: { cpu: '2' } } }] },
        status: {
          phase: 'Running',
          conditions: [
            { type: 'Ready', reason: 'because-Ready' },
            { type: 'Initialized', reason: 'because-Initialized' },
          ],
        },
      },
    });
  });

  test('a deleted object leaves every list and does not come back with a late detail', async () => {
    const cache = open();
    const first = { first: 3 };
    const second = { first: 3, after: 'c' };
    await cache.answer(listDocument, first, { pods: page(all, first) });
    await cache.answer(listDocument, second, { pods: page(all, second) });
    await cache.told(change({ changes: [removed('b'), removed('e')], removedIds: ['b', 'e'] }));
    const left = ['a', 'c', 'd', 'f'];
    expect(shown(await cache.read(listDocument, second))?.names).toEqual(left);
    await cache.answer(detailDocument, { name: 'b' }, detail('b'));
    expect(shown(await cache.read(listDocument, second))?.names).toEqual(left);
    const third = { first: 3, after: 'f' };
    await cache.answer(listDocument, third, { pods: page(all, third) });
    expect(shown(await cache.read(listDocument, third))?.names).toEqual([...left, 'g']);
  });

  test('what no longer matches leaves the lists of that filter only', async () => {
    const cache = open();
    const own = { filter: { namespaces: ['x'] } };
    await cache.answer(listDocument, own, { pods: page(['a', 'b'], own) });
    await cache.answer(listDocument, {}, { pods: page(['a', 'b'], {}) });
    await cache.told(change({ changes: [removed('b', 'NO_LONGER_MATCHES')] }), own.filter);
    expect(shown(await cache.read(listDocument, own))?.names).toEqual(['a']);
    expect(shown(await cache.read(listDocument, {}))?.names).toEqual(['a', 'b']);
  });

  test('a snapshot after a loss takes out what was deleted meanwhile', async () => {
    const cache = open();
    const first = { first: 3 };
    await cache.answer(listDocument, first, { pods: page(all, first) });
    await cache.told(change({ phase: 'GAP' }));
    await cache.told(change({ phase: 'SNAPSHOT', reset: true, changes: [added('a')] }));
    await cache.told(change({ phase: 'SNAPSHOT', changes: [added('c')] }));
    expect(shown(await cache.read(listDocument, first))?.names).toEqual(['a', 'b', 'c']);
    await cache.told(change({ phase: 'SYNCED' }));
    expect(shown(await cache.read(listDocument, first))?.names).toEqual(['a', 'c']);
  });

  test('fragments on the interface match every kind', async () => {
    const cache = open();
    const node = (__typename: string, id: string) => ({
      __typename,
      id,
      kind: 'K',
      metadata: { __typename: 'ObjectMeta', name: id },
    });
    const answer = {
      objects: {
        __typename: 'KubernetesObjectConnection',
        nodes: [node('Pod', 'p'), node('SamplecontrollerK8sIoFoo', 'f'), node('ExampleComVpc_Connection', 'c')],
      },
    };
    await cache.answer(interfaceDocument, {}, answer);
    expect(await cache.read(interfaceDocument)).toEqual(answer);
  });
});

describe('foldChanges', () => {
  const synced = (message: object) => ({ phase: 'LIVE', reset: false, cursor: 'c1', changes: [], ...message });
  const was = (type: string, id: string, name?: string) => ({
    type,
    id,
    object: type === 'REMOVED' ? null : { id, name },
  });

  test('keeps the order, replaces in place, and is the same when told twice', () => {
    const { hold, foldChanges } = apollo;
    const messages = [
      synced({ phase: 'SNAPSHOT', reset: true, changes: [was('ADDED', '1', 'a'), was('ADDED', '2', 'b')] }),
      synced({ phase: 'SNAPSHOT', changes: [was('ADDED', '3', 'c')] }),
      synced({ phase: 'SYNCED', cursor: 'c3' }),
      synced({ changes: [was('MODIFIED', '1', 'A'), was('REMOVED', '2')], removedIds: ['2'], cursor: 'c4' }),
    ];
    let held = hold();
    for (const message of messages)
      held = foldChanges(
        foldChanges(held, message),
        message.phase === 'SNAPSHOT' ? { ...message, reset: false } : message,
      );
    expect(held).toMatchObject({
      objects: [
        { id: '1', name: 'A' },
        { id: '3', name: 'c' },
      ],
      cursor: 'c4',
      whole: true,
    });
  });

  test('has no cursor to go on from until it is whole', () => {
    const { hold, foldChanges } = urql;
    const read = hold([{ id: '1' }, { id: '2' }], 'c0');
    expect(read).toMatchObject({ cursor: 'c0', whole: true });
    const lost = foldChanges(read, synced({ phase: 'GAP' }));
    expect(lost).toMatchObject({ objects: [{ id: '1' }, { id: '2' }], cursor: null, whole: false });
    const begun = foldChanges(lost, synced({ phase: 'SNAPSHOT', reset: true, changes: [was('ADDED', '2')] }));
    expect(begun).toMatchObject({ objects: [{ id: '2' }], cursor: null, whole: false });
    expect(foldChanges(begun, synced({ phase: 'SYNCED', cursor: 'c9' }))).toMatchObject({ cursor: 'c9', whole: true });
    expect(read.objects).toHaveLength(2);
  });
});

test('resumable sends the last cursor again, and none while a snapshot is under way', () => {
  let sent: { variables?: Record<string, unknown> } = {};
  let push = (_data: object | null): void => {};
  const client = apollo.resumable({
    on: () => 'kept',
    subscribe(payload: object, sink: { next(result: object): void }) {
      sent = payload;
      push = (data) => sink.next({ data });
      return () => {};
    },
  });
  const got: unknown[] = [];
  const next = (result: object): void => void got.push(result);
  const payload = { query: 's', variables: { since: 'c0', filter: 1 } };
  client.subscribe(payload, { next });
  expect(client.on()).toBe('kept');
  expect(sent.variables).toEqual({ since: 'c0', filter: 1 });
  push({ podChanges: { phase: 'SYNCED', cursor: 'c1' } });
  expect(sent.variables).toEqual({ since: 'c1', filter: 1 });
  push({ podChanges: { phase: 'LIVE', cursor: 'c2' } });
  expect(sent.variables).toEqual({ since: 'c2', filter: 1 });
  push({ podChanges: { phase: 'GAP', cursor: 'c2' } });
  expect(sent.variables).toEqual({ since: null, filter: 1 });
  push({ podChanges: { phase: 'SNAPSHOT', cursor: 'c7' } });
  expect(sent.variables).toEqual({ since: null, filter: 1 });
  push({ podChanges: { phase: 'SYNCED', cursor: 'c7' } });
  expect(sent.variables).toEqual({ since: 'c7', filter: 1 });
  push(null);
  expect(got).toHaveLength(6);
  expect(payload.variables.since).toBe('c0');
});

test('the modules fit the clients they are for, in TypeScript at its strictest', async () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const check = {
    allowJs: true,
    checkJs: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    noUnusedLocals: true,
    noUnusedParameters: true,
  };
  const target = {
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
  };
  const options = { ...check, ...target, noEmit: true, skipLibCheck: true, types: [] };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: ['use.ts', 'apollo.js', 'urql.js'] }),
  );
  writeFileSync(
    join(folder, 'use.ts'),
    `
    import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
    import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
    import { cacheExchange } from '@urql/exchange-graphcache';
    import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
    import { createClient } from 'graphql-ws';
    import * as apollo from './apollo.js';
    import * as urql from './urql.js';
    interface Pod { readonly id: string; readonly metadata: { readonly name: string } }
    const live = apollo.resumable(createClient({ url: 'ws://localhost/graphql', retryAttempts: Infinity }));
    const cache: InMemoryCache = apollo.withPortolan(new InMemoryCache(apollo.cacheConfig));
    const link = ApolloLink.split(({ operationType }) => operationType === 'subscription', new GraphQLWsLink(live), new HttpLink({ uri: '/graphql' }));
    export const client = new ApolloClient({ cache, link });
    let held = apollo.hold<Pod>();
    held = apollo.foldChanges(held, { phase: 'LIVE', reset: false, cursor: 'a', changes: [] });
    export const names: string[] = held.objects.map((pod) => pod.metadata.name);
    apollo.applyChanges(cache, {}, { filter: { namespaces: ['a'] } });
    export const other = new Client({
      url: '/graphql',
      preferGetMethod: false,
      exchanges: [cacheExchange(urql.cacheConfig), fetchExchange, subscriptionExchange({
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: (sink) => ({ unsubscribe: live.subscribe({ query, variables }, sink) }),
        }),
      })],
    });
    `,
  );
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe('');
});
