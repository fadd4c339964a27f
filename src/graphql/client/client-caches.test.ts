/** Apollo's and graphcache's own caches with the printed policies, and answers as the gateway gives them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { apolloCache, urqlCache } from '../../../test/kit/client-caches.ts';
import {
  added,
  all,
  change,
  conditions,
  detail,
  detailDocument,
  edgesDocument,
  interfaceDocument,
  listDocument,
  page,
  removed,
} from '../../../test/kit/pod-answers.ts';
import { type PrintedModules, printModules } from '../../../test/kit/printed-modules.ts';

let printed: PrintedModules;
const warned = vi.fn<(...words: unknown[]) => void>();

beforeAll(async () => {
  printed = await printModules();
});
afterAll(() => printed.remove());
beforeEach(() => {
  warned.mockReset();
  for (const level of ['warn', 'error', 'log', 'debug'] as const) vi.spyOn(console, level).mockImplementation(warned);
});
afterEach(() => {
  vi.restoreAllMocks();
  expect(warned.mock.calls).toEqual([]);
});

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

describe.each([
  ['Apollo', () => apolloCache(printed.apollo)],
  ['urql', () => urqlCache(printed.urql)],
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
    // The detail query added a condition and a container without the list's fields. The list may be incomplete, but never mixed up.
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
