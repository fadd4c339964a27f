/**
 * The subscription `logs`: the logs of Pods as one stream (src/logs/followed-logs.ts) in GraphQL.
 *
 * A new generation does not end the requests: the logs that run move to the operation that begins again (src/graphql/generation/subscribe.ts).
 */
import {
  type GraphQLArgumentConfig,
  GraphQLBoolean,
  type GraphQLFieldConfigMap,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  type GraphQLNamedType,
  GraphQLString,
} from 'graphql';
import { PortolanError } from '../../base/errors.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { LiveStart } from '../../live/list/live-request.ts';
import { FollowedLogs } from '../../logs/followed-logs.ts';
import { type LogOptions, sinceOf } from '../../logs/pods/log-request.ts';
import type { PodSource } from '../../logs/pods/selected-pods.ts';
import type { Operation } from '../../operation/operation.ts';
import type { ServedKinds } from '../../operation/served-kinds.ts';
import { decodeObjectId } from '../../query/plan/object-id.ts';
import { filterOf } from '../../writes/targets/wanted-targets.ts';
import { filterContext, filterFrom } from '../filter/read-filter.ts';
import { eventStream } from '../generation/event-stream.ts';
import type { Generation, OperationContext } from '../generation/generation.ts';
import { GenerationMoved } from '../generation/generation-moved.ts';
import { facts } from '../selection/field-facts.ts';
import { inputList, nonNull, required } from '../types/type-wrappers.ts';

/** The parts that the field shares with lists over several kinds. */
interface Shared {
  /** A type of the static schema by name. */
  readonly type: (name: string) => GraphQLNamedType;
  /** The filter of objects of any kind. */
  readonly filter: GraphQLInputObjectType;
  readonly kindsArgument: GraphQLArgumentConfig;
  kindsOf(served: ServedKinds, words: readonly string[]): { readonly kinds: readonly CatalogKind[] };
}

type Arguments = Readonly<Record<string, unknown>>;

interface FromArgument {
  readonly objects?: readonly string[];
  readonly query?: {
    readonly kinds: readonly string[];
    readonly filter?: unknown;
    readonly clusters?: readonly string[] | null;
    readonly namespaces?: readonly string[] | null;
  };
}

/** Values that the subscription counts for, without its lines. */
const subscriptionCost = 100;
const mostIds = 1000;
/** Milliseconds until logs that have moved are taken over, or end. */
const takeOverMs = 10_000;

/** Logs that a generation ended, by the start that it gave them. */
const handedOver = new WeakMap<LiveStart, FollowedLogs>();

/** The root field of the subscription `logs`. */
export function logsRoot(shared: Shared): GraphQLFieldConfigMap<unknown, OperationContext> {
  const query = new GraphQLInputObjectType({
    name: 'LogsQuery',
    description: 'The objects that match: Pods, and objects that own Pods.',
    fields: {
      kinds: shared.kindsArgument,
      filter: { type: shared.filter },
      clusters: { type: inputList(GraphQLString) },
      namespaces: { type: inputList(GraphQLString) },
    },
  });
  const from = new GraphQLInputObjectType({
    name: 'LogsFrom',
    description: 'Pods, and objects that own Pods, such as Deployments and Jobs: by their ids, or by a query.',
    isOneOf: true,
    fields: { objects: { type: inputList(GraphQLID) }, query: { type: query } },
  });
  return {
    logs: {
      type: nonNull(shared.type('LogMessage')),
      description:
        'The logs of Pods, merged by time, read from the API servers as the caller. With `follow`, Pods that come later join, and restarts of containers are followed.',
      args: {
        from: { type: required(from) },
        containers: {
          type: inputList(GraphQLString),
          description: 'Names. Null for all, init and ephemeral ones too.',
        },
        follow: { type: required(GraphQLBoolean), defaultValue: true },
        previous: {
          type: required(GraphQLBoolean),
          defaultValue: false,
          description: 'The log before the last restart of each container. Without `follow`.',
        },
        since: { type: GraphQLString, description: 'A duration such as 5m, or a time.' },
        tail: { type: GraphQLInt, description: 'Lines from the end of each log.' },
        grep: {
          type: GraphQLString,
          description: 'Only lines with this RE2 pattern in their first 16,384 characters.',
        },
        contains: { type: GraphQLString, description: 'Only lines with this text.' },
        ignoreCase: { type: required(GraphQLBoolean), defaultValue: false, description: 'For `grep` and `contains`.' },
      },
      extensions: facts({ cost: { own: subscriptionCost } }),
      subscribe: async (_root, args, { portolan }) => {
        const logs = await begin(shared, args, portolan);
        return eventStream(
          portolan.signal,
          (signal) => messages(logs, portolan, signal),
          (message) => message,
        );
      },
      resolve: (message) => message,
    },
  };
}

async function begin(shared: Shared, args: Arguments, operation: Operation<Generation>): Promise<FollowedLogs> {
  const { liveStart } = operation;
  const moved = liveStart === null ? undefined : handedOver.get(liveStart);
  const source = sourceOf(shared, args['from'] as FromArgument, operation);
  if (moved !== undefined && liveStart !== null) {
    handedOver.delete(liveStart);
    moved.movedTo(operation, source);
    return moved;
  }
  const logs = new FollowedLogs(operation, source, optionsOf(args));
  try {
    await logs.begin();
  } catch (error) {
    logs.close();
    throw error;
  }
  return logs;
}

/** Begins at once: a generator of which no message is taken never runs, and could not close the logs. */
function messages(logs: FollowedLogs, operation: Operation<Generation>, signal: AbortSignal) {
  let isMoving = false;
  const close = (): void => {
    if (!isMoving) logs.close();
  };
  if (signal.aborted) close();
  signal.addEventListener('abort', close, { once: true });
  const check = (): void => {
    if (operation.source.generation() === operation.generation) return;
    const start: LiveStart = { at: 'snapshot' };
    handedOver.set(start, logs);
    isMoving = true;
    setTimeout(() => {
      if (handedOver.delete(start)) logs.close();
    }, takeOverMs).unref();
    throw new GenerationMoved('logs', start);
  };
  return untilOver(logs.messages(signal, check), close);
}

/** @param close also after an error or a complete log */
async function* untilOver<T>(messages: AsyncGenerator<T, void, undefined>, close: () => void) {
  try {
    yield* messages;
  } finally {
    close();
  }
}

function optionsOf(args: Arguments): LogOptions {
  const text = (name: string): string | null => (args[name] as string | null | undefined) ?? null;
  return {
    containers: (args['containers'] as readonly string[] | null | undefined) ?? null,
    follow: args['follow'] === true,
    previous: args['previous'] === true,
    since: sinceOf(text('since')),
    tail: (args['tail'] as number | null | undefined) ?? null,
    grep: text('grep'),
    contains: text('contains'),
    ignoreCase: args['ignoreCase'] === true,
  };
}

function sourceOf(shared: Shared, { objects, query }: FromArgument, operation: Operation<Generation>): PodSource {
  if (query === undefined) {
    const ids = objects ?? [];
    if (ids.length === 0 || ids.length > mostIds) {
      throw new PortolanError('BAD_USER_INPUT', `\`objects\` has ${ids.length} ids; give between 1 and ${mostIds}.`);
    }
    return { by: 'ids', identities: ids.map(decodeObjectId) };
  }
  const { kinds } = shared.kindsOf(operation.generation, query.kinds);
  const { clusters = null, namespaces = null } = query;
  const own = filterFrom(shared.filter, query.filter, filterContext(operation, kinds));
  return { by: 'query', kinds, filter: filterOf(operation, own, { clusters, namespaces }) };
}
