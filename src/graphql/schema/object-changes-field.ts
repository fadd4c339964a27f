/** The subscription root over several kinds: a live list of several kinds (src/live/objects/live-objects.ts) in GraphQL. */
import { type GraphQLFieldConfigMap, GraphQLObjectType } from 'graphql';
import { requireValid } from '../../access/caller.ts';
import { rightsOf } from '../../access/rights.ts';
import { must } from '../../base/must.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { Messages } from '../../live/feed/running-list.ts';
import type { LiveStart } from '../../live/list/live-request.ts';
import { liveObjects, requireFollowed } from '../../live/objects/live-objects.ts';
import { servingClusters } from '../../operation/list-readiness.ts';
import type { Operation } from '../../operation/operation.ts';
import type { ServedKinds } from '../../operation/served-kinds.ts';
import { clustersIn } from '../../query/plan/filter.ts';
import { filterContext, filterFrom } from '../filter/read-filter.ts';
import { eventStream } from '../generation/event-stream.ts';
import type { OperationContext } from '../generation/generation.ts';
import { GenerationMoved, movedStart } from '../generation/generation-moved.ts';
import { liveInCells } from '../generation/live-in-cells.ts';
import { shownPartsOf } from '../selection/shown-parts.ts';
import { nonNull } from '../types/type-wrappers.ts';
import {
  ChangesSource,
  changeFields,
  changesFields,
  projectionOfChanges,
  refuseRelations,
  requireWatched,
  snapshotChunk,
  startArguments,
  startOf,
} from './changes-field.ts';
import type { Shared } from './kind-types.ts';
import { kindsArgument, kindsOf } from './object-roots.ts';

/** `objectChanges(kinds:, filter:, since:, snapshot:, distinct:)`. */
export function objectChangesRoot(shared: Shared): GraphQLFieldConfigMap<unknown, OperationContext> {
  const change = new GraphQLObjectType({
    name: 'KubernetesObjectChange',
    description: 'A change of an object of any kind.',
    fields: () => changeFields(shared.object, shared),
  });
  const changes = new GraphQLObjectType({
    name: 'KubernetesObjectChanges',
    description: 'A message of the subscription `objectChanges`.',
    fields: () => changesFields(change as GraphQLObjectType, shared),
  });
  return {
    objectChanges: {
      type: nonNull(changes),
      description:
        'The objects of several kinds that match, and then each change of them, with one cursor for all kinds.',
      args: { kinds: kindsArgument, filter: { type: shared.filters.object }, ...startArguments },
      subscribe: async (_root, args, { portolan }, info) => {
        const words = args['kinds'] as readonly string[];
        const { kinds, optional } = kindsOf(portolan.generation, words);
        const filter = filterFrom(shared.filters.object, args['filter'], filterContext(portolan, kinds));
        refuseRelations(filter);
        const keys = kinds.map(({ key }) => key);
        if (portolan.signal?.aborted !== true) await requireWatched(portolan, keys, filter);
        const { source, caller } = portolan;
        const byKey = new Map(kinds.map((kind) => [kind.key, kind]));
        const kindOf = (key: string): CatalogKind => must(byKey.get(key), 'an object is of one of the kinds');
        const request = {
          filter,
          projection: projectionOfChanges(info, shared.object),
          shown: args['distinct'] === true ? shownPartsOf(info, portolan.detached(), kindOf) : undefined,
          chunk: snapshotChunk,
          now: () => source.now(),
        };
        const start = portolan.liveStart ?? startOf(portolan, args['since'], args['snapshot']);
        const check = (successor: LiveStart): void => {
          requireValid(caller, source.now());
          leaveOldGeneration(portolan, words, kinds, successor);
        };
        const followed = kinds.map((kind) => ({
          kind,
          clusters: servingClusters(portolan, kind, filter),
          isOptional: optional.has(kind.key),
        }));
        const begin = (signal: AbortSignal): Messages<void> =>
          liveInCells(portolan, { start, signal, check, clusters: clustersIn(filter), kinds }, (cell) => {
            const isOwn = (cluster: string): boolean => portolan.at(cluster) === cell;
            const own = followed
              .filter(({ kind }) => source.cells === undefined || kind.clusters.some(isOwn))
              .map((each) => ({ ...each, clusters: each.clusters.filter(isOwn) }));
            const rights = rightsOf(cell.source.rights, caller);
            return {
              requireReady: (lease) => requireFollowed(lease, { ...request, kinds: own, rights }),
              list: (of) => liveObjects(cell.source.feed, { ...request, ...of, kinds: own, rights }),
            };
          });
        return eventStream(portolan.signal, begin, (message) => new ChangesSource(portolan, kindOf, message));
      },
      resolve: (from) => from,
    },
  };
}

/** As for one kind (changes-field.ts). Another set of kinds needs a new snapshot too: the client has no object of a new kind. */
function leaveOldGeneration(
  { source, generation }: Operation,
  words: readonly string[],
  kinds: readonly CatalogKind[],
  successor: LiveStart,
): void {
  const current = source.generation();
  if (current === generation) return;
  const changed = shapesOf(current, words) !== textOf(kinds);
  throw new GenerationMoved('objectChanges', movedStart(successor, changed));
}

/** Null if a word names no kind any more. The subscription then ends when it begins again. */
function shapesOf(served: ServedKinds, words: readonly string[]): string | null {
  try {
    return textOf(kindsOf(served, words).kinds);
  } catch {
    return null;
  }
}

function textOf(kinds: readonly CatalogKind[]): string {
  return kinds
    .map(({ key, shapeHash }) => `${key} ${shapeHash}`)
    .sort()
    .join();
}
