/**
 * Puts the current generation and an Operation behind every document, over HTTP and WebSocket alike, and gives the operation's
 * lease back when the execution is over.
 *
 * Yoga's own `schema` as a function is not asked for over WebSocket; onEnveloped is, on both ways.
 */

import type { ExecutionArgs } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import { localUser } from '../../access/caller.ts';
import { endingGenerator } from '../../base/ending-generator.ts';
import type { Logger } from '../../base/log.ts';
import type { GraphQLSource, OperationContext } from '../../graphql/generation/generation.ts';
import { acrossGenerations } from '../../graphql/generation/subscribe.ts';
import { beginOperation, type Operation } from '../../operation/operation.ts';
import type { OperationMetrics } from '../health/operation-metrics.ts';
import { codedError, codeOfThrown } from './coded-error.ts';

type Result = { errors?: readonly unknown[]; extensions?: Record<string, unknown> };

export function useOperation(source: GraphQLSource, log: Logger, metrics?: OperationMetrics): Plugin<OperationContext> {
  return {
    onEnveloped({ setSchema, extendContext, context }) {
      // Over HTTP there is the request, over WebSocket the connection's signal.
      const { request, signal, params } = (context ?? {}) as Enveloped;
      const explain = asksForExplanation(params?.extensions);
      const operation = beginOperation(source, localUser, request?.signal ?? signal, { explain });
      setSchema(operation.generation.schema);
      extendContext({ portolan: operation });
    },
    onExecute({ args, executeFn, setExecuteFn }) {
      const operation = (args.contextValue as OperationContext).portolan;
      // Not in onExecuteDone: that is not called for an execution that was aborted.
      setExecuteFn(async (given: ExecutionArgs) => {
        const began = source.monotonic();
        try {
          return await executeFn(given);
        } finally {
          operation.end();
          const { trace } = operation;
          source.slowQueries.note({
            milliseconds: source.monotonic() - began,
            rows: trace.rows,
            operation: given.operationName ?? null,
            plans: () => trace.plans(),
          });
        }
      });
      return {
        onExecuteDone({ result, setResult }) {
          if (!isAsyncIterable(result)) setResult(withExtensions(result as Result, operation) as never);
        },
      };
    },
    onSubscribe({ subscribeFn, setSubscribeFn }) {
      setSubscribeFn(acrossGenerations(subscribeFn));
      return {
        onSubscribeResult({ result, setResult }) {
          if (!isAsyncIterable(result)) {
            const [error] = (result as Result).errors ?? [];
            metrics?.count('subscription', codeOfThrown(error));
            return;
          }
          metrics?.count('subscription', 'OK');
          const begin = () => metrics?.subscribed() ?? (() => {});
          setResult(endingInWords(result as AsyncIterable<Result>, log, begin) as never);
        },
      };
    },
  };
}

/** What HTTP and WebSocket know of a request. */
interface Enveloped {
  readonly request?: Request;
  readonly signal?: AbortSignal;
  readonly params?: { readonly extensions?: unknown };
}

/** `extensions: {"portolan": {"explain": true}}` beside the query. */
function asksForExplanation(extensions: unknown): boolean {
  const { portolan } = (extensions ?? {}) as { readonly portolan?: { readonly explain?: unknown } | null };
  return portolan?.explain === true;
}

function withExtensions(result: Result, operation: Operation): Result {
  return { ...result, extensions: { ...result.extensions, portolan: operation.extensions() } };
}

/**
 * The same messages; a failure between two of them becomes a last message with errors instead of a torn connection. `begin` is
 * called when the first is asked for, since a transport that cannot carry them lets go of them without a word; what it returns, at
 * least once when they end, in whatever way.
 */
function endingInWords(messages: AsyncIterable<Result>, log: Logger, begin: () => () => void): AsyncGenerator<Result> {
  const inner = messages[Symbol.asyncIterator]();
  let over = false;
  let ended: (() => void) | null = null;
  const end = async (): Promise<void> => {
    over = true;
    ended?.();
    await inner.return?.();
  };
  return endingGenerator<Result>(async () => {
    if (over) return { done: true, value: undefined };
    ended ??= begin();
    try {
      const step = await inner.next();
      if (step.done !== true) return step;
      ended();
      return { done: true, value: undefined };
    } catch (error) {
      over = true;
      ended();
      return { done: false, value: { errors: [codedError(error, log)] } };
    }
  }, end);
}
