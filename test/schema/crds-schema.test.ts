/**
 * Real CustomResourceDefinitions as GraphQL: each one alone and all together give a valid schema with small introspection.
 */
import {
  type GraphQLObjectType,
  GraphQLSchema,
  introspectionFromSchema,
  parse,
  validate,
  validateSchema,
} from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { assembleCatalog } from '../../src/catalog/assemble.ts';
import { describeResource } from '../../src/catalog/describe/describe.ts';
import { resourceOfCrd } from '../../src/catalog/describe/from-crd.ts';
import { fieldName } from '../../src/catalog/names/field-names.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import { relationTexts } from '../../src/cli/declaration-files.ts';
import { buildGeneration } from '../../src/graphql/schema/build-generation.ts';
import { declaredRelations } from '../../src/ingest/context/declared-relations.ts';
import { examplesFor } from '../../src/server/playground/examples.ts';
import { readWrittenExamples } from '../../src/server/written-examples.ts';
import { crdFolder, loadCrds } from '../kit/crds.ts';
import { describeSimulatedKinds } from '../kit/simulated-kinds.ts';

interface Measured {
  readonly schema: GraphQLSchema;
  readonly kinds: number;
}

/** What graphql-js finds wrong with the whole of it, and the types that it finds but the schema does not list. */
function problemsOf(schema: GraphQLSchema): readonly string[] {
  const walked = new GraphQLSchema({ ...schema.toConfig(), assumeValid: false });
  const listed = schema.getTypeMap();
  const missing = Object.keys(walked.getTypeMap()).filter((name) => !(name in listed));
  return [...validateSchema(walked).map(({ message }) => message), ...missing.map((name) => `not listed: ${name}`)];
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
    const crds = loadCrds().map(({ source, crd }) => ({
      source,
      crd,
      resource: must(resourceOfCrd(crd), `${source} has names`),
    }));
    const relations = declaredRelations(
      relationTexts({ relations: undefined, relationAnnotations: true, inferRelations: true }),
    ).set;
    const kinds = [...builtIn, ...crds].map(({ resource }) => resource);
    const all = crds.map(({ source, crd, resource }) => ({
      source,
      described: describeResource({ cluster: 'demo', resource, crd, relations, kinds }),
    }));
    custom = all.filter(({ source }) => !source.endsWith('.tar.xz')).map(({ described }) => described);
    huge = all.filter(({ source }) => source.endsWith('.tar.xz')).map(({ described }) => described);
  }, 300_000);

  test('the built-in kinds and the CRDs of four projects stay under 7.2 MB of introspection', () => {
    const { megabytes, kinds } = build('built-in kinds and CRDs', [...builtIn, ...custom], true);
    expect(kinds).toBe(builtIn.length + custom.length);
    expect(megabytes).toBeLessThan(7.2);
  });

  test('every relation has its field, beside the fields of the data', () => {
    const catalog = assembleCatalog([...builtIn, ...custom, ...huge]);
    const { schema } = buildGeneration(catalog);
    const origins: Record<string, number> = {};
    for (const { names, relations, tree } of catalog.kinds) {
      const fields = (schema.getType(names.type) as GraphQLObjectType).getFields();
      const data = must(tree.shapes[tree.root], 'a tree has its root').fields.map((field) =>
        fieldName(field.name, 'root'),
      );
      for (const { name, to, many, origin } of relations) {
        expect(data, `${names.type}.${name}`).not.toContain(name);
        const any = { type: 'KubernetesObject', connection: 'KubernetesObjectConnection' };
        const other = to === null ? any : must(catalog.kinds.find(({ key }) => key === to)?.names, name);
        expect(String(fields[name]?.type), `${names.type}.${name}`).toBe(other[many ? 'connection' : 'type']);
        origins[origin] = (origins[origin] ?? 0) + 1;
      }
    }
    process.stdout.write(`relations: ${JSON.stringify(origins)}\n`);
    expect(origins['INFERRED']).toBeGreaterThan(100);
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
      for (const tab of examplesFor(examples, generation, new Map())) {
        expect(validate(generation.schema, parse(tab)), tab).toEqual([]);
      }
    }
  });
});
