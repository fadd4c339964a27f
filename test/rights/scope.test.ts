/**
 * A caller without rights sees no row through any field that reads rows. Each field has its own statements, so the test finds a
 * statement that ignores the scope.
 */

import { expect, test } from 'vitest';
import { fixedRights } from '../../src/access/rights.ts';
import { allRows, noRows, type Scope, unrestricted } from '../../src/access/scope.ts';
import { encodeObjectId } from '../../src/query/plan/object-id.ts';
import { answerPair } from '../kit/answer-pair.ts';
import { made } from '../kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../kit/graphql-world.ts';

const id = encodeObjectId({ cluster: 'east', key: widgets, namespace: 'default', name: 'secret-1' });

/** Every root and every field that reads rows. */
const documents: readonly string[] = [
  '{ exampleComWidgets { nodes { id metadata { name } } } }',
  '{ exampleComWidgets(orderBy: [{ path: "status.phase" }]) { edges { cursor node { id } } pageInfo { hasNextPage endCursor } } }',
  '{ exampleComWidgets(filter: { labelSelector: "app=shop" }) { totalCount nodes { raw } } }',
  '{ exampleComWidgets(filter: { namespaces: ["default"], status: { phase: { eq: "Ready" } } }) { totalCount nodes { id } } }',
  `{ exampleComWidgets(filter: { ids: ["${id}"] }) { nodes { id } } }`,
  '{ exampleComWidgets(filter: { search: "secret" }) { nodes { id } } }',
  '{ exampleComWidgets { totalCount } }',
  '{ exampleComWidgets(filter: { clusters: ["east"] }) { totalCount(limit: 10) } }',
  '{ exampleComWidgets { aggregate { count max(path: "spec.replicas") groups(by: ["metadata.namespace"]) { keys } } } }',
  '{ exampleComWidgets(filter: { namespaces: ["default"] }) { facets(paths: ["metadata.namespace", "status.phase"]) { values { value } } } }',
  '{ objects(kinds: ["*"]) { totalCount nodes { id } aggregate { count } } }',
  `{ object(id: "${id}") { id } }`,
  '{ exampleComWidget(namespace: "default", name: "secret-1") { id } }',
  '{ exampleComWidget(namespace: "default", name: "secret-1") { history { since nodes { name } } } }',
  '{ changes(since: "-1d") { nodes { name uid } reaches { kind since } } }',
];

async function world(mayRead: (key: string) => boolean, limits: { readonly scanRows?: number } = {}) {
  const scopesOf = () => ({
    id: 'test',
    of: (key: string) => (mayRead(key) ? unrestricted.of(key) : noRows),
  });
  const pair = await answerPair({ engine: { rights: fixedRights(scopesOf), ...limits } });
  const { fixture } = pair;
  await fixture.declare(widget(), gadget());
  const owner = { uid: 'uid-gadget', name: 'owner', kind: 'Gadget', apiVersion: 'example.com/v1', controller: true };
  await fixture.sync(gadgets, [made({ name: 'owner', uid: 'uid-gadget' })]);
  await fixture.sync(
    widgets,
    ['secret-1', 'secret-2'].map((name) =>
      made({
        name,
        labels: { app: 'shop' },
        metadata: { ownerReferences: [owner] },
        spec: { replicas: 3 },
        status: { phase: 'Ready' },
      } as never),
    ),
  );
  return pair;
}

test.each(documents)('without rights, the answer is null and FORBIDDEN: %s', async (query) => {
  const { ask } = await world(() => false);
  for (const { text } of await ask(JSON.stringify({ query }))) {
    const { data, errors } = JSON.parse(text) as { data: object; errors: { extensions: { code: string } }[] };
    expect(Object.values(data)).toEqual([null]);
    expect(errors.map(({ extensions: { code } }) => code)).toEqual(['FORBIDDEN']);
    expect(text).not.toContain('uid-');
  }
});

test('without rights, resources has no entry', async () => {
  const { ask } = await world(() => false);
  for (const { text } of await ask(JSON.stringify({ query: '{ resources { key objects lastEventAt } }' }))) {
    expect(JSON.parse(text).data).toEqual({ resources: [] });
  }
});

test('without rights, objects by id are null and FORBIDDEN, whether they exist or not', async () => {
  const { ask } = await world(() => false);
  const other = encodeObjectId({ cluster: 'east', key: widgets, namespace: 'default', name: 'nobody' });
  const query = `{ objectsById(ids: ["${id}", "${other}"]) { id owners { nodes { id } } } }`;
  for (const { text } of await ask(JSON.stringify({ query }))) {
    const { data, errors } = JSON.parse(text);
    expect(data).toEqual({ objectsById: [null, null] });
    expect(errors).toHaveLength(2);
    expect(errors[0].message).toBe(errors[1].message);
    expect(errors[0].extensions).toMatchObject({ code: 'FORBIDDEN' });
  }
});

test.each([
  'filter: { labelSelector: "app=shop", spec: { replicas: { gte: 0 } } }',
  'filter: { namespaces: ["default"], spec: { replicas: { gte: 0 } } }',
  'filter: { spec: { replicas: { gte: 0 } } }',
])('rows without rights count towards no scan budget, whose excess would tell their number: %s', async (list) => {
  const query = `{ exampleComWidgets(${list}) { totalCount aggregate { max(path: "spec.replicas") groups(by: ["spec.name"]) { keys } } } }`;
  const extensionsFor = async (mayRead: boolean) => {
    const { ask } = await world(() => mayRead, { scanRows: 1 });
    const [, { text }] = await ask(JSON.stringify({ query }));
    return JSON.parse(text).extensions.portolan;
  };
  expect((await extensionsFor(true)).notAfforded).not.toHaveLength(0);
  expect(await extensionsFor(false)).not.toHaveProperty('notAfforded');
});

test('related objects of a kind without rights are not shown, those of others are', async () => {
  const query =
    '{ exampleComGadgets { nodes { metadata { name } owned { totalCount nodes { id } aggregate { count } } } } }';
  const hidden = await world((key) => key === gadgets);
  const [, answer] = await hidden.ask(JSON.stringify({ query }));
  expect(JSON.parse(answer.text).data.exampleComGadgets.nodes).toEqual([
    { metadata: { name: 'owner' }, owned: { totalCount: 0, nodes: [], aggregate: { count: 0 } } },
  ]);
  const seen = await world(() => true);
  const [, whole] = await seen.ask(JSON.stringify({ query }));
  expect(JSON.parse(whole.text).data.exampleComGadgets.nodes[0].owned).toMatchObject({
    totalCount: 2,
    aggregate: { count: 2 },
  });
});

test('owners of a kind without rights are not shown', async () => {
  const query = '{ exampleComWidgets { nodes { owners { totalCount nodes { id } aggregate { count } } } } }';
  const { ask } = await world((key) => key === widgets);
  const [, answer] = await ask(JSON.stringify({ query }));
  const owners = { totalCount: 0, nodes: [], aggregate: { count: 0 } };
  expect(JSON.parse(answer.text).data.exampleComWidgets.nodes).toEqual([{ owners }, { owners }]);
});

test('a subscription to a kind without rights is refused', async () => {
  const { fixture } = await world(() => false);
  const document = 'subscription { exampleComWidgetChanges { phase totalCount changes { id } } }';
  await expect(fixture.subscribe(document)).rejects.toThrow('You may not list and watch widgets.example.com');
});

const inOneNamespace: Scope = {
  rows: 'some',
  clusters: new Map([['east', { namespaces: new Set(['a']), names: new Map([['b', new Set(['named'])]]) }]]),
};

test.each([
  ['a list', '{ w: exampleComWidgets { totalCount nodes { metadata { name } } } }', ['named', 'open']],
  [
    'an order',
    '{ w: exampleComWidgets(orderBy: [{ path: "metadata.creationTimestamp" }]) { nodes { metadata { name } } } }',
    ['named', 'open'],
  ],
  [
    'a filter',
    '{ w: exampleComWidgets(filter: { namespaces: ["b"] }) { totalCount nodes { metadata { name } } } }',
    ['named'],
  ],
  [
    'a list over kinds',
    '{ w: objects(kinds: ["widgets.example.com"]) { nodes { metadata { name } } } }',
    ['named', 'open'],
  ],
] as const)('%s has only the rows of the namespaces and the names of the scope', async (_of, query, names) => {
  const pair = await answerPair({ engine: { rights: fixedRights(() => ({ id: 'some', of: () => inOneNamespace })) } });
  await pair.fixture.declare(widget(), gadget());
  await pair.fixture.sync(widgets, [
    made({ name: 'open', namespace: 'a' }),
    made({ name: 'named', namespace: 'b' }),
    made({ name: 'hidden', namespace: 'b' }),
    made({ name: 'named', namespace: 'c' }),
  ]);
  await pair.fixture.sync(gadgets, [made({ name: 'hidden', namespace: null })]);
  for (const { text } of await pair.ask(JSON.stringify({ query }))) {
    const { w } = JSON.parse(text).data;
    expect(w.nodes.map(({ metadata }: { metadata: { name: string } }) => metadata.name).toSorted()).toEqual(names);
    if (w.totalCount !== undefined) expect(w.totalCount).toBe(names.length);
  }
});

test('only callers who see all objects get an explanation: others would learn from routes and rows what hidden objects have', async () => {
  const query = '{ objects(kinds: ["*"], filter: { search: "secret-1" }) { nodes { id } } }';
  for (const mayRead of [true, false]) {
    const scopesOf = () => ({
      id: 'test',
      of: (key: string) => (mayRead || key === gadgets ? unrestricted.of(key) : noRows),
    });
    const pair = await answerPair({ engine: { rights: fixedRights(scopesOf), diagnosis: { explain: true } } });
    await pair.fixture.declare(widget(), gadget());
    await pair.fixture.sync(widgets, [made({ name: 'secret-1' })]);
    await pair.fixture.sync(gadgets, []);
    for (const { text } of await pair.ask(JSON.stringify({ query, extensions: { portolan: { explain: true } } }))) {
      const { explain, warnings } = JSON.parse(text).extensions.portolan;
      expect(explain !== undefined).toBe(mayRead);
      expect(warnings?.[0].message ?? '').toContain(mayRead ? '' : 'The explanation is left out');
    }
  }
});

test('a warning of letter case tells nothing of hidden objects', async () => {
  const query = '{ exampleComWidgets(filter: { status: { phase: { eq: "ready" } } }) { totalCount nodes { id } } }';
  const warningsOf = async (scope: Scope): Promise<unknown> => {
    const rights = fixedRights(() => ({ id: 'test', of: () => scope }));
    const { ask, fixture } = await answerPair({ engine: { rights } });
    await fixture.declare(widget());
    await fixture.sync(widgets, [made({ name: 'w', namespace: 'hidden', status: { phase: 'Ready' } })]);
    const [prepared, executed] = await ask(JSON.stringify({ query }));
    expect(prepared.text).toBe(executed.text);
    return JSON.parse(executed.text).extensions.portolan.warnings;
  };
  expect(await warningsOf(allRows)).toHaveLength(1);
  expect(await warningsOf(inOneNamespace)).toBeUndefined();
});
