/**
 * Real CustomResourceDefinitions as GraphQL: each one alone and all together give a valid schema with small introspection.
 */
import { GraphQLSchema, introspectionFromSchema, parse, validate, validateSchema } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { must } from '../src/base/must.ts';
import { assembleCatalog } from '../src/catalog/assemble.ts';
import { describeResource } from '../src/catalog/describe/describe.ts';
import { resourceOfCrd } from '../src/catalog/describe/from-crd.ts';
import type { DescribedResource } from '../src/catalog/resources/catalog.ts';
import { buildGeneration } from '../src/graphql/schema/build-generation.ts';
import { exampleTabs } from '../src/server/playground/example-tabs.ts';
import { readWrittenExamples } from '../src/server/written-examples.ts';
import { crdFolder, loadCrds } from './kit/crds.ts';
import { describeSimulatedKinds } from './kit/simulated-kinds.ts';

interface Measured {
  readonly schema: GraphQLSchema;
  readonly kinds: number;
}

/** What graphql-js finds wrong with the whole of it. */
function problemsOf(schema: GraphQLSchema): readonly string[] {
  return validateSchema(new GraphQLSchema({ ...schema.toConfig(), assumeValid: false })).map(({ message }) => message);
}

function build(
  name: string,
  described: readonly DescribedResource[],
  introspect: boolean,
): Measured & { readonly megabytes: number } {
  const began = performance.now();
  const catalog = assembleCatalog(described);
  const assembled = performance.now();
  const generation = buildGeneration(catalog);
  const built = performance.now();
  expect([...catalog.diagnostics, ...generation.diagnostics]).toEqual([]);
  expect(problemsOf(generation.schema)).toEqual([]);
  const megabytes = introspect ? JSON.stringify({ data: introspectionFromSchema(generation.schema) }).length / 1e6 : 0;
  const types = Object.keys(generation.schema.getTypeMap()).length;
  const seconds = (from: number, to: number): string => ((to - from) / 1000).toFixed(2);
  process.stdout.write(
    `${name}: ${catalog.kinds.length} kinds, ${types} types, assembled in ${seconds(began, assembled)} s, built in ${seconds(assembled, built)} s` +
      `${introspect ? `, introspection ${megabytes.toFixed(2)} MB` : ''}\n`,
  );
  return { schema: generation.schema, kinds: catalog.kinds.length, megabytes };
}

describe.skipIf(crdFolder === null)('real CRDs as a schema', { timeout: 300_000 }, () => {
  let builtIn: readonly DescribedResource[] = [];
  let custom: readonly DescribedResource[] = [];
  let huge: readonly DescribedResource[] = [];

  beforeAll(async () => {
    builtIn = await describeSimulatedKinds();
    const all = loadCrds().map(({ source, crd }) => ({
      source,
      described: describeResource({ cluster: 'demo', resource: must(resourceOfCrd(crd), `${source} has names`), crd }),
    }));
    custom = all.filter(({ source }) => !source.endsWith('.tar.xz')).map(({ described }) => described);
    huge = all.filter(({ source }) => source.endsWith('.tar.xz')).map(({ described }) => described);
  }, 300_000);

  test('the built-in kinds and the CRDs of four projects stay under 7 MB of introspection', () => {
    const { megabytes, kinds } = build('built-in kinds and CRDs', [...builtIn, ...custom], true);
    expect(kinds).toBe(builtIn.length + custom.length);
    expect(megabytes).toBeLessThan(7);
  });

  test('all together are a valid schema with every kind', () => {
    const every = [...builtIn, ...custom, ...huge];
    const { schema, kinds } = build('all', every, false);
    expect(kinds).toBe(every.length);
    const query = must(schema.getQueryType(), 'there is a Query').getFields();
    expect(Object.keys(query).length).toBeGreaterThan(2 * every.length);
  });

  test('each alone is a valid schema, for which every tab of the playground is valid', () => {
    const examples = readWrittenExamples();
    for (const each of [...custom, ...huge]) {
      const generation = buildGeneration(assembleCatalog([each]));
      expect(generation.diagnostics).toEqual([]);
      expect(problemsOf(generation.schema), each.resource.kind).toEqual([]);
      for (const tab of exampleTabs(examples, generation, new Map())) {
        expect(validate(generation.schema, parse(tab)), tab).toEqual([]);
      }
    }
  });
});
