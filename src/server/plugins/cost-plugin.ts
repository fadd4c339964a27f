/**
 * Refuses operations that ask for more than they may, before anything is read. What an operation costs depends on its variables, so it
 * is counted for each request anew and not in validation, whose verdicts Yoga keeps with the document.
 */
import { type ExecutionArgs, GraphQLError, getOperationAST, getVariableValues } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Logger } from '../../base/log.ts';
import type { OperationContext } from '../../graphql/generation/generation.ts';
import { costOf } from '../../graphql/selection/cost.ts';
import { documentFragments } from '../../graphql/selection/document-fragments.ts';
import { checkVariables } from './check-variables.ts';
import { codedError } from './coded-error.ts';

/** Stands before the plugins that count operations, so that they see what it refuses. */
export function useCost(log: Logger): Plugin<OperationContext> {
  const refusal = (args: ExecutionArgs) => {
    try {
      ask(args);
      return null;
    } catch (error) {
      const refused = codedError(error, log);
      return { errors: [isHttp(args) ? asBadRequest(refused) : refused] };
    }
  };
  return {
    onExecute({ args, setExecuteFn }) {
      const refused = refusal(args);
      if (refused !== null) setExecuteFn(() => refused);
    },
    onSubscribe({ args, setSubscribeFn }) {
      const refused = refusal(args);
      if (refused !== null) setSubscribeFn(() => refused);
    },
  };
}

function isHttp({ contextValue }: ExecutionArgs): boolean {
  return (contextValue as { readonly request?: unknown }).request !== undefined;
}

/** An answer without data: 400 where the media type has statuses of its own (GraphQL over HTTP); Yoga takes `http` out again. */
function asBadRequest({ message, extensions }: GraphQLError): GraphQLError {
  return new GraphQLError(message, { extensions: { ...extensions, http: { spec: true, status: 400 } } });
}

/** Variables that cannot be coerced are the executor's to refuse. */
function ask({ schema, document, operationName, variableValues, contextValue }: ExecutionArgs): void {
  const { portolan } = contextValue as OperationContext;
  const operation = getOperationAST(document, operationName);
  if (operation == null) return;
  checkVariables(variableValues);
  const coerced = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {});
  if (coerced.variableValues === undefined) return;
  const fragments = documentFragments(document);
  const { maxPageSize } = portolan.source.limits;
  portolan.cost.ask(costOf({ schema, fragments, variableValues: coerced.variableValues, maxPageSize }, operation));
}
