import { type FragmentDefinitionNode, Kind, parse, type SelectionSetNode } from 'graphql';
import { expect, test } from 'vitest';
import { engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { gadget, widget, widgets } from '../../../test/kit/graphql-world.ts';
import { must } from '../../base/must.ts';
import { assembleCatalog } from '../../catalog/assemble.ts';
import type { Projection } from '../../query/plan/plan.ts';
import { buildGeneration } from '../schema/build-generation.ts';
import { projectionOf } from './projection.ts';
import { selectionsAt } from './walk.ts';

const { schema } = buildGeneration(assembleCatalog([widget(), gadget()]));

function read(document: string): {
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  readonly set: SelectionSetNode;
} {
  const { definitions } = parse(document);
  const fragments: Record<string, FragmentDefinitionNode> = {};
  let set: SelectionSetNode | null = null;
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
    if (definition.kind === Kind.OPERATION_DEFINITION) set = definition.selectionSet;
  }
  return { fragments, set: must(set, 'the document has an operation') };
}

function projected(document: string, type = 'ExampleComWidget'): Projection {
  const { fragments, set } = read(document);
  return projectionOf({ schema, fragments }, [set], must(schema.getType(type), 'the schema has the type'));
}

test.each<[string, string, unknown]>([
  [
    'what stands in the row needs nothing of the body',
    '{ id cluster kind redacted metadata { name namespace uid resourceVersion } }',
    {},
  ],
  ['a leaf', '{ spec { replicas } }', { spec: { replicas: true } }],
  [
    'three fields',
    '{ metadata { name labels } spec { name } status { phase } }',
    { metadata: { labels: true }, spec: { name: true }, status: { phase: true } },
  ],
  [
    'aliases are not places',
    '{ a: spec { b: name } c: spec { d: replicas } }',
    { spec: { name: true, replicas: true } },
  ],
  [
    'nested objects; lists as a whole',
    '{ spec { template { image } ports { number } } }',
    { spec: { template: { image: true }, ports: true } },
  ],
  [
    'names as Kubernetes writes them',
    '{ spec { template { pull__policy id_ } } }',
    { spec: { template: { 'pull-policy': true, id: true } } },
  ],
  ['only whether it is there', '{ spec { __typename } }', { spec: true }],
  ['one label needs all labels', '{ metadata { label(key: "a") } }', { metadata: { labels: true } }],
  ['a condition needs all conditions', '{ condition(type: "Ready") { status } }', { status: { conditions: true } }],
  ['conditions by the tree, a list too', '{ status { conditions { type } } }', { status: { conditions: true } }],
  [
    'a whole leaf beside a part of it',
    '{ status { conditions { type } } condition(type: "Ready") { status } }',
    { status: { conditions: true } },
  ],
  [
    'inline fragments',
    '{ ... { spec { name } } ... on KubernetesObject { metadata { annotations } } }',
    { spec: { name: true }, metadata: { annotations: true } },
  ],
  [
    'fragments within fragments',
    '{ ...A } fragment A on ExampleComWidget { spec { ...B } } fragment B on ExampleComWidget_spec { name ...C } fragment C on ExampleComWidget_spec { template { image } }',
    { spec: { name: true, template: { image: true } } },
  ],
  ['what is skipped is read', '{ spec @skip(if: true) { name } }', { spec: { name: true } }],
  ['free JSON as a whole', '{ spec { free settings tags } }', { spec: { free: true, settings: true, tags: true } }],
  ['raw', '{ raw }', 'whole'],
  ['yaml beside a leaf', '{ spec { name } yaml }', 'whole'],
  ['a path that only the variables know', '{ value(path: "spec.name") }', 'whole'],
  ['columns', '{ columns { name } }', 'whole'],
  ['relations need nothing of this body', '{ owned { nodes { raw } } owners { nodes { metadata { labels } } } }', {}],
])('%s', (_what, document, projection) => {
  expect(structuredClone(projected(document))).toEqual(projection);
});

test('on the interface, what each of the kinds needs is read', () => {
  const document = `{ metadata { labels }
    ... on ExampleComWidget { spec { total } } ... on ExampleComGadget { spec { name } } }`;
  expect(structuredClone(projected(document, 'KubernetesObject'))).toEqual({
    metadata: { labels: true },
    spec: { total: true, name: true },
  });
});

test('finds selections below a path through fragments and aliases', () => {
  const { fragments, set } = read(
    '{ e: edges { ...F } edges { node { a } } } fragment F on Edge { node { b } n: node { c } }',
  );
  const found = selectionsAt(fragments, [set, undefined], ['edges', 'node']);
  expect(found.map(({ selections }) => selections.map((node) => node.kind === Kind.FIELD && node.name.value))).toEqual([
    ['b'],
    ['c'],
    ['a'],
  ]);
});

test('a list of three fields never reads the whole body, and shows what raw shows', async () => {
  const { declare, sync, query, statements } = engineFixture();
  await declare(widget());
  await sync(widgets, [made({ name: 'a', spec: { name: 'one', replicas: 2 }, status: { phase: 'Ready' } })]);
  statements.length = 0;
  const { data, errors } = await query(
    '{ exampleComWidgets { nodes { metadata { name } spec { replicas } status { phase } } } }',
  );
  expect(errors).toEqual([]);
  expect(data.exampleComWidgets.nodes).toEqual([
    { metadata: { name: 'a' }, spec: { replicas: 2 }, status: { phase: 'Ready' } },
  ]);
  const bodies = statements.filter(({ sql }) => sql.includes('b.body'));
  expect(bodies.length).toBeGreaterThan(0);
  expect(bodies.filter(({ sql }) => sql.includes('json(b.body)'))).toEqual([]);
  statements.length = 0;
  await query('{ exampleComWidgets { nodes { id metadata { name } } } }');
  expect(statements.filter(({ sql }) => sql.includes('b.body'))).toEqual([]);
});
