/**
 * Counts operations, each once: where it is refused (no generation, parsing, validation), or at the end of its execution. How a
 * subscription begins is counted where its messages are wrapped (operation-plugin.ts).
 */

import { type DocumentNode, type ExecutionArgs, GraphQLError, getOperationAST, Kind } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Clock } from '../../base/clock.ts';
import type { GraphQLSource, OperationContext } from '../../graphql/generation/generation.ts';
import type { OperationMetrics, OperationType } from '../health/operation-metrics.ts';
import { codeOfThrown } from './coded-error.ts';

/** Stands first, so that it sees what the plugins behind it refuse. */
export function useMetrics(metrics: OperationMetrics, source: GraphQLSource, clock: Clock): Plugin<OperationContext> {
  return {
    onEnveloped() {
      try {
        source.generation();
      } catch (error) {
        metrics.count('unknown', codeOfThrown(error));
      }
    },
    onParse() {
      return ({ result, context }) => {
        if (result instanceof Error) metrics.count('unknown', codeOr(result, 'GRAPHQL_PARSE_FAILED'));
        else if (isHttp(context) && isUnresolved(result as DocumentNode, context)) metrics.count('unknown', unresolved);
      };
    },
    onValidate({ params: { documentAST }, context }) {
      return ({ valid, result }) => {
        if (!valid) metrics.count(firstType(documentAST), codeOr(result[0], 'GRAPHQL_VALIDATION_FAILED'));
        else if (!isHttp(context) && isUnresolved(documentAST, context)) metrics.count('unknown', unresolved);
      };
    },
    onExecute({ args, executeFn, setExecuteFn }) {
      const { document, operationName, contextValue } = args;
      const type = getOperationAST(document, operationName)?.operation ?? 'unknown';
      setExecuteFn(async (given: ExecutionArgs) => {
        const began = clock.monotonic();
        let code = 'CANCELLED';
        try {
          const result = await executeFn(given);
          const [error] = (result as { errors?: readonly unknown[] }).errors ?? [];
          if ((contextValue as OperationContext).portolan.signal?.aborted !== true) {
            code = error === undefined ? 'OK' : codeOfThrown(error);
          }
          return result;
        } catch (error) {
          if ((contextValue as OperationContext).portolan.signal?.aborted !== true) code = codeOfThrown(error);
          throw error;
        } finally {
          metrics.count(type, code);
          metrics.took(type, (clock.monotonic() - began) / 1000);
        }
      });
    },
  };
}

const unresolved = 'OPERATION_RESOLUTION_FAILURE';

/** What Yoga and websocket.ts put into the context of a document. */
interface Asked {
  readonly request?: Request;
  readonly params?: { readonly operationName?: string | null };
}

function isHttp(context: unknown): boolean {
  return (context as Asked).request !== undefined;
}

/**
 * Is none of the document's operations the one to run? Such a document is refused where no plugin hears of it: over HTTP behind the
 * parsing, over WebSocket behind the validation.
 */
function isUnresolved(document: DocumentNode, context: unknown): boolean {
  return getOperationAST(document, (context as Asked).params?.operationName) == null;
}

function codeOr(error: unknown, otherwise: string): string {
  const code = error instanceof GraphQLError ? error.extensions['code'] : undefined;
  return typeof code === 'string' ? code : otherwise;
}

/** Of a document that will not be run: the type of its first operation. */
function firstType({ definitions }: DocumentNode): OperationType {
  return definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION)?.operation ?? 'unknown';
}
