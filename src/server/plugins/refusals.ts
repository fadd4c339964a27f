/** The checks before an operation runs. A check that fails gives the result of the operation. */
import { type ExecutionArgs, GraphQLError } from 'graphql';
import type { Logger } from '../../base/log.ts';
import { askCost } from '../../graphql/document/ask-cost.ts';
import type { Generation, OperationContext } from '../../graphql/generation/generation.ts';
import { liveThrottle } from '../../graphql/types/live-directive.ts';
import type { Operation } from '../../operation/operation.ts';
import { untilShown } from '../../writes/run/write-token.ts';
import { codedError } from './coded-error.ts';
import { admittedIn, type Enveloped, isHttp, operationOf } from './entry-context.ts';
import type { Result } from './message-stream.ts';

interface Refusal {
  readonly errors: readonly GraphQLError[];
}

/** An operation that is counted for its caller. */
export interface Entrance {
  /** The answer to an operation over a limit; null for an operation that may run. */
  readonly refused: Refusal | null;
  leave(): void;
}

/** @param earlier why it may not run; null if nothing is known yet */
export function enter(
  args: ExecutionArgs,
  what: 'requests' | 'subscriptions',
  log: Logger,
  earlier: Refusal | null = null,
): Entrance {
  let leave = (): void => {};
  try {
    leave = admittedIn(args.contextValue).enter(what);
    if (earlier !== null) return { refused: earlier, leave };
    const { portolan } = args.contextValue as OperationContext;
    askCostOf(args, portolan, args.schema);
    admittedIn(args.contextValue).charge(portolan.cost.asked ?? 0);
    return { refused: null, leave };
  } catch (error) {
    return { refused: earlier ?? refusalOf(args, error, log), leave };
  }
}

function askCostOf(
  args: ExecutionArgs,
  { cost, source }: Operation<Generation>,
  schema: ExecutionArgs['schema'],
): void {
  const operation = operationOf(args);
  const { document, variableValues: variables } = args;
  if (operation !== null) askCost(cost, { schema, document, operation, variables }, source.limits);
}

function refusalOf({ contextValue }: ExecutionArgs, error: unknown, log: Logger): Refusal {
  const refused = codedError(error, log);
  return { errors: [isHttp(contextValue) ? asBadRequest(refused) : refused] };
}

/**
 * Gives an answer without data the status 400, or 429 at a limit of the caller. GraphQL over HTTP says which media types have such statuses.
 * Yoga removes `http` from the answer.
 */
function asBadRequest({ message, nodes, extensions }: GraphQLError): GraphQLError {
  const status = extensions['code'] === 'TOO_MANY_REQUESTS' ? 429 : 400;
  return new GraphQLError(message, {
    nodes: nodes ?? null,
    extensions: { ...extensions, http: { spec: true, status } },
  });
}

/** The throttle of a live query; null for another one. A throttle that is refused gives the answer. */
export function liveThrottleOf(args: ExecutionArgs, log: Logger): number | Refusal | null {
  try {
    return liveThrottle(args.schema, operationOf(args), args.variableValues);
  } catch (error) {
    return refusalOf(args, error, log);
  }
}

/** Charges a run of a live query to its operation. The limits may have changed since the first run. */
export function tooCostly(args: ExecutionArgs, current: Operation<Generation>, log: Logger): Result | null {
  try {
    askCostOf(args, current, current.generation.schema);
    return null;
  } catch (error) {
    return { errors: [codedError(error, log)] };
  }
}

/** `extensions: {"portolan": {"explain": true, "after": "…"}}` of a request. */
export function wishesIn(extensions: unknown): { readonly explain?: unknown; readonly after?: unknown } {
  const { portolan } = (extensions ?? {}) as { readonly portolan?: ReturnType<typeof wishesIn> | null };
  return portolan ?? {};
}

/** Waits for the writes of the token in the request. An error of the wait, as a result; null without one. */
export async function shownOrRefused(context: OperationContext & Enveloped, log: Logger): Promise<Result | null> {
  const { after } = wishesIn(context.params?.extensions);
  if (after === undefined) return null;
  try {
    await untilShown(context.portolan, after);
    return null;
  } catch (error) {
    return { errors: [codedError(error, log)] };
  }
}
