/** References to objects that are not there, for callers who see a part: what they would see is checked, and the answer names the rest. */
import { expect, test } from 'vitest';
import { fixedRights } from '../../src/access/rights.ts';
import { allRows, noRows, type Scope } from '../../src/access/scope.ts';
import { describeRelation } from '../../src/catalog/relations/described-relation.ts';
import { readRelations } from '../../src/catalog/relations/read-relations.ts';
import { engineFixture, made } from '../kit/engine-fixture.ts';
import { gadgets, widget, widgets } from '../kit/graphql-world.ts';
import { type PlacedObject, scopedStore, scopesOf, worldKinds } from '../kit/scoped-world.ts';

function widgetIn(namespace: string, name: string, spec: Record<string, unknown>): PlacedObject {
  const object = made({ name, namespace, spec, metadata: { uid: `u-${namespace}-${name}` } });
  return { cluster: 'east', key: widgets, namespace, name, object };
}

const part = (namespaces: readonly string[], names: Readonly<Record<string, readonly string[]>> = {}): Scope => ({
  rows: 'some',
  clusters: new Map([
    [
      'east',
      {
        namespaces: new Set(namespaces),
        names: new Map(Object.entries(names).map(([at, some]) => [at, new Set(some)])),
      },
    ],
  ]),
});

async function danglingFor(visible: Readonly<Record<string, Scope>>) {
  const store = await scopedStore();
  const refs = (...named: readonly (readonly [string, string])[]) =>
    named.map(([namespace, name]) => ({ kind: 'Widget', group: 'example.com', namespace, name }));
  await store.fill([
    widgetIn('n0', 'a', { name: 'g9', tags: ['b', 'gone'], refs: refs(['n1', 'gone'], ['n1', 'c'], ['n0', 'lost']) }),
    widgetIn('n0', 'b', {}),
    widgetIn('n1', 'c', { tags: ['missing'] }),
  ]);
  const scopes = new Map(
    worldKinds.map((key) => {
      const scope = visible[key] ?? allRows;
      return [key, { list: scope, get: scope, watch: scope }] as const;
    }),
  );
  store.scopes = scopesOf(scopes);
  const query = `{ danglingReferences(first: 50) { edges { cursor node { from { metadata { name } } name } } pageInfo { startCursor endCursor } nodes { from { metadata { name } } kind namespace name state } }
    exampleComWidgets { nodes { metadata { name } references { name state } } } }`;
  const [, { text }] = await store.pair.ask(JSON.stringify({ query }));
  const { data, errors, extensions } = JSON.parse(text);
  expect(errors).toBeUndefined();
  const { edges, nodes, pageInfo } = data.danglingReferences;
  expect(edges.map(({ node }: { node: { name: string } }) => node)).toEqual(
    nodes.map(({ from, name }: { from: unknown; name: string }) => ({ from, name })),
  );
  expect([edges[0]?.cursor ?? null, edges.at(-1)?.cursor ?? null]).toEqual([pageInfo.startCursor, pageInfo.endCursor]);
  const states = new Map<string, string>();
  for (const { metadata, references } of data.exampleComWidgets.nodes) {
    for (const { name, state } of references) states.set(`${metadata.name} ${name}`, state);
  }
  return {
    dangling: data.danglingReferences.nodes.map(
      ({ from, namespace, name }: { from: { metadata: { name: string } }; namespace: string | null; name: string }) =>
        `${from.metadata.name} ${namespace ?? '-'}/${name}`,
    ),
    states,
    warnings: (extensions.portolan.warnings ?? []).map(({ message }: { message: string }) => message),
  };
}

test('a caller who sees all objects gets all of them, without a warning', async () => {
  const { dangling, warnings } = await danglingFor({});
  expect(dangling.toSorted()).toEqual(['a -/g9', 'a n0/gone', 'a n0/lost', 'a n1/gone', 'c n1/missing']);
  expect(warnings).toEqual([]);
});

test('a caller with rights in one namespace gets those to this namespace, and the kinds that are not checked', async () => {
  const { dangling, states, warnings } = await danglingFor({ [widgets]: part(['n0']), [gadgets]: part(['n0']) });
  expect(dangling.toSorted()).toEqual(['a n0/gone', 'a n0/lost']);
  expect(states.get('a gone')).toBeDefined();
  expect(states.get('a lost')).toBe('MISSING');
  expect(states.get('a b')).toBe('THERE');
  expect(states.get('a g9')).toBe('UNKNOWN');
  expect(states.get('a c')).toBe('UNKNOWN');
  expect(warnings).toEqual([
    'Not all references to these kinds are checked, because you may not list all of their objects: gadgets.example.com.',
  ]);
});

test('a name that the caller may get is checked, of a namespaced kind and of a cluster-scoped one', async () => {
  const { dangling } = await danglingFor({
    [widgets]: part(['n0'], { n1: ['gone'] }),
    [gadgets]: part([], { '': ['g9'] }),
  });
  expect(dangling.toSorted()).toEqual(['a -/g9', 'a n0/gone', 'a n0/lost', 'a n1/gone']);
});

test('without a right to the kind that is named, nothing of it is checked', async () => {
  const { dangling, warnings } = await danglingFor({ [gadgets]: noRows });
  expect(dangling).not.toContain('a -/g9');
  expect(warnings).toHaveLength(1);
});

test('a reference with a namespace of its own may lead out of the namespaces of the caller', async () => {
  const { relations } = readRelations(
    {
      relations: [
        {
          from: 'Widget.example.com',
          name: 'peer',
          to: 'Widget.example.com',
          at: [{ at: 'spec.refs[]', namespace: 'namespace' }],
        },
      ],
    },
    'CONFIGURED',
  );
  expect(relations).toHaveLength(1);
  const scopes = scopesOf(new Map([[widgets, { list: part(['n0']), get: part(['n0']), watch: part(['n0']) }]]));
  const fixture = engineFixture({ engine: { rights: fixedRights(() => scopes) } });
  await fixture.declare({ ...widget('east'), relations: relations.map((relation) => describeRelation(relation)) });
  const { object } = widgetIn('n0', 'a', { refs: [{ namespace: 'n1', name: 'gone' }] });
  await fixture.sync(widgets, [object]);
  while (fixture.writer().maintain());
  const { data, operation } = await fixture.query('{ danglingReferences(first: 50) { nodes { name } } }');
  expect(data.danglingReferences.nodes).toEqual([]);
  expect(operation.extensions()['warnings']).toMatchObject([
    { message: expect.stringContaining('all of their objects: widgets.example.com.') },
  ]);
});
