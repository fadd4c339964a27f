/**
 * Subscriptions that continue on the next generation.
 *
 *   events of generation 1 -> GenerationMoved(the client's position) -> the document is validated on the current generation
 *     valid:   subscribed again there, with the same variables, from that position; GAP and a snapshot if the kind changed
 *     invalid: SCHEMA_RELOAD
 *
 * Invariants:
 *   - A client sees no effect of a new generation that does not change its kind.
 *   - An event is never read or executed with the types of a replaced generation.
 *   - A running subscription never keeps a replaced generation in memory.
 */
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  validate,
} from 'graphql';
import { endingGenerator } from '../../base/ending-generator.ts';
import { PortolanError } from '../../base/errors.ts';
import type { OperationContext } from './generation.ts';
import { GenerationMoved } from './generation-moved.ts';
import { subscribeCommon } from './subscribe-common.ts';

type Events = AsyncGenerator<ExecutionResult, void, undefined>;

/** `subscribe` over generations. The context of `args` is an OperationContext. */
export async function subscribeAcrossGenerations(args: ExecutionArgs): Promise<Events | ExecutionResult> {
  const events = await subscribeCommon(args);
  return isEvents(events) ? following(args, events) : events;
}

function following(begun: ExecutionArgs, events: Events): Events {
  let args = begun;
  let inner = events;
  let over = false;
  const end = async (): Promise<void> => {
    over = true;
    await inner.return();
  };
  const moveOn = async (moved: GenerationMoved): Promise<void> => {
    const context = args.contextValue as OperationContext;
    const portolan = context.portolan.movedOn(moved.start);
    const { schema } = portolan.generation;
    requireFit(schema, args.document);
    args = { ...args, schema, contextValue: { ...context, portolan } };
    const next = await subscribeCommon(args);
    // A valid document can still fail: its variables may not fit the new schema, or its resolvers may refuse them.
    if (!isEvents(next)) throw reload(next.errors?.[0]);
    inner = next;
    if (over) await inner.return();
  };
  return endingGenerator<ExecutionResult>(async () => {
    while (!over) {
      try {
        const step = await inner.next();
        return step.done === true ? { done: true, value: undefined } : step;
      } catch (error) {
        const moved = movedIn(error);
        if (moved === null) throw error;
        // A client that has left needs no other schema.
        if (!over) await moveOn(moved);
      }
    }
    return { done: true, value: undefined };
  }, end);
}

/** @throws PortolanError SCHEMA_RELOAD for a document that is not valid any more. */
export function requireFit(schema: GraphQLSchema, document: DocumentNode): void {
  const [problem] = problemsOf(schema, document);
  if (problem !== undefined) throw reload(problem);
}

/** Validation errors, cached because validation is slow. Clients that send the same text share one parsed document. */
const known = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, readonly GraphQLError[]>>();

function problemsOf(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
  const ofSchema = known.get(schema) ?? new WeakMap<DocumentNode, readonly GraphQLError[]>();
  known.set(schema, ofSchema);
  const problems = ofSchema.get(document) ?? validate(schema, document);
  ofSchema.set(document, problems);
  return problems;
}

/** Unwraps the error: executors may wrap an error thrown by a stream of events. */
function movedIn(error: unknown): GenerationMoved | null {
  let current = error;
  while (current instanceof GraphQLError && current.originalError !== undefined) current = current.originalError;
  return current instanceof GenerationMoved ? current : null;
}

function reload(problem: GraphQLError | undefined): PortolanError {
  const why = problem === undefined ? '' : ` (${problem.message})`;
  return new PortolanError('SCHEMA_RELOAD', `The subscription does not fit the new schema${why}; load it anew.`);
}

function isEvents(outcome: Events | ExecutionResult): outcome is Events {
  return Symbol.asyncIterator in outcome;
}
