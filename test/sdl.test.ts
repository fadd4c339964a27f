/**
 * The printed schema, static part and demo world. A change of the contract appears as a change of these files.
 * `npm test -- test/sdl.test.ts -u` updates them.
 */
import { printSchema } from 'graphql';
import { expect, test } from 'vitest';
import { assembleCatalog } from '../src/catalog/assemble.ts';
import { buildGeneration } from '../src/graphql/schema/build-generation.ts';
import { describeSimulatedKinds } from './kit/simulated-kinds.ts';

test('the static part is what schema/static.graphql says', async () => {
  await expect(`${printSchema(buildGeneration(assembleCatalog([])).schema)}\n`).toMatchFileSnapshot(
    '../schema/static.graphql',
  );
});

test("the demo world's schema is what schema/demo.graphql says", async () => {
  const described = await describeSimulatedKinds({ objects: 'demo', pods: 0, churn: false });
  const { schema, diagnostics } = buildGeneration(assembleCatalog(described));
  expect(diagnostics).toEqual([]);
  await expect(`${printSchema(schema)}\n`).toMatchFileSnapshot('../schema/demo.graphql');
});
