/**
 * The printed schema, static part and demo world. A change of the contract appears as a change of these files.
 * `npm test -- test/schema/sdl.test.ts -u` updates them, unless something in them would be removed, renamed or break a client. Whoever must
 * remove something deletes it from the file first.
 */
import { readFileSync } from 'node:fs';
import {
  BreakingChangeType,
  buildClientSchema,
  buildSchema,
  findBreakingChanges,
  type GraphQLSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import { expect, onTestFinished, test } from 'vitest';
import { assembleCatalog } from '../../src/catalog/assemble.ts';
import { buildGeneration } from '../../src/graphql/schema/build-generation.ts';
import { runCommand } from '../kit/command-process.ts';
import { eventually } from '../kit/eventually.ts';
import { startDemoProcess } from '../kit/gateway-process.ts';
import { data } from '../kit/graphql-client.ts';
import { describeSimulatedKinds } from '../kit/simulated-kinds.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';

/** The changes that break documents of clients, from a printed schema to another one. */
function breaking(printed: string, schema: GraphQLSchema): readonly { type: string; description: string }[] {
  return findBreakingChanges(buildSchema(printed, { assumeValid: true }), schema);
}

/** Refuses changes that break documents of clients, from the file to the schema. Then the file must be what the schema prints. */
async function expectSchema(schema: GraphQLSchema, file: string): Promise<void> {
  const changes = breaking(readFileSync(new URL(file, import.meta.url), 'utf8'), schema);
  expect(changes.map(({ description }) => description)).toEqual([]);
  await expect(`${printSchema(schema)}\n`).toMatchFileSnapshot(file);
}

const demoWorld = { objects: 'demo', pods: 0, churn: false } as const;

test('a removal would be found', () => {
  const after = buildSchema('type Query { a: String b: Int } input G { a: Int }');
  const changes = breaking('type Query { a: Int b(c: Int): Int } input F { a: Int }', after);
  expect(changes.map(({ type }) => type)).toEqual([
    BreakingChangeType.TYPE_REMOVED,
    BreakingChangeType.FIELD_CHANGED_KIND,
    BreakingChangeType.ARG_REMOVED,
  ]);
});

test('the static part is what schema/static.graphql says', async () => {
  await expectSchema(buildGeneration(assembleCatalog([])).schema, '../../schema/static.graphql');
});

test("the demo world's schema is what schema/demo.graphql says", async () => {
  const described = await describeSimulatedKinds(demoWorld);
  const { schema, diagnostics } = buildGeneration(assembleCatalog(described));
  expect(diagnostics).toEqual([]);
  await expectSchema(schema, '../../schema/demo.graphql');
});

test('`schema --demo` prints what a started demo serves: schema/demo.graphql, without Leases', async () => {
  const printed = await runCommand(['schema', '--demo'], { folder: temporaryDirectory('schema') });
  expect([printed.code, printed.err]).toEqual([0, '']);
  // Leases are served if --kinds names them.
  const described = (await describeSimulatedKinds(demoWorld)).filter(({ resource }) => resource.kind !== 'Lease');
  expect(printed.out).toBe(`${printSchema(buildGeneration(assembleCatalog(described)).schema)}\n`);
  const demo = await startDemoProcess(['--pods', '0', '--still']);
  onTestFinished(() => demo.close());
  const asked = getIntrospectionQuery({
    specifiedByUrl: true,
    schemaDescription: true,
    directiveIsRepeatable: true,
    inputValueDeprecation: true,
    oneOf: true,
  });
  const inOrder = (schema: GraphQLSchema): readonly string[] =>
    printSchema(lexicographicSortSchema(schema)).split('\n');
  const expected = inOrder(buildSchema(printed.out));
  // Kinds join the schema as they are discovered.
  await eventually(async () => {
    const served = await data<IntrospectionQuery & Record<string, unknown>>(demo.url, asked);
    expect(inOrder(buildClientSchema(served))).toEqual(expected);
  });
});
