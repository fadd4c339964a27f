import { execute, type GraphQLObjectType, parse } from 'graphql';
import { expect, test } from 'vitest';
import { describedCrd } from '../../../test/kit/engine-fixture.ts';
import { gadget, widget } from '../../../test/kit/graphql-world.ts';
import { describeSimulatedKinds } from '../../../test/kit/simulated-kinds.ts';
import { must } from '../../base/must.ts';
import { assembleCatalog } from '../../catalog/assemble.ts';
import { staticTypes } from '../../catalog/names/reserved-names.ts';
import type { Catalog, CatalogKind } from '../../catalog/resources/catalog.ts';
import { buildStaticSchema } from '../static/static-schema.ts';
import { buildGeneration } from './build-generation.ts';

function catalogOf(...kinds: readonly CatalogKind[]): Catalog {
  return { kinds, typePrefix: '', diagnostics: [], hash: kinds.map(({ hash }) => hash).join() };
}

const [gadgetKind, widgetKind] = assembleCatalog([widget(), gadget()]).kinds.map((kind) => must(kind, 'a kind'));

function both(): readonly [CatalogKind, CatalogKind] {
  return [must(gadgetKind, 'gadgets'), must(widgetKind, 'widgets')];
}

test('each kind has its types and its roots', () => {
  const { schema, kind, clusters, diagnostics } = buildGeneration(catalogOf(...both()));
  expect(diagnostics).toEqual([]);
  expect(Object.keys(schema.getQueryType()?.getFields() ?? {})).toEqual([
    'danglingReferences',
    'changes',
    'resources',
    'clusters',
    'viewer',
    'whoCan',
    'exampleComGadgets',
    'exampleComGadget',
    'exampleComWidgets',
    'exampleComWidget',
    'object',
    'objectsById',
    'objects',
  ]);
  expect(Object.keys(schema.getSubscriptionType()?.getFields() ?? {})).toEqual([
    'resourceChanges',
    'exampleComGadgetChanges',
    'exampleComWidgetChanges',
    'objectChanges',
    'logs',
    'writes',
  ]);
  expect(kind('widgets.example.com')?.names.type).toBe('ExampleComWidget');
  expect(kind('pods')).toBeUndefined();
  expect([...clusters]).toEqual(['east']);
});

test('without kinds there is a schema that can be asked', () => {
  const { schema } = buildGeneration(assembleCatalog([]));
  expect(Object.keys(schema.getSubscriptionType()?.getFields() ?? {})).toEqual([
    'resourceChanges',
    'objectChanges',
    'logs',
    'writes',
  ]);
  expect(execute({ schema, document: parse('{ __typename }') })).toMatchObject({ data: { __typename: 'Query' } });
});

test('a data field called like one that the gateway adds or keeps for later has "_" behind it, at the root only', () => {
  const text = { type: 'string' };
  const properties = { references: text, tree: text, spec: { type: 'object', properties: { references: text } } };
  const { schema } = buildGeneration(assembleCatalog([describedCrd({ kind: 'Foo', plural: 'foos', properties })]));
  const fieldsOf = (name: string) => Object.keys(must(schema.getType(name) as GraphQLObjectType, name).getFields());
  expect(fieldsOf('ExampleComFoo')).toEqual(expect.arrayContaining(['references_', 'tree_', 'spec']));
  expect(fieldsOf('ExampleComFoo')).not.toContain('tree');
  expect(fieldsOf('ExampleComFoo_spec')).toEqual(['references']);
});

test('every type of the static schema has a reserved name', () => {
  const names = Object.keys(buildStaticSchema().getTypeMap()).filter((name) => !name.startsWith('__'));
  expect(names.filter((name) => !staticTypes.has(name))).toEqual([]);
});

test('the id changes exactly when the catalog does', () => {
  const [gadgets, widgets] = both();
  const id = (catalog: Catalog) => buildGeneration(catalog).id;
  expect(id(catalogOf(gadgets, widgets))).toBe(id(catalogOf(gadgets, widgets)));
  expect(id(catalogOf(gadgets))).not.toBe(id(catalogOf(gadgets, widgets)));
});

const broken: readonly [string, (kind: CatalogKind) => CatalogKind][] = [
  ['a shape that is not there', (kind) => ({ ...kind, tree: { ...kind.tree, root: 'nowhere' } })],
  [
    'a nested shape that is not there',
    (kind) => {
      const root = must(kind.tree.shapes[kind.tree.root], 'the root');
      const fields = [{ name: 'spec', type: { kind: 'object', shape: 'nowhere' } } as const];
      return { ...kind, tree: { ...kind.tree, shapes: { ...kind.tree.shapes, [root.key]: { ...root, fields } } } };
    },
  ],
  [
    'a leaf of a type that nobody knows',
    (kind) => {
      const root = must(kind.tree.shapes[kind.tree.root], 'the root');
      const fields = [{ name: 'odd', type: { kind: 'leaf', type: 'Strange' } } as never];
      return { ...kind, tree: { ...kind.tree, shapes: { ...kind.tree.shapes, [root.key]: { ...root, fields } } } };
    },
  ],
  ['a type name that GraphQL does not take', (kind) => ({ ...kind, names: { ...kind.names, type: 'a b' } })],
  ['a list that another kind has', (kind) => ({ ...kind, names: { ...kind.names, list: 'exampleComGadgets' } })],
  ['a list that the gateway has', (kind) => ({ ...kind, names: { ...kind.names, list: 'objects' } })],
  [
    'a subscription that another kind has',
    (kind) => ({ ...kind, names: { ...kind.names, subscription: 'exampleComGadgetChanges' } }),
  ],
];

test.each(broken)('%s costs its kind and nothing else', (_what, damage) => {
  const [gadgets, widgets] = both();
  const { schema, diagnostics, kind } = buildGeneration(catalogOf(gadgets, damage(widgets)));
  expect(diagnostics).toMatchObject([{ resource: 'widgets.example.com', cluster: 'east' }]);
  expect(kind('widgets.example.com')).toBeUndefined();
  expect(schema.getType('ExampleComWidget')).toBeUndefined();
  expect(Object.keys(schema.getSubscriptionType()?.getFields() ?? {})).toEqual([
    'resourceChanges',
    'exampleComGadgetChanges',
    'objectChanges',
    'logs',
    'writes',
  ]);
  expect(schema.getType('ExampleComGadget')).toBeDefined();
});

test('kinds are named by type, list, key, or Kind where that is unique', () => {
  const copy = assembleCatalog([
    widget(),
    gadget(),
    describedCrd({ group: 'other.com', kind: 'Gadget', plural: 'gadgets', properties: {} }),
  ]);
  const { kinds } = buildGeneration(copy);
  const keys = (...words: string[]) => kinds(words).map(({ key }) => key);
  expect(keys('ExampleComWidget', 'exampleComWidgets', 'widgets.example.com', 'Widget')).toEqual(
    Array(4).fill('widgets.example.com'),
  );
  expect(keys('OtherComGadget')).toEqual(['gadgets.other.com']);
  expect(() => kinds(['Gadget'])).toThrow(/several groups; say which: ExampleComGadget, OtherComGadget/);
  expect(keys('widget')).toEqual(['widgets.example.com']);
  expect(() => kinds(['gadget'])).toThrow(/"gadget" names kinds of several groups; say which: ExampleComGadget, /);
  expect(kinds([])).toEqual([]);
});

test('a built-in kind keeps its word where another group has the same Kind', async () => {
  const described = await describeSimulatedKinds();
  const pod = describedCrd({ group: 'other.com', kind: 'Pod', plural: 'pods', cluster: 'demo', properties: {} });
  const { kinds, diagnostics } = buildGeneration(assembleCatalog([...described, pod]));
  expect(diagnostics).toEqual([]);
  expect(kinds(['Pod', 'pods', 'OtherComPod']).map(({ key }) => key)).toEqual(['pods', 'pods', 'pods.other.com']);
});
