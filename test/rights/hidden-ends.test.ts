/** Filters, orders and groups through relations to objects that the caller may not see: the answer says so. */
import { expect, test } from 'vitest';
import { allRows, noRows, type Scope } from '../../src/access/scope.ts';
import { made } from '../kit/engine-fixture.ts';
import { gadgets, widgets } from '../kit/graphql-world.ts';
import { type PlacedObject, scopedStore, scopesOf, worldKinds } from '../kit/scoped-world.ts';

const inN0: Scope = {
  rows: 'some',
  clusters: new Map([['east', { namespaces: new Set(['n0']), names: new Map() }]]),
};
const everyAccess = (scope: Scope) => ({ list: scope, get: scope, watch: scope });

function placed(key: string, namespace: string | null, name: string, spec: Record<string, unknown>): PlacedObject {
  const object = made({ name, namespace, spec, metadata: { uid: `u-${key}-${name}` } });
  return { cluster: 'east', key, namespace, name, object };
}

async function asked(visible: Readonly<Record<string, Scope>>) {
  const store = await scopedStore();
  await store.fill([
    placed(gadgets, null, 'g1', { name: 'x' }),
    placed(widgets, 'n0', 'a', { name: 'g1', tags: ['b'] }),
    placed(widgets, 'n0', 'b', {}),
  ]);
  store.scopes = scopesOf(new Map(worldKinds.map((key) => [key, everyAccess(visible[key] ?? allRows)])));
  return async (list: string): Promise<{ data: Record<string, unknown>; warnings: string[] }> => {
    const replies = await store.pair.ask(JSON.stringify({ query: `{ w: ${list} }` }));
    const [prepared, executed] = replies.map(({ text }) => JSON.parse(text));
    expect(prepared).toEqual(executed);
    expect(executed.errors).toBeUndefined();
    const warnings = executed.extensions.portolan.warnings ?? [];
    return { data: executed.data.w, warnings: warnings.map(({ message }: { message: string }) => message) };
  };
}

const named = 'nodes { metadata { name } }';

test.each([
  ['exists: false', `exampleComWidgets(filter: { gadget: { exists: false } }) { totalCount ${named} }`],
  ['not', `exampleComWidgets(filter: { not: { gadget: { is: { spec: { name: { eq: "x" } } } } } }) { ${named} }`],
  [
    'a relation of a relation',
    `exampleComWidgets(filter: { tagged: { none: { gadget: { exists: true } } } }) { ${named} }`,
  ],
  [
    'a filter of related objects',
    `exampleComWidgets { nodes { tagged(filter: { gadget: { exists: false } }) { ${named} } } }`,
  ],
  ['an order', `exampleComWidgets(orderBy: [{ path: "gadget.spec.name" }]) { ${named} }`],
  ['groups', 'exampleComWidgets { aggregate { groups(by: ["cluster", "gadget.spec.name"]) { keys } } }'],
  [
    'groups of related objects',
    'exampleComWidgets { nodes { tagged { aggregate { groups(by: ["cluster", "gadget.spec.name"]) { keys } } } } }',
  ],
  ['a facet', 'exampleComWidgets { facets(paths: ["gadget.spec.name"]) { values { value } } }'],
])('%s through a kind that the caller may not see is named', async (_what, list) => {
  for (const hidden of [noRows, inN0]) {
    const ask = await asked({ [gadgets]: hidden, [widgets]: inN0 });
    const { warnings } = await ask(list);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('You may not see all objects of gadgets.example.com.');
  }
});

test('usedBy: a kind that may name the object, and of which the caller sees a part, is named', async () => {
  const used = `exampleComGadgets(filter: { usedBy: { exists: false } }) { ${named} }`;
  const ask = await asked({ [widgets]: inN0 });
  expect((await ask(used)).warnings).toEqual([expect.stringContaining('all objects of widgets.example.com.')]);
  const askAll = await asked({ events: noRows });
  expect((await askAll(used)).warnings).toEqual([]);
});

test.each([
  [
    'a relation inside a namespace',
    'exampleComWidgets(filter: { tagged: { exists: false } }) { totalCount }',
    inN0,
    noRows,
  ],
  [
    'related objects that are all visible',
    'exampleComWidgets(filter: { gadget: { exists: false } }) { totalCount }',
    inN0,
    allRows,
  ],
  [
    'a list of a cluster whose related objects are visible',
    'exampleComWidgets(filter: { clusters: ["east"], gadget: { exists: false } }) { totalCount }',
    allRows,
    { rows: 'some', clusters: new Map([['east', 'all']]) } satisfies Scope,
  ],
  [
    'groups of a list of a cluster whose related objects are visible',
    'exampleComWidgets(filter: { clusters: ["east"] }) { aggregate { groups(by: ["gadget.spec.name"]) { keys } } }',
    allRows,
    { rows: 'some', clusters: new Map([['east', 'all']]) } satisfies Scope,
  ],
  ['a list without relations', `exampleComWidgets { ${named} }`, inN0, noRows],
] as const)('%s: no warning', async (_what, list, ofWidgets, ofGadgets) => {
  const ask = await asked({ [widgets]: ofWidgets, [gadgets]: ofGadgets });
  expect((await ask(list)).warnings).toEqual([]);
});
