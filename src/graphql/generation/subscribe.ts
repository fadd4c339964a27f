/**
 * Subscriptions that outlive their generation.
 *
 *   events of generation 1 -> GenerationMoved(where the client stands) -> the document is validated on the current generation
 *     valid:   subscribed anew there, with the same variables, from that place; GAP and a snapshot if the kind changed
 *     invalid: SCHEMA_RELOAD
 *
 * So a client notices nothing of a generation that does not concern its kind, nothing is read or executed by types that are no
 * longer true, and no running subscription keeps an old generation in memory.
 */
import { type DocumentNode, type ExecutionResult, GraphQLError, type GraphQLSchema, validate } from 'graphql';
import { endingGenerator } from '../../base/ending-generator.ts';
import { PortolanError } from '../../base/errors.ts';
import type { OperationContext } from './generation.ts';
import { GenerationMoved } from './generation-moved.ts';

/** As graphql-js and other executors take them. */
export interface SubscribeArguments {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly contextValue?: unknown;
}

type Events = AsyncIterable<ExecutionResult>;
type Outcome = Events | ExecutionResult;
export type Subscribe<A extends SubscribeArguments> = (args: A) => Outcome | Promise<Outcome>;

/** `subscribe` over generations. The context of `args` is an OperationContext. */
export function acrossGenerations<A extends SubscribeArguments>(
  subscribe: Subscribe<A>,
): (args: A) => Promise<Outcome> {
  return async (args) => {
    const events = await subscribe(args);
    return isEvents(events) ? following(subscribe, args, events) : events;
  };
}

function following<A extends SubscribeArguments>(
  subscribe: Subscribe<A>,
  begun: A,
  events: Events,
): AsyncGenerator<ExecutionResult, void, undefined> {
  let args = begun;
  let inner = events[Symbol.asyncIterator]();
  let over = false;
  const end = async (): Promise<void> => {
    over = true;
    await inner.return?.();
  };
  const moveOn = async (moved: GenerationMoved): Promise<void> => {
    const context = args.contextValue as OperationContext;
    const portolan = context.portolan.movedOn(moved.start);
    const { schema } = portolan.generation;
    const [problem] = problemsOf(schema, args.document);
    if (problem !== undefined) throw reload(problem);
    args = { ...args, schema, contextValue: { ...context, portolan } };
    const next = await subscribe(args);
    // Variables, and what resolvers make of them, are not part of the document: they may not fit even if it does.
    if (!isEvents(next)) throw reload(next.errors?.[0]);
    inner = next[Symbol.asyncIterator]();
    if (over) await inner.return?.();
  };
  return endingGenerator<ExecutionResult>(async () => {
    while (!over) {
      try {
        const step = await inner.next();
        return step.done === true ? { done: true, value: undefined } : step;
      } catch (error) {
        const moved = movedIn(error);
        if (over || moved === null) throw error;
        await moveOn(moved);
      }
    }
    return { done: true, value: undefined };
  }, end);
}

/** Documents are shared by all who send the same text, and validating takes long: once for a document and a schema. */
const known = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, readonly GraphQLError[]>>();

function problemsOf(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
  const ofSchema = known.get(schema) ?? new WeakMap<DocumentNode, readonly GraphQLError[]>();
  known.set(schema, ofSchema);
  const problems = ofSchema.get(document) ?? validate(schema, document);
  ofSchema.set(document, problems);
  return problems;
}

/** Executors may wrap what a stream of events throws. */
function movedIn(error: unknown): GenerationMoved | null {
  let current = error;
  while (current instanceof GraphQLError && current.originalError !== undefined) current = current.originalError;
  return current instanceof GenerationMoved ? current : null;
}

function reload(problem: GraphQLError | undefined): PortolanError {
  const why = problem === undefined ? '' : ` (${problem.message})`;
  return new PortolanError('SCHEMA_RELOAD', `The subscription does not fit the new schema${why}; load it anew.`);
}

function isEvents(outcome: Outcome): outcome is Events {
  return Symbol.asyncIterator in outcome;
}
