import { buildSchema, parse, printSchema, visit } from 'graphql';
import { expect, test } from 'vitest';
import { describeSimulatedKinds } from '../../../test/kit/simulated-kinds.ts';
import { assembleCatalog } from '../../catalog/assemble.ts';
import { buildGeneration } from '../schema/build-generation.ts';
import { printSemanticNonNull } from './semantic-non-null.ts';

test('fields that a schema requires are marked, and nothing else changes', async () => {
  const described = await describeSimulatedKinds({ objects: 'demo', pods: 0, churn: false });
  const { schema } = buildGeneration(assembleCatalog(described));
  const printed = printSemanticNonNull(schema);
  // The SDL is valid, with the directive.
  const read = buildSchema(printed);
  expect(printSchema(read).replace(/^directive @semanticNonNull.*\n\n/m, '')).toBe(printSchema(schema));

  const marked = new Set<string>();
  visit(parse(printed), {
    ObjectTypeDefinition({ name, fields = [] }) {
      for (const field of fields) {
        if ((field.directives ?? []).length === 0) continue;
        marked.add(`${name.value}.${field.name.value}`);
        expect(field.type.kind).not.toBe('NonNullType');
      }
    },
  });
  expect(marked).toContain('PodSpec.containers');
  expect(marked).toContain('Container.name');
  expect(marked).not.toContain('PodSpec.nodeName');
  expect(marked).not.toContain('Pod.spec');
});
