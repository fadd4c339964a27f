/**
 * A query in two parts: its introspection, which the introspection thread executes, and its data.
 *
 *   { a: __schema { … } pods { … } ...F } fragment F on Query { b: __type(name: "Pod") { … } }
 *     introspection   { a: __schema { … } ...F } fragment F on Query { b: __type(name: "Pod") { … } }
 *     data            { pods { … } ...F } fragment F on Query { }
 *
 * Both parts keep the places of their nodes in the document, and all variables. A part may select nothing; it is executed, not validated.
 */
import {
  type DefinitionNode,
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  GraphQLError,
  GraphQLIncludeDirective,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  getOperationAST,
  getVariableValues,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { documentFragments, selectedFields } from '../selection/walk.ts';

type RootPart = 'introspection' | 'data';

const introspectionFields: ReadonlySet<string> = new Set(['__schema', '__type']);

function isIntrospection({ name }: FieldNode): boolean {
  return introspectionFields.has(name.value);
}

/** The document with only this part of the operation's root fields. The document is valid. */
export function rootPart(document: DocumentNode, operationName: string | null, part: RootPart): DocumentNode {
  const operation = getOperationAST(document, operationName);
  const fragments = documentFragments(document);
  /** Fragments of the root that were spread, by name. */
  const filtered = new Map<string, DefinitionNode>();
  const filter = (set: SelectionSetNode): SelectionSetNode => ({
    ...set,
    selections: set.selections.flatMap((node) => {
      if (node.kind === Kind.FIELD) return isIntrospection(node) === (part === 'introspection') ? node : [];
      if (node.kind === Kind.INLINE_FRAGMENT) return { ...node, selectionSet: filter(node.selectionSet) };
      const { value: name } = node.name;
      const fragment = fragments[name];
      if (fragment !== undefined && !filtered.has(name)) {
        filtered.set(name, fragment);
        filtered.set(name, { ...fragment, selectionSet: filter(fragment.selectionSet) });
      }
      return node;
    }),
  });
  const root = operation == null ? null : { ...operation, selectionSet: filter(operation.selectionSet) };
  return {
    ...document,
    definitions: document.definitions.map((each) => {
      if (each === operation && root !== null) return root;
      return each.kind === Kind.FRAGMENT_DEFINITION ? (filtered.get(each.name.value) ?? each) : each;
    }),
  };
}

/** The request that is divided into both parts. */
interface Divided {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName: string | null;
  /** Raw. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The result of a part as it leaves the thread. */
export interface PartResult {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors: readonly Pick<GraphQLError, 'message' | 'path' | 'positions'>[];
}

export function partResult({ data, errors = [] }: ExecutionResult): PartResult {
  const plain = errors.map(({ message, path, positions }) => ({ message, path, positions }));
  return { ...(data === undefined ? {} : { data }), errors: plain };
}

/** The result of the whole query: its root fields in the order of the document. */
export function joinParts(divided: Divided, data: ExecutionResult, introspection: PartResult): ExecutionResult {
  // Without data, the request itself was refused, for both parts in the same way.
  if (data.data === undefined) return data;
  const source = divided.document.loc?.source;
  const errors = introspection.errors.map(
    ({ message, path, positions }) =>
      new GraphQLError(message, { path, ...(source === undefined ? {} : { source, positions }) }),
  );
  errors.push(...(data.errors ?? []));
  const joined = errors.length === 0 ? {} : { errors };
  if (data.data === null || introspection.data == null) return { ...joined, data: null };
  const found: Record<string, unknown> = Object.create(null);
  for (const name of namesOf(divided)) {
    for (const part of [data.data, introspection.data]) if (Object.hasOwn(part, name)) found[name] = part[name];
  }
  return { ...joined, data: found };
}

/** The response names of the root, in the order of the answer (GraphQL's CollectFields). */
function namesOf({ schema, document, operationName, variables }: Divided): ReadonlySet<string> {
  const operation = getOperationAST(document, operationName);
  if (operation == null) return new Set();
  const { variableValues } = getVariableValues(schema, operation.variableDefinitions ?? [], variables);
  const fields = selectedFields(documentFragments(document), [operation.selectionSet], '', {
    // The root is one type.
    typeOf: (_condition, parent) => parent,
    includes: (node) =>
      getDirectiveValues(GraphQLSkipDirective, node, variableValues)?.['if'] !== true &&
      getDirectiveValues(GraphQLIncludeDirective, node, variableValues)?.['if'] !== false,
  });
  return new Set([...fields].map(({ node }) => (node.alias ?? node.name).value));
}
