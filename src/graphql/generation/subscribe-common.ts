/** `subscribe` of graphql-js over events that several subscribers have in common. Source: GraphQL specification, 6.2.3. */
import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  executeSubscriptionEvent,
  type ValidatedSubscriptionArgs,
  validateSubscriptionArgs,
} from 'graphql';
import { endingGenerator } from '../../base/ending-generator.ts';
import type { Operation } from '../../operation/operation.ts';
import type { Generation, OperationContext } from './generation.ts';
import {
  type CommonResult,
  type CommonResults,
  type Delivery,
  DetachedEvent,
  joinDelivery,
  LiveEvent,
} from './shared-results.ts';

type Result = ExecutionResult | Promise<ExecutionResult>;

/** @param args its context is an OperationContext; `outlet` of the context takes results that need no turn of the stream. */
export async function subscribeCommon(
  args: ExecutionArgs,
): Promise<AsyncGenerator<ExecutionResult, void, undefined> | ExecutionResult> {
  const context = args.contextValue as OperationContext;
  const { document, operationName, variableValues } = args;
  const validated = validateSubscriptionArgs(args);
  if (!('schema' in validated)) return { errors: validated };
  const { delivery, leave } = joinDelivery(
    context.portolan.generation,
    document,
    operationName ?? null,
    variableValues,
  );
  /** Leaves the delivery if the stream has failed. */
  const orLeave = async <T>(step: () => Promise<T>): Promise<T> => {
    try {
      return await step();
    } catch (error) {
      leave();
      throw error;
    }
  };
  const resultOf = (event: unknown): Result => {
    if (event instanceof DetachedEvent) {
      const contextValue = { ...context, portolan: event.operation };
      return executeSubscriptionEvent({ ...validated, contextValue, rootValue: event.value });
    }
    // A context of its own for each message, as for each operation.
    const execute = (): Result =>
      executeSubscriptionEvent({ ...validated, contextValue: { ...context }, rootValue: event });
    return event instanceof LiveEvent ? delivery.resultOf(event, execute) : execute();
  };
  const common = commonResults(context, delivery, validated);
  const source = await orLeave(async () =>
    createSourceEventStream({ ...validated, contextValue: { ...context, common } }),
  );
  if (!(Symbol.asyncIterator in source)) {
    leave();
    return source;
  }
  const events = (source as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  return endingGenerator<ExecutionResult>(
    () =>
      orLeave(async () => {
        const step = await events.next();
        if (step.done !== true) return { done: false, value: await resultOf(step.value) };
        leave();
        return { done: true, value: undefined };
      }),
    async () => {
      leave();
      await events.return?.();
    },
  );
}

function commonResults(
  { outlet, portolan }: OperationContext,
  delivery: Delivery,
  validated: ValidatedSubscriptionArgs,
): CommonResults<Operation<Generation>> | undefined {
  if (outlet === undefined) return undefined;
  return {
    outlet,
    groupOf: (make) =>
      delivery.groupOf(portolan.caller, () => {
        const operation = portolan.withoutRequest();
        return make(operation, commonResult(delivery, operation, validated));
      }),
  };
}

/** Keeps nothing of the request or of its connection, because a group outlives its first subscriber. */
function commonResult(
  delivery: Delivery,
  portolan: Operation<Generation>,
  { externalAbortSignal: _signal, contextValue: _context, ...validated }: ValidatedSubscriptionArgs,
): CommonResult {
  const common = { ...validated, rootValue: undefined, externalAbortSignal: undefined };
  return (event) => {
    if (!delivery.isCommon) return null;
    const contextValue: OperationContext = { portolan };
    const result = delivery.resultOf(event, () =>
      executeSubscriptionEvent({ ...common, contextValue, rootValue: event }),
    );
    return result instanceof Promise || !delivery.isCommon || result.errors !== undefined ? null : result;
  };
}
