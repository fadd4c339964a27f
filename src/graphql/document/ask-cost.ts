/** Admits an operation by its cost before anything is read. HTTP, WebSocket and prepared answers use the same code. */
import { type DocumentNode, type GraphQLSchema, getVariableValues, type OperationDefinitionNode } from 'graphql';
import type { OperationCost } from '../../operation/parts/operation-cost.ts';
import { costOf } from '../selection/cost.ts';
import { documentFragments } from '../selection/walk.ts';
import { checkVariables } from './check-variables.ts';
import { withHint } from './hints.ts';

interface AskedDocument {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** Raw, as the request carries them. */
  readonly variables: Readonly<Record<string, unknown>> | null | undefined;
}

/**
 * Counts the operation's cost and charges it to the budget.
 * @throws PortolanError QUERY_TOO_COSTLY
 * @throws GraphQLError for the first variable that cannot be coerced
 */
export function askCost(
  cost: OperationCost,
  { schema, document, operation, variables }: AskedDocument,
  { maxPageSize }: { readonly maxPageSize: number },
): void {
  checkVariables(variables);
  const { variableValues, errors } = getVariableValues(schema, operation.variableDefinitions ?? [], variables ?? {}, {
    maxErrors: 1,
  });
  const [error] = errors ?? [];
  if (error !== undefined) throw withHint(schema, error);
  if (variableValues === undefined) return;
  const fragments = documentFragments(document);
  cost.ask(costOf({ schema, fragments, variableValues, maxPageSize }, operation));
}
