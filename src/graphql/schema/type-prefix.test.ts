/** --type-prefix: every type but scalars and roots begins with it, and operations answer as without it. */
import { buildSchema, type GraphQLSchema, isIntrospectionType, isScalarType, printSchema } from 'graphql';
import { expect, test } from 'vitest';
import { engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { widget, widgets } from '../../../test/kit/graphql-world.ts';
import { describeSimulatedKinds } from '../../../test/kit/simulated-kinds.ts';
import { assembleCatalog } from '../../catalog/assemble.ts';
import { buildGeneration } from './build-generation.ts';

const prefix = 'K8s_';

/** Printed twice, because the form of a description depends on its length. */
const withoutPrefix = (schema: GraphQLSchema): string =>
  printSchema(buildSchema(printSchema(schema).replaceAll(prefix, '')));

test('the schema is the same without the prefix, also after a change of the catalog', async () => {
  const described = await describeSimulatedKinds({ objects: 'demo', pods: 0, churn: false });
  const { schema, diagnostics } = buildGeneration(assembleCatalog(described, undefined, prefix));
  expect(diagnostics).toEqual([]);
  for (const type of Object.values(schema.getTypeMap())) {
    const isBare =
      isScalarType(type) || isIntrospectionType(type) || ['Query', 'Mutation', 'Subscription'].includes(type.name);
    expect([type.name, type.name.startsWith(prefix)]).toEqual([type.name, !isBare]);
    expect(schema.getType(type.name)).toBe(type);
  }
  const plain = printSchema(buildGeneration(assembleCatalog(described)).schema);
  expect(withoutPrefix(schema)).toBe(plain);

  const fixture = engineFixture({ engine: { typePrefix: prefix } });
  const [first, ...others] = described;
  if (first !== undefined) await fixture.declare(first);
  await fixture.declare(...others);
  const published = withoutPrefix(fixture.engine.source.generation().schema);
  expect(published.split('\n').toSorted()).toEqual(plain.split('\n').toSorted());
});

test('operations name the types as the schema does', async () => {
  const fixture = engineFixture({ engine: { typePrefix: prefix } });
  await fixture.declare(widget());
  await fixture.sync(widgets, [made({ name: 'a' }), made({ name: 'b' })]);
  const { data, errors } = await fixture.query(
    `query ($orderBy: [K8s_ObjectOrder!]) {
    exampleComWidgets(orderBy: $orderBy) {
      __typename
      nodes { __typename metadata { __typename name } ... on K8s_KubernetesObject { kind } ... on K8s_ExampleComWidget { id } }
      aggregate { groups(by: ["metadata.name"]) { keys aggregate { count } } }
    }
    objects(kinds: ["K8s_ExampleComWidget"]) { nodes { __typename ... on K8s_ExampleComWidget { metadata { name } } } }
    resources { type list }
  }`,
    { orderBy: [{ path: 'metadata.name', direction: 'DESC' }] },
  );
  expect(errors).toEqual([]);
  const type = 'K8s_ExampleComWidget';
  expect(data.exampleComWidgets).toMatchObject({
    __typename: 'K8s_ExampleComWidgetConnection',
    nodes: ['b', 'a'].map((name) => ({
      __typename: type,
      metadata: { __typename: 'K8s_ObjectMeta', name },
      kind: 'Widget',
    })),
    aggregate: {
      groups: [
        { keys: ['a'], aggregate: { count: 1 } },
        { keys: ['b'], aggregate: { count: 1 } },
      ],
    },
  });
  expect(data.objects.nodes).toEqual(['a', 'b'].map((name) => ({ __typename: type, metadata: { name } })));
  expect(data.resources).toEqual([{ type, list: 'exampleComWidgets' }]);
});
