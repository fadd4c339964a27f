import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { declarationOf } from './declaration-of.ts';
import { describeRelation } from './described-relation.ts';
import { readRelations } from './read-relations.ts';
import { textOfKind } from './relation.ts';

const { relations } = readRelations(
  parse(readFileSync(new URL('../../../schema/relations.yaml', import.meta.url), 'utf8')),
  'SHIPPED',
);

test('a namespace that the declaration gives is read back', () => {
  const at = [{ at: 'spec', name: 'secretName', inNamespace: 'shop' }];
  const given = { from: 'Region.example.com', name: 'credentials', to: 'Secret', at };
  const { relations: read, problems } = readRelations({ relations: [given] }, 'CONFIGURED');
  expect(problems).toEqual([]);
  expect(read.map((relation) => declarationOf('Region.example.com', describeRelation(relation)))).toEqual([given]);
});

test('the declaration of every shipped relation is read back as the same relation', () => {
  expect(relations.length).toBeGreaterThan(100);
  for (const relation of relations) {
    const declaration = declarationOf(textOfKind(relation.source), describeRelation(relation));
    expect(readRelations({ relations: [declaration] }, 'SHIPPED')).toEqual({
      relations: [relation],
      problems: [],
      off: [],
    });
  }
});
