/** The root types of a schema, in the order in which graphql-js puts a schema together. A schema leaves out an empty root. */

export const operationTypes = ['query', 'mutation', 'subscription'] as const;
export type OperationTypeName = (typeof operationTypes)[number];

export const rootNames = {
  query: 'Query',
  mutation: 'Mutation',
  subscription: 'Subscription',
} as const satisfies Record<OperationTypeName, string>;

/** A value for each operation type. */
export function forEachOperationType<T>(make: (type: OperationTypeName) => T): Record<OperationTypeName, T> {
  return { query: make('query'), mutation: make('mutation'), subscription: make('subscription') };
}

export const rootDescriptions: Readonly<Record<OperationTypeName, string>> = {
  query:
    'Reads of the stored objects. Each kind has a field for its list and a field for one object. The other fields are about several kinds, or about Portolan.',
  mutation: 'Writes to API servers, as the caller.',
  subscription:
    'Changes as they are stored. Each kind has a field; the others are about several kinds, or about Portolan.',
};
