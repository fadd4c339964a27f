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

/** Documents that are not about the whole schema, or whose answers are short. */
export const otherDocuments: Readonly<Record<string, IntrospectionDocument>> = {
  'one type': { query: '{ __type(name: "Query") { name fields { name type { name } } } }' },
  'a type beside the schema': { query: '{ __schema { types { name } } __type(name: "Query") { name } }' },
  'data beside the schema': { query: '{ __schema { types { name } } resources { key } }' },
  'the names of the roots': { query: '{ __schema { queryType { name } subscriptionType { name } } }' },
  'the directives': { query: '{ __schema { directives { name args { name } } } }' },
  'a probe': { query: '{ __typename }' },
  'the other of two operations': {
    query: `query First { __schema { types { name } } } query Second { __typename }`,
    operationName: 'Second',
  },
};
