/** `subscribe` of graphql-js over events that several subscribers have in common. Source: GraphQL specification, 6.2.3. */
import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  executeSubscriptionEvent,
  validateSubscriptionArgs,
} from 'graphql';
import { endingGenerator } from '../../base/ending-generator.ts';
import type { OperationContext } from './generation.ts';
import { deliveryOf, LiveEvent } from './shared-results.ts';

/** @param args its context is an OperationContext; `outlet` of the context takes results that need no turn of the stream. */
export async function subscribeCommon(
  args: ExecutionArgs,
): Promise<AsyncGenerator<ExecutionResult, void, undefined> | ExecutionResult> {
  const context = args.contextValue as OperationContext;
  const { outlet, portolan } = context;
  const { document, operationName, variableValues } = args;
  const delivery = deliveryOf(portolan.generation, document, operationName ?? null, variableValues);
  const push = (event: LiveEvent): boolean => {
    if (outlet === undefined || !delivery.isCommon) return false;
    const result = resultOf(event);
    return !(result instanceof Promise) && delivery.isCommon && result.errors === undefined && outlet.push(result);
  };
  const validated = validateSubscriptionArgs({ ...args, contextValue: { ...context, push } });
  if (!('schema' in validated)) return { errors: validated };
  const resultOf = (event: unknown): ExecutionResult | Promise<ExecutionResult> => {
    const execute = (): ExecutionResult | Promise<ExecutionResult> =>
      executeSubscriptionEvent({ ...validated, rootValue: event });
    return event instanceof LiveEvent ? delivery.resultOf(event, execute) : execute();
  };
  const source = await createSourceEventStream(validated);
  if (!(Symbol.asyncIterator in source)) return source;
  const events = (source as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  return endingGenerator<ExecutionResult>(
    async () => {
      const step = await events.next();
      if (step.done === true) return { done: true, value: undefined };
      return { done: false, value: await resultOf(step.value) };
    },
    async () => events.return?.(),
  );
}
