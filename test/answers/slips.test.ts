/** Usual slips of people who come from other APIs, over HTTP. The first error says what to write instead. */
import { describe, expect, test } from 'vitest';
import { demoGateway } from '../kit/demo-gateway.ts';
import { ask } from '../kit/graphql-client.ts';

const gateway = demoGateway({ pods: 60, churn: false });

const pods = (args: string): string => `{ pods(${args}) { totalCount } }`;
const found = (selection: string): string => `{ pods(first: 1) { ${selection} } }`;
const anOrder = '{path: "metadata.name", direction: ASC}';
const theFoos =
  'Write samplecontrollerK8sIoFoos for the list of Foo, samplecontrollerK8sIoFoo(namespace: "…", name: "…") for one.';
const notACursor = '"abc" is not a cursor; use one from pageInfo or an edge, just as it was given.';

/** A query, and how the message of its first error ends. */
const slips: [query: string, end: string, variables?: Record<string, unknown>][] = [
  // Arguments of lists, as Prisma, Hasura, Steve and REST have them.
  [pods('where: {}'), 'Write filter: {metadata: {name: {eq: "web"}}}.'],
  [pods('name: "web"'), 'Write filter: {metadata: {name: {eq: "web"}}}.'],
  [pods('namespace: "shop"'), 'Write filter: {namespaces: ["shop"]}.'],
  [pods('labels: {app: "web"}'), 'Write filter: {labelSelector: "app=web"}.'],
  [pods('limit: 5'), 'Unknown argument "limit" on field "Query.pods". Write first: 20.'],
  [pods('skip: 5'), 'Write offset: 20, or after: "…" with the endCursor of pageInfo.'],
  [pods('order_by: {name: asc}'), `Write orderBy: [${anOrder}].`],
  [pods('sideways: true'), 'pods takes filter, orderBy, first, after, last, before, offset, orEmpty.'],
  ['{ objects(kind: "Pod") { totalCount } }', 'Write kinds: ["Pod"].'],
  ['{ node(id: "x") { id } }', 'Write object(id: "…").'],
  [
    '{ pod(name: "web") { id } }',
    'Write pod(namespace: "…", name: "…") or pods(filter: {metadata: {name: {eq: "…"}}}) for all namespaces.',
  ],
  // Orders and cursors.
  [pods('orderBy: [{field: "metadata.name"}]'), `Write ${anOrder}.`],
  [pods('orderBy: {name: asc}'), `Write ${anOrder}.`],
  [pods('orderBy: "spec.nodeName"'), 'Write {path: "spec.nodeName", direction: ASC}.'],
  [pods('orderBy: [{path: "name"}]'), 'did you mean "metadata.name"?'],
  [pods('orderBy: [{path: "metadata.name", direction: desc}]'), 'Its values are ASC, DESC.'],
  [pods('orderBy: [{path: "metadata.name", direction: "DESC"}]'), 'Its values are ASC, DESC, without quotes.'],
  [pods('after: "abc"'), notACursor],
  [found('nodes { owners(after: "abc") { totalCount } }'), notACursor],
  // Filters.
  [pods('filter: {metadata: {name: "shop"}}'), 'Write {eq: "shop"}.'],
  [
    'query ($f: PodFilter) { pods(filter: $f) { totalCount } }',
    'Write {eq: "shop"}.',
    { f: { metadata: { name: 'shop' } } },
  ],
  [
    'query ($o: [ObjectOrder!]) { pods(orderBy: $o) { totalCount } }',
    'Its values are ASC, DESC.',
    { o: [{ path: 'metadata.name', direction: 'desc' }] },
  ],
  [pods('filter: {metadata: {name: {_eq: "shop"}}}'), 'unknown field "_eq". Write eq.'],
  [pods('filter: {metadata: {name: {not_in: ["shop"]}}}'), 'Write notIn.'],
  [pods('filter: {OR: [{search: "web"}]}'), 'Write or.'],
  [pods('filter: {phase: {eq: "Running"}}'), 'Write status: {phase: …}.'],
  [pods('filter: {metadata: {labels: {app: "web"}}}'), 'Write {key: "app", eq: "…"}.'],
  [pods('filter: {metadata: {labels: "web"}}'), 'Write {key: "…", eq: "web"}.'],
  [
    pods('filter: {metadata: {generation: {contains: "1"}}}'),
    'Int64Filter has exists, eq, ne, in, notIn, lt, lte, gt, gte.',
  ],
  [
    pods('filter: {spec: {containers: {image: {eq: "web"}}}}'),
    'Write some: {image: …} or none: {image: …} or every: {image: …}.',
  ],
  [
    pods('filter: {health: {status: {eq: Healthy}}}'),
    'Its values are Current, InProgress, Failed, Suspended, Terminating, Unknown.',
  ],
  [pods('filter: {metadata: {creationTimestamp: {gt: 1700000000000}}}'), 'Write "2023-11-14T22:13:20Z".'],
  [
    pods('filter: {path: [{path: "metadata.creationTimestamp", gt: 1700000000}]}'),
    'perhaps "2023-11-14T22:13:20Z" is meant.',
  ],
  // Selections.
  ['{ pods }', 'Write pods { nodes { metadata { name } } }.'],
  [found('items { id }'), 'Write nodes.'],
  [found('count'), 'Write totalCount.'],
  [found('totalcount'), 'Did you mean "totalCount"?'],
  [found('name'), 'Write nodes { metadata { name } }.'],
  [found('endCursor'), 'Write pageInfo { endCursor }.'],
  [found('edges { cursor } nodes { name }'), 'Write metadata { name }.'],
  [found('edges { metadata { name } }'), 'Write node { metadata }.'],
  [found('nodes { phase }'), 'Write status { phase }.'],
  [found('nodes { owners { metadata { name } } }'), 'Write nodes { metadata }.'],
  [found('nodes { metadata { labels { app } } }'), 'Write label(key: "app") for one label, or labels for all.'],
  [found('sideways'), 'PodConnection has edges, nodes, pageInfo, totalCount, aggregate, facets, scope, changesCursor.'],
  // Root fields.
  ['{ foos { totalCount } }', theFoos],
  ['{ Foo { id } }', theFoos],
  ['{ listFoos { totalCount } }', theFoos],
  ['{ po { totalCount } }', 'Write pods for the list of Pod, pod(namespace: "…", name: "…") for one.'],
  [
    '{ stateful_sets { id } }',
    'Write statefulSets for the list of StatefulSet, statefulSet(namespace: "…", name: "…") for one.',
  ],
  ['{ podChanges { phase } }', 'Write subscription { podChanges { … } }.'],
  ['{ search(text: "web") { id } }', 'Write objects(kinds: ["*"], filter: {search: "web"}).'],
  ['{ sidewaysUpAndDown }', 'The root fields of the kinds are those of resources { key list one subscription }.'],
  ['subscription { pods { phase } }', 'Write podChanges.'],
  [
    'subscription { podChanges { phase } nodeChanges { phase } }',
    'Send one subscription for each, or objectChanges(kinds: ["Pod", "Node"]) for several kinds.',
  ],
  ['mutation { createPod { id } }', 'Did you mean "create"?'],
  [
    'mutation { launchPod { id } }',
    'Mutation has apply, create, patch, edit, revert, rollback, delete, scale, restart, cordon, evict, applySet, deleteSet, revertSet.',
  ],
  ['{ shadowResources { totalCount } }', 'Write sets.'],
  ['', 'The document is empty; write one, such as { pods { totalCount } }.'],
  // Kinds.
  [
    '{ objects(kinds: ["pdos"]) { totalCount } }',
    'did you mean "pods"? Name it by its type (Pod), its list (pods), plural.group (deployments.apps), a short name (po) or a category (all).',
  ],
  // Names that members of every object of JavaScript have.
  [
    found('constructor'),
    'PodConnection has edges, nodes, pageInfo, totalCount, aggregate, facets, scope, changesCursor.',
  ],
  [pods('constructor: 1'), 'pods takes filter, orderBy, first, after, last, before, offset, orEmpty.'],
];

test.each(slips)('%s', async (query: string, end: string, variables?: Record<string, unknown>) => {
  const { errors = [] } = await ask(gateway.url, query, variables);
  expect(errors[0]?.message.slice(-end.length)).toBe(end);
});

describe('without the definition of ShadowRecord', () => {
  const plain = demoGateway({ pods: 0, churn: false }, { exclude: ['shadowrecords'] });

  test('sets say what they need', async () => {
    const { errors = [] } = await ask(plain.url, '{ sets { totalCount } }');
    expect(errors[0]?.message).toMatch(
      /Sets need the definition of ShadowRecord in a cluster: portolan shadow install\.$/,
    );
  });
});

test('short names and categories name kinds', async () => {
  const { data } = await ask<Record<string, { readonly totalCount: number }>>(
    gateway.url,
    `{ po: objects(kinds: ["po"]) { totalCount } pods { totalCount } both: objects(kinds: ["po", "all"]) { totalCount }
      all: objects(kinds: ["all"]) { totalCount } }`,
  );
  expect(data?.['po']).toEqual(data?.['pods']);
  expect(data?.['both']).toEqual(data?.['all']);
  expect(data?.['all']?.totalCount).toBeGreaterThan(data?.['pods']?.totalCount ?? 0);
});

test('a text in another letter case finds nothing, with a warning', async () => {
  const query = '{ pods(filter: {status: {phase: {eq: "running"}}}) { totalCount } }';
  const { data, extensions } = await ask<{ pods: unknown }>(gateway.url, query);
  expect(data?.pods).toEqual({ totalCount: 0 });
  expect(extensions?.['portolan']).toMatchObject({
    warnings: [{ path: ['pods'], message: expect.stringContaining('there is status.phase "running"') }],
  });
});
