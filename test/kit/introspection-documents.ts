/** Introspection as clients send it. */
import { getIntrospectionQuery } from 'graphql';

export interface IntrospectionDocument {
  readonly query: string;
  readonly operationName?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

const operationName = 'IntrospectionQuery';

/** As of graphql-js before 15, and of clients that have a copy of it. */
const classic = `
  query IntrospectionQuery {
    __schema {
      queryType { name }
      mutationType { name }
      subscriptionType { name }
      types { ...FullType }
      directives { name description locations args { ...InputValue } }
    }
  }
  fragment FullType on __Type {
    kind name description
    fields(includeDeprecated: true) {
      name description args { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason
    }
    inputFields { ...InputValue }
    interfaces { ...TypeRef }
    enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
    possibleTypes { ...TypeRef }
  }
  fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue }
  fragment TypeRef on __Type {
    kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType {
      kind name ofType { kind name ofType { kind name } } } } } } } }
`;

/** Documents whose answer has the whole schema, by who sends them. */
export const wholeSchemaDocuments: Readonly<Record<string, IntrospectionDocument>> = {
  'graphql-js, Insomnia, Relay': { query: getIntrospectionQuery(), operationName },
  'GraphiQL 3 and later': {
    query: getIntrospectionQuery({ schemaDescription: true, inputValueDeprecation: true, specifiedByUrl: true }),
    operationName,
  },
  'GraphiQL without what old servers lack': { query: getIntrospectionQuery({ descriptions: false }), operationName },
  'urql and graphcache': { query: getIntrospectionQuery({ descriptions: false }) },
  'GraphQL Code Generator, GraphQL Config': {
    query: getIntrospectionQuery({
      descriptions: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
      oneOf: true,
    }),
    operationName,
  },
  'Apollo Rover, on one line': { query: `${getIntrospectionQuery().replace(/\s+/g, ' ')}`, operationName },
  'Altair, Postman, graphql-playground': { query: classic, operationName },
  'Voyager, with commas and comments': {
    query: `# introspection\n${classic.replaceAll('name ', 'name, ')}`,
    operationName,
  },
  'an IDE with another name': {
    query: classic.replace('query IntrospectionQuery', 'query IntelliJ_Introspection'),
    operationName: 'IntelliJ_Introspection',
  },
  'a script without a name': { query: classic.replace('query IntrospectionQuery', 'query') },
  'a type list': { query: '{ __schema { types { name kind fields { name } } } }' },
  'one type': { query: '{ __type(name: "Query") { name fields { name type { name } } } }' },
  'a hundred types': {
    query: `{ ${Array.from({ length: 100 }, (_, at) => `a${at}: __type(name: "Query") { fields { name } }`).join(' ')} }`,
  },
  'a type beside the schema': { query: '{ __schema { types { name } } __type(name: "Query") { name } }' },
  'with aliases and __typename': {
    query: '{ __typename schema: __schema { all: types { __typename n: name } root: queryType { fields { name } } } }',
  },
  'through fragments': {
    query: `query { ...Root ... on Query { ...Root } }
      fragment Root on Query { __schema { ...Types } } fragment Types on __Schema { types { possibleTypes { name } } }`,
  },
  'with variables': {
    query: `query Fields($deprecated: Boolean = false, $args: Boolean!) {
      __schema { types { fields(includeDeprecated: $deprecated) { name args @include(if: $args) { name } } } } }`,
    variables: { args: true },
  },
  'one of two operations': {
    query: `query First { __schema { types { name } } } query Second { resources { key } }`,
    operationName: 'First',
  },
};

/** Documents whose answer has long introspection beside data, or in some cases only. */
export const mixedDocuments: Readonly<Record<string, IntrospectionDocument>> = {
  'data after the schema': { query: '{ __schema { types { name } } resources { key } }' },
  'data before, between and after': {
    query:
      '{ a: resources { key } x: __schema { types { name } } b: resources { name: key } y: __type(name: "Query") { fields { name } } c: __typename }',
  },
  'through fragments': {
    query: `{ ...Root ... on Query @include(if: true) { b: resources { key } ...Root } ... { z: __type(name: "Query") { ...T } } }
      fragment Root on Query { a: __typename ...Inner s: __schema { types { ...T } } } fragment T on __Type { name fields { name } }
      fragment Inner on Query { i: __schema { types { kind } } n: resources { key } }`,
  },
  'with directives on the root': {
    query: `query ($no: Boolean = false, $yes: Boolean!) {
      b: resources @include(if: $no) { key } s: __schema @skip(if: $no) { types { name } } b: resources { key }
      t: __schema @include(if: $no) { types { name } } ...F @include(if: $yes) }
      fragment F on Query { u: __type(name: "Query") { fields { name } } }`,
    variables: { yes: true },
  },
  'a type that is not there': { query: '{ resources { key } __type(name: "Nothing") { fields { name } } }' },
  'unusual aliases': {
    query:
      '{ constructor: resources { key } __proto__: __schema { types { name } } toString: __typename hasOwnProperty: __schema { types { kind } } }',
  },
  'errors of both parts': {
    query: `query ($v: Boolean = true) { resources { key } a: __type(name: "Query") { fields { name @include(if: $v) } }
      object(id: "nothing") { id } }`,
    variables: { v: null },
  },
  'an error of introspection that leaves no data': {
    query: 'query ($v: Boolean = true) { resources { key } __schema { types { name @include(if: $v) kind } } }',
    variables: { v: null },
  },
  'variables that are refused': {
    query: 'query ($v: Boolean!) { resources { key } __schema { types { name @include(if: $v) kind } } }',
  },
};

/** Documents that are not about the whole schema, or whose answers are short. */
export const otherDocuments: Readonly<Record<string, IntrospectionDocument>> = {
  'the name of one type': { query: '{ __type(name: "Query") { name kind } }' },
  'data with members of such names': {
    query: '{ __schema { queryType { name } } resources { fields: key types: key } }',
  },
  'the names of the roots': { query: '{ __schema { queryType { name } subscriptionType { name } } }' },
  'the directives': { query: '{ __schema { directives { name args { name } } } }' },
  'a probe': { query: '{ __typename }' },
  'the other of two operations': {
    query: `query First { __schema { types { name } } } query Second { __typename }`,
    operationName: 'Second',
  },
};
