/** The subscription root of a kind: a live list (src/live/list/live-list.ts) in GraphQL. */
import {
  GraphQLBoolean,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLID,
  type GraphQLInputObjectType,
  GraphQLInt,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  GraphQLString,
} from 'graphql';
import { requireValid } from '../../access/caller.ts';
import { rightsOf } from '../../access/rights.ts';
import { PortolanError } from '../../base/errors.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { servedUid } from '../../catalog/resources/synthetic-identity.ts';
import { liveList, requireListed } from '../../live/list/live-list.ts';
import type { LiveMessage, LivePushing, LiveRequest, LiveStart } from '../../live/list/live-request.ts';
import type { LiveChange } from '../../live/log/live-change.ts';
import { decodeLiveCursor, splitCellCursors } from '../../live/log/live-cursor.ts';
import { servingClusters } from '../../operation/list-readiness.ts';
import type { Operation } from '../../operation/operation.ts';
import { requireVisible, withSettledRights } from '../../operation/require-visible.ts';
import { clustersIn, dependsOnAnyKind, type Filter, hopsIn, readsRollUp } from '../../query/plan/filter.ts';
import { encodeObjectId } from '../../query/plan/object-id.ts';
import type { Projection } from '../../query/plan/plan.ts';
import { viewsOf } from '../../query/sql/view.ts';
import { ObjectSource } from '../../reads/lists/object-source.ts';
import { filterContext, filterFrom } from '../filter/read-filter.ts';
import { eventStream } from '../generation/event-stream.ts';
import type { OperationContext } from '../generation/generation.ts';
import { GenerationMoved, movedStart } from '../generation/generation-moved.ts';
import { liveInCells } from '../generation/live-in-cells.ts';
import { LiveEvent } from '../generation/shared-results.ts';
import { projectionOf } from '../selection/projection.ts';
import { shownPartsOf } from '../selection/shown-parts.ts';
import { fragmentsOf, selectionsAt } from '../selection/walk.ts';
import { listOf, nonNull } from '../types/type-wrappers.ts';
import type { FieldConfig } from './shape-types.ts';

/** A message for one subscriber. Its operation is made when a field needs it. */
export class ChangesSource extends LiveEvent {
  /** The kind of an object, by its resourceKey. */
  readonly kindOf: (key: string) => CatalogKind;
  readonly message: LiveMessage;
  readonly #subscription: Operation;
  #operation: Operation | null = null;

  constructor(subscription: Operation, kindOf: ChangesSource['kindOf'], message: LiveMessage) {
    super();
    this.#subscription = subscription;
    this.kindOf = kindOf;
    this.message = message;
  }

  get operation(): Operation {
    this.#operation ??= this.#subscription.detached(Math.max(1, this.message.changes.length));
    return this.#operation;
  }

  get shared(): object {
    return this.message;
  }

  get isPersonal(): boolean {
    return this.#operation?.isPersonal ?? false;
  }
}

interface ChangeSource {
  readonly operation: Operation;
  readonly kind: CatalogKind;
  readonly change: LiveChange;
}

/** The most objects in one SNAPSHOT message. More messages cost more for each client, and larger ones hold the serve thread for longer. */
export const snapshotChunk = 200;

interface Types {
  readonly type: (name: string) => GraphQLNamedType;
}

/** Fields of `PodChanges`. */
export function changesFields(
  change: GraphQLObjectType,
  { type }: Types,
): GraphQLFieldConfigMap<ChangesSource, OperationContext> {
  return {
    phase: { type: nonNull(type('ChangePhase')), resolve: ({ message }) => message.phase },
    reset: {
      type: nonNull(GraphQLBoolean),
      description: 'Drop all objects that you hold before you apply the changes.',
      resolve: ({ message }) => message.reset,
    },
    cursor: {
      type: nonNull(GraphQLString),
      description: 'Pass it as `since` to continue after this message.',
      resolve: ({ message }) => message.cursor,
    },
    totalCount: {
      type: GraphQLInt,
      description: 'The matches after this message; null after a cursor.',
      resolve: ({ message }) => message.totalCount,
    },
    removedIds: {
      type: nonNull(listOf(nonNull(GraphQLID))),
      description: 'Ids of the changes that are REMOVED.',
      resolve: ({ message }) =>
        message.changes.filter(({ type }) => type === 'REMOVED').map(({ identity }) => encodeObjectId(identity)),
    },
    changes: {
      type: nonNull(listOf(nonNull(change))),
      description: 'At most one change for each object.',
      resolve: ({ message, operation, kindOf }) =>
        message.changes.map((change): ChangeSource => ({ operation, kind: kindOf(change.identity.key), change })),
    },
  };
}

/** Fields of `PodChange`. */
export function changeFields(
  object: GraphQLObjectType | GraphQLInterfaceType,
  { type }: Types,
): GraphQLFieldConfigMap<ChangeSource, OperationContext> {
  return {
    type: { type: nonNull(type('ChangeType')), resolve: ({ change }) => change.type },
    id: { type: nonNull(GraphQLID), resolve: ({ change }) => encodeObjectId(change.identity) },
    uid: { type: GraphQLString, resolve: ({ change }) => servedUid(change.uid) },
    object: {
      type: object,
      description: 'Null when REMOVED.',
      resolve: ({ operation, kind, change }) =>
        change.object === null ? null : new ObjectSource(operation.at(change.identity.cluster), kind, change.object),
    },
    previous: {
      type: object,
      description: 'The object before the change.',
      resolve: ({ operation, kind, change }) =>
        change.previous === null
          ? null
          : new ObjectSource(operation.at(change.identity.cluster), kind, change.previous, { isPast: true }),
    },
    reason: { type: type('RemovalReason') as GraphQLOutputType, resolve: ({ change }) => change.reason },
    changedPaths: {
      type: listOf(nonNull(type('Path'))),
      description: 'The paths whose values differ; null unless MODIFIED.',
      resolve: ({ change }) => change.changedPaths(),
    },
    at: { type: nonNull(type('DateTime')), resolve: ({ change }) => new Date(change.at).toISOString() },
  };
}

/** Arguments of every subscription of objects besides its filter. */
export const startArguments: GraphQLFieldConfigArgumentMap = {
  since: {
    type: GraphQLString,
    description: 'The changesCursor of a list, or the cursor of a message: continue after it.',
  },
  snapshot: {
    type: GraphQLBoolean,
    defaultValue: true,
    description: 'Without `since`: begin with the objects that match now.',
  },
  distinct: {
    type: GraphQLBoolean,
    defaultValue: false,
    description: 'No MODIFIED without a difference in the selected fields of `object` and `previous`.',
  },
};

/** `podChanges(filter:, since:, snapshot:, distinct:)`. */
export function changesRoot(
  kind: CatalogKind,
  changes: GraphQLObjectType,
  object: GraphQLObjectType,
  filter: GraphQLInputObjectType,
): FieldConfig {
  return {
    type: nonNull(changes),
    description: 'The objects that match, and then each change of them.',
    args: { filter: { type: filter }, ...startArguments },
    subscribe: async (_root, args, { portolan, common }, info) => {
      const conditions = filterFrom(filter, args['filter'], filterContext(portolan, [kind]));
      refuseRelations(conditions);
      if (portolan.signal?.aborted !== true) await requireWatched(portolan, [kind.key], conditions);
      return messages(portolan, kind, common, {
        kind,
        filter: conditions,
        clusters: servingClusters(portolan, kind, conditions),
        start: portolan.liveStart ?? startOf(portolan, args['since'], args['snapshot']),
        projection: projectionOfChanges(info, object),
        shown: args['distinct'] === true ? shownPartsOf(info, portolan.detached(), () => kind) : undefined,
      });
    },
    resolve: (source) => source,
  };
}

/** @throws PortolanError FORBIDDEN if the caller may watch no object of the kinds that the filter can match. */
export function requireWatched(operation: Operation, keys: readonly string[], filter: Filter): Promise<void> {
  // Detached, because a subscription holds no lease.
  const reading = operation.detached();
  return withSettledRights(reading, () =>
    reading.readCells(async (cells) => requireVisible(viewsOf(cells), keys, filter, 'watch'), [], clustersIn(filter)),
  );
}

/** @throws PortolanError BAD_USER_INPUT for a malformed cursor. */
export function startOf({ source: { cells } }: Operation, since: unknown, snapshot: unknown): LiveStart {
  if (typeof since === 'string') {
    if (cells === undefined) return { at: 'cursor', cursor: decodeLiveCursor(since) };
    const starts = splitCellCursors(since, cells.length).map((cursor) =>
      cursor === null ? null : ({ at: 'cursor', cursor } as const),
    );
    return { at: 'cells', starts };
  }
  return { at: snapshot === false ? 'now' : 'snapshot' };
}

export function projectionOfChanges(
  info: GraphQLResolveInfo,
  object: GraphQLObjectType | GraphQLInterfaceType,
): Projection {
  const fragments = fragmentsOf(info);
  const roots = info.fieldNodes.map((node) => node.selectionSet);
  const sets = selectionsAt(fragments, roots, ['changes', 'object']);
  return projectionOf({ schema: info.schema, fragments }, sets, object);
}

/** The live list as the event stream of the subscription. */
function messages(
  operation: Operation,
  kind: CatalogKind,
  common: OperationContext['common'],
  {
    start,
    clusters,
    ...request
  }: Pick<LiveRequest, 'kind' | 'filter' | 'projection' | 'shown'> & {
    readonly clusters: readonly string[];
    readonly start: LiveStart;
  },
): AsyncGenerator<ChangesSource, void, undefined> {
  const { source, caller } = operation;
  const check = (successor: LiveStart): void => {
    requireValid(caller, source.now());
    leaveOldGeneration(operation, kind, successor);
  };
  const begin = (signal: AbortSignal): AsyncGenerator<LiveMessage, void, undefined> =>
    liveInCells(operation, { start, signal, check, clusters: clustersIn(request.filter), kinds: [kind] }, (cell) => {
      const served = clusters.filter((cluster) => operation.at(cluster) === cell);
      const rights = rightsOf(cell.source.rights, caller);
      return {
        requireReady: (lease) => requireListed(lease, { kind, clusters: served }),
        list: (own) =>
          liveList(cell.source.feed, {
            ...request,
            ...own,
            clusters: served,
            rights,
            chunk: snapshotChunk,
            now: () => source.now(),
            pushing: common === undefined || source.cells !== undefined ? undefined : pushingTo(common, kind),
          }),
      };
    });
  return eventStream(operation.signal, begin, (message) => new ChangesSource(operation, () => kind, message));
}

function pushingTo(results: NonNullable<OperationContext['common']>, kind: CatalogKind): LivePushing {
  const group = results.groupOf((common, resultOf) => ({
    check(): void {
      requireValid(common.caller, common.source.now());
      leaveOldGeneration(common, kind, { at: 'snapshot' });
    },
    prepare: (message: LiveMessage) => resultOf(new ChangesSource(common, () => kind, message)),
  }));
  return { group, receiver: results.outlet };
}

/**
 * Ends a list whose generation is no longer current. src/graphql/generation/subscribe.ts starts it again on the next generation.
 */
function leaveOldGeneration({ source, generation }: Operation, kind: CatalogKind, successor: LiveStart): void {
  const current = source.generation();
  if (current === generation) return;
  // The objects of a cluster that came or went are in the log.
  const changed = current.kind(kind.key)?.shapeHash !== kind.shapeHash;
  throw new GenerationMoved(kind.names.type, movedStart(successor, changed));
}

/** A change of another object would have to change the result, and a subscription sees the changes of one kind. */
export function refuseRelations(filter: Filter): void {
  const related = readsRollUp(filter) ? ['health.rollUp'] : dependsOnAnyKind(filter) ? ['usedBy'] : [];
  const [name] = [...hopsIn(filter).map((hop) => hop.name), ...related];
  if (name === undefined) return;
  throw new PortolanError(
    'BAD_USER_INPUT',
    `A subscription cannot filter by related objects (${name}): it follows the changes of one kind. Filter by the object's own fields, or ask a live query: query @live { … }.`,
  );
}
