/** The shipped relations: every declaration is valid, no name is given twice, and every path leads to a name in the demo's schemas. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readRelations } from '../../src/catalog/relations/read-relations.ts';
import { type NamedKind, textOfKind } from '../../src/catalog/relations/relation.ts';

const { relations, problems } = readRelations(
  parse(readFileSync(new URL('../../schema/relations.yaml', import.meta.url), 'utf8')),
  'SHIPPED',
);

test('every declaration is valid', () => {
  expect(problems).toEqual([]);
  expect(relations.length).toBeGreaterThan(100);
});

test('a kind has each name once, in both directions together', () => {
  const names = relations.flatMap(({ source, name, reverse, reverseOn }) => [
    `${textOfKind(source)}.${name}`,
    ...(reverse === null
      ? []
      : reverseOn === 'any'
        ? [`any.${reverse}`]
        : reverseOn.map((kind: NamedKind) => `${textOfKind(kind)}.${reverse}`)),
  ]);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  const ofAny = names.filter((name) => name.startsWith('any.')).map((name) => name.slice(4));
  expect(names.filter((name) => !name.startsWith('any.') && ofAny.includes(name.split('.').at(-1) ?? ''))).toEqual([]);
});
