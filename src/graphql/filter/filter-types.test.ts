import {
  GraphQLFloat,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLNamedInputType,
  GraphQLString,
  getNamedType,
  isInputObjectType,
} from 'graphql';
import { expect, test } from 'vitest';
import { describedCrd } from '../../../test/kit/engine-fixture.ts';
import { gadget, widget, widgetProperties } from '../../../test/kit/graphql-world.ts';
import { must } from '../../base/must.ts';
import { assembleCatalog } from '../../catalog/assemble.ts';
import type { CatalogKind, DescribedResource } from '../../catalog/resources/catalog.ts';
import { FilterTypes } from './filter-types.ts';

const inputs = () => new FilterTypes((type) => (type === 'Float' ? GraphQLFloat : GraphQLString));

function kindOf(described: DescribedResource): CatalogKind {
  return must(assembleCatalog([described]).kinds[0], 'the catalog has the kind');
}

function fieldType(type: GraphQLInputObjectType, ...path: readonly string[]): GraphQLInputType {
  let found: GraphQLInputType = type;
  for (const name of path) {
    const named: GraphQLNamedInputType = getNamedType(found);
    if (!isInputObjectType(named)) throw new Error(`${name} is below a leaf`);
    found = must(named.getFields()[name], `${named.name} has ${name}`).type;
  }
  return found;
}

function fieldsOf(type: GraphQLInputType): readonly string[] {
  const named = getNamedType(type);
  return isInputObjectType(named) ? Object.keys(named.getFields()).sort() : [];
}

test('each leaf has the operators of its type', () => {
  const filter = inputs().ofKind(kindOf(widget()));
  const ordered = ['eq', 'exists', 'gt', 'gte', 'in', 'lt', 'lte', 'ne', 'notIn'];
  const text = ['contains', 'endsWith', 'ignoreCase', 'matches', 'startsWith'];
  expect(fieldsOf(fieldType(filter, 'spec', 'name'))).toEqual([...ordered, ...text].sort());
  for (const name of ['replicas', 'total', 'ratio', 'at', 'port']) {
    expect(fieldsOf(fieldType(filter, 'spec', name)), name).toEqual(ordered);
  }
  expect(fieldsOf(fieldType(filter, 'spec', 'paused'))).toEqual(['eq', 'exists', 'ne']);
  expect(fieldsOf(fieldType(filter, 'spec', 'tags'))).toEqual(['every', 'exists', 'none', 'some']);
  expect(fieldsOf(fieldType(filter, 'spec', 'ports', 'some'))).toEqual(['id_', 'name', 'number']);
  expect(fieldsOf(fieldType(filter, 'spec', 'template'))).toEqual(['id_', 'image', 'pull__policy']);
});

test('equal structures of all kinds share one input, others do not', () => {
  const filters = inputs();
  const [one, other] = [widget(), describedCrd({ kind: 'Copy', plural: 'copies', properties: widgetProperties })].map(
    (described) => filters.ofKind(kindOf(described)),
  );
  if (one === undefined || other === undefined) throw new Error('there are two filters');
  expect(fieldType(one, 'spec')).toBe(fieldType(other, 'spec'));
  expect(fieldType(one, 'metadata')).toBe(filters.metadata);
  expect(fieldType(one, 'spec')).not.toBe(fieldType(filters.ofKind(kindOf(gadget())), 'spec'));
  expect(String(fieldType(one, 'spec'))).toMatch(/^F_/);
});

test('data fields that are called like the words of a filter, or like what the gateway adds, get an underscore', () => {
  const properties = Object.fromEntries(
    ['ids', 'and', 'or', 'not', 'clusters', 'labelSelector', 'path', 'raw', 'id', 'plain'].map((name) => [
      name,
      { type: 'string' },
    ]),
  );
  const filter = inputs().ofKind(kindOf(describedCrd({ kind: 'Odd', plural: 'odds', properties })));
  const names = fieldsOf(filter);
  expect(names.filter((name) => name.endsWith('_'))).toEqual([
    'and_',
    'clusters_',
    'id_',
    'ids_',
    'labelSelector_',
    'not_',
    'or_',
    'path_',
    'raw_',
  ]);
  expect(names).toContain('plain');
  for (const word of ['and_', 'ids_', 'raw_']) expect(String(fieldType(filter, word))).toBe('StringFilter');
});

test('apiVersion and kind follow from the kind; what has nothing to compare has no input', () => {
  const properties = {
    lists: {
      type: 'object',
      properties: { list: { type: 'array', items: { type: 'array', items: { type: 'string' } } } },
    },
  };
  const filter = inputs().ofKind(kindOf(describedCrd({ kind: 'Odd', plural: 'odds', properties })));
  expect(fieldsOf(filter)).toEqual([
    'and',
    'clusters',
    'condition',
    'fieldSelector',
    'ids',
    'labelSelector',
    'metadata',
    'namespaces',
    'not',
    'or',
    'path',
    'search',
  ]);
});

test('shapes that contain each other can be filtered on through either', () => {
  const kind = kindOf(widget());
  const shape = (key: string, fields: readonly (readonly [string, unknown])[]) => ({
    key,
    path: [key],
    fields: fields.map(([name, type]) => ({ name, type })),
  });
  const object = (key: string) => ({ kind: 'object', shape: key });
  const tree = {
    root: 'root',
    shapes: {
      root: shape('root', [['a', object('a')]]),
      // A depth-first search reaches `b` while `a` is not finished, so `b` looks empty then; `zero` comes after `b`.
      a: shape('a', [
        ['b', object('b')],
        ['zero', { kind: 'leaf', type: 'String' }],
      ]),
      b: shape('b', [['a', object('a')]]),
      none: shape('none', [['none', object('none')]]),
    },
  } as unknown as CatalogKind['tree'];
  const filter = inputs().ofKind({ ...kind, tree });
  expect(fieldsOf(fieldType(filter, 'a'))).toEqual(['b', 'zero']);
  expect(fieldsOf(fieldType(filter, 'a', 'b', 'a', 'b'))).toEqual(['a']);
});
