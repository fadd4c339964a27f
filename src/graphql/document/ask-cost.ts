/** Admits an operation by its cost before anything is read. HTTP, WebSocket and prepared answers use the same code. */
import { type DocumentNode, type GraphQLSchema, getVariableValues, type OperationDefinitionNode } from 'graphql';
import type { OperationCost } from '../../operation/operation-cost.ts';
import { costOf } from '../selection/cost.ts';
import { documentFragments } from '../selection/walk.ts';
import { checkVariables } from './check-variables.ts';

export interface AskedDocument {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** Raw, as the request carries them. */
  readonly variables: Readonly<Record<string, unknown>> | null | undefined;
}

/**
 * Counts the operation's cost and charges it to the budget. Variables that cannot be coerced cost nothing: the executor refuses them.
 * @throws PortolanError QUERY_TOO_COSTLY
 */
export function askCost(
  cost: OperationCost,
  { schema, document, operation, variables }: AskedDocument,
  { maxPageSize }: { readonly maxPageSize: number },
): void {
  checkVariables(variables);
  const { variableValues } = getVariableValues(schema, operation.variableDefinitions ?? [], variables ?? {});
  if (variableValues === undefined) return;
  const fragments = documentFragments(document);
  cost.ask(costOf({ schema, fragments, variableValues, maxPageSize }, operation));
}
