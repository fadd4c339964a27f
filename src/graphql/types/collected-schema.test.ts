import {
  GraphQLInterfaceType,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  introspectionFromSchema,
  lexicographicSortSchema,
  printSchema,
  specifiedDirectives,
  validateSchema,
} from 'graphql';
import { expect, test } from 'vitest';
import { CollectedSchema, problemsOf, TypeCollection } from './collected-schema.ts';
import { liveDirective } from './live-directive.ts';

const text = { type: GraphQLString };
const named = new GraphQLInterfaceType({ name: 'Named', fields: { name: text } });
const cat = new GraphQLObjectType({ name: 'Cat', interfaces: [named], fields: { name: text, colour: text } });
const dog = new GraphQLObjectType({ name: 'Dog', interfaces: [named], fields: { name: text } });
const query = new GraphQLObjectType({ name: 'Query', fields: { pet: { type: named } } });
const mutation = new GraphQLObjectType({ name: 'Mutation', fields: { feed: { type: dog } } });
const subscription = new GraphQLObjectType({ name: 'Subscription', fields: { born: { type: cat } } });

/** The same types as a schema of graphql-js, and as a CollectedSchema. */
function both() {
  const directives = [...specifiedDirectives, liveDirective];
  const roots = { query, mutation, subscription };
  const { description } = new CollectedSchema({ roots, types: new TypeCollection() });
  const ordinary = new GraphQLSchema({ ...roots, description, types: [named, dog, cat], directives });
  const types = new TypeCollection();
  for (const type of Object.values(ordinary.getTypeMap())) types.add(type);
  return { ordinary, collected: new CollectedSchema({ roots, types }) };
}

test('is what graphql-js makes of the same types', () => {
  const { ordinary, collected } = both();
  expect(printSchema(collected)).toBe(printSchema(ordinary));
  expect(introspectionFromSchema(collected)).toEqual(introspectionFromSchema(ordinary));
  expect(collected.getPossibleTypes(named)).toEqual([dog, cat]);
  expect(collected.isSubType(named, cat)).toBe(true);
  expect(collected.isSubType(named, query)).toBe(false);
  expect(collected.getField(query, '__schema')).toBe(ordinary.getField(query, '__schema'));
});

test('can be taken apart and put together again by those who use graphql-js', () => {
  const { ordinary, collected } = both();
  expect(validateSchema(new GraphQLSchema({ ...collected.toConfig(), assumeValid: false }))).toEqual([]);
  expect(printSchema(lexicographicSortSchema(collected))).toBe(printSchema(lexicographicSortSchema(ordinary)));
});

test('an operation type without fields has no root', () => {
  const types = new TypeCollection();
  types.add(query);
  const schema = new CollectedSchema({ roots: { query, mutation: null, subscription: null }, types });
  expect([schema.getMutationType(), schema.getSubscriptionType()]).toEqual([undefined, undefined]);
});

test('refuses two types of one name', () => {
  const types = new TypeCollection();
  types.add(dog);
  types.add(dog);
  expect(() => types.add(new GraphQLObjectType({ name: 'Dog', fields: { name: text } }))).toThrow(/the type Dog/);
  expect(Object.keys(types.byName)).toEqual(['Dog']);
});

test.each([
  ['without fields', new GraphQLObjectType({ name: 'Empty', fields: {} }), /Empty must define one or more fields/],
  ['with a reserved name', new GraphQLObjectType({ name: '__Mine', fields: { a: text } }), /must not begin with "__"/],
  [
    'that lacks a field of its interface',
    new GraphQLObjectType({ name: 'Bird', interfaces: [named], fields: { colour: text } }),
    /Named.name expected but Bird does not provide it/,
  ],
])('a type %s is found by itself', (_what, type, problem) => {
  expect(problemsOf([type])).toEqual([expect.stringMatching(problem)]);
  expect(problemsOf([cat, dog, named])).toEqual([]);
});
