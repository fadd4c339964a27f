import {
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  isIntrospectionType,
  isSpecifiedScalarType,
} from 'graphql';
import { expect, test } from 'vitest';
import { runSteps } from '../../base/steps.ts';
import { reachableTypes, TypeFailure } from './type-walk.ts';

const reached = (roots: readonly GraphQLNamedType[], outside: readonly GraphQLNamedType[] = []): readonly string[] =>
  runSteps(reachableTypes(roots, (type) => outside.includes(type))).map(({ name }) => name);

/** Types that mention each other through fields, arguments and inputs. */
function world() {
  const input: GraphQLInputObjectType = new GraphQLInputObjectType({
    name: 'Input',
    fields: (): Record<string, GraphQLInputFieldConfig> => ({ not: { type: input }, count: { type: GraphQLInt } }),
  });
  const leaf = new GraphQLObjectType({ name: 'Leaf', fields: { text: { type: GraphQLString } } });
  const node: GraphQLObjectType = new GraphQLObjectType({
    name: 'Node',
    fields: () => ({
      children: { type: new GraphQLList(node), args: { filter: { type: input } } },
      leaf: { type: leaf },
    }),
  });
  const query = new GraphQLObjectType({ name: 'Query', fields: { leaf: { type: leaf }, node: { type: node } } });
  return { query, node, leaf, input };
}

test('types are reached in the order in which graphql-js puts a schema together', () => {
  const { query } = world();
  const typeMap = Object.values(new GraphQLSchema({ query }).getTypeMap());
  const own = typeMap.filter((type) => !isIntrospectionType(type));
  expect(reached([query])).toEqual(own.map(({ name }) => name).filter((name) => name !== 'Boolean'));
  expect(own.filter(isSpecifiedScalarType).length).toBeGreaterThan(1);
});

test('a type outside is neither listed nor entered', () => {
  const { query, node } = world();
  expect(reached([query], [node])).toEqual(['Query', 'Leaf', 'String']);
  expect(reached([node], [node])).toEqual([]);
});

test('a type whose fields cannot be made is named, each time that it is looked at', () => {
  const bad = new GraphQLObjectType({
    name: 'Bad',
    fields: () => {
      throw new Error('no fields');
    },
  });
  const around = new GraphQLObjectType({
    name: 'Around',
    fields: { text: { type: GraphQLString }, bad: { type: bad } },
  });
  for (const _turn of [1, 2]) {
    expect(() => reached([around])).toThrow(expect.objectContaining({ message: 'no fields', type: bad }));
    expect(() => reached([around])).toThrow(TypeFailure);
  }
  expect(reached([around], [bad])).toEqual(['Around', 'String']);
});
