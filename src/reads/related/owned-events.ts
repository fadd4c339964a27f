/**
 * `events(includeOwned: true)`: the Events about an object and about all that it owns, as one list, newest first.
 *
 *   { deployments(first: 50) { nodes { events(includeOwned: true, first: 5) { nodes { message } } } } }
 *     50 calls of loadOwnedEvents -> one loader, 50 roots -> one ownedTrees(…) -> the ids of the Events about the objects, for each kind of
 *     them -> the times of these Events -> 50 pages -> one read of the Events on the pages
 *
 * Times are compared here and not by SQL: the one time of an Event is in one of four fields.
 */
import DataLoader from 'dataloader';
import { splitLike } from '../../base/text/split-like.ts';
import { valueAt } from '../../catalog/paths/value-at.ts';
import { pathOfMention } from '../../catalog/relations/place-text.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import { orderKey } from '../../catalog/values/values.ts';
import type { Operation } from '../../operation/operation.ts';
import type { GroupResult } from '../../query/plan/aggregate.ts';
import { checkPage } from '../../query/plan/check-page.ts';
import { decodeCursor } from '../../query/plan/cursor.ts';
import type { Filter, Identity } from '../../query/plan/filter.ts';
import { digest } from '../../query/plan/fingerprint.ts';
import { compareIdentity } from '../../query/plan/identity-order.ts';
import type { ListResult, ObjectRow } from '../../query/plan/plan.ts';
import type { OverBudget } from '../../query/plan/scan-budget.ts';
import { listRow } from '../../query/read/list.ts';
import { objectsById } from '../../query/read/object-rows.ts';
import type { TreeRoot } from '../../query/related/owned-tree.ts';
import { relatedIds } from '../../query/related/related-list.ts';
import type { View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';
import { AggregatedRelated } from '../aggregates/aggregated.ts';
import type { ConnectionSource } from '../lists/list-connection.ts';
import type { ObjectSelection } from '../lists/object-selection.ts';
import type { ObjectSource } from '../lists/object-source.ts';
import { chargedTrees, chargeRows } from './charged-trees.ts';
import { groupsOf, type Related, RelatedConnection, related } from './related-connection.ts';
import { hopFrom, type KindHop, type RelatedArguments, readyFor } from './relation-source.ts';

const field = 'events(includeOwned: true)';

interface Root extends TreeRoot {
  /** resourceKey */
  readonly key: string;
}

/** One root's page, and the number of its Events. */
interface EventPage extends Related {
  readonly count: number;
}

/** @throws PortolanError QUERY_TOO_COSTLY for too many objects or Events. */
export function loadOwnedEvents(
  { operation, kind, row }: ObjectSource,
  { hop, to }: KindHop,
  args: Omit<RelatedArguments, 'orderBy'>,
  { projection, cost, key }: ObjectSelection,
): ConnectionSource {
  const { filter, after } = args;
  const { limit } = checkPage({ first: args.first, after }, { maximum: operation.source.limits.maxPageSize });
  const fingerprint = digest({ ownedEvents: to.key, filter });
  const plan = { hop, to, filter };
  const byRoot = <T>(
    name: string,
    read: (lease: Lease, view: View, roots: readonly Root[]) => Promise<readonly T[]>,
  ) => {
    const loader = operation.loader(
      `${name} ${key}`,
      () =>
        new DataLoader<Root, T, string>((roots) => readyFor(operation, to, (lease, view) => read(lease, view, roots)), {
          cacheKeyFn: ({ id, uid }) => `${id} ${uid}`,
        }),
    );
    const { cluster, namespace, uid } = row;
    return loader.load({ id: row.objectId, key: kind.key, cluster, namespace, uid });
  };
  const pages = (): Promise<EventPage> =>
    byRoot('owned events', async (lease, view, roots): Promise<readonly EventPage[]> => {
      const found = await eventIds(operation, lease, view, roots, plan);
      const rows = splitLike(found, await objectsById(lease, keyed(found.flat(), to.key), times));
      const position = after === null ? null : positionOf(after, fingerprint);
      const cut = rows.map((some) => pageOfEvents(some.map(timedEvent), limit, position));
      const shown = await objectsById(
        lease,
        keyed(
          cut.flatMap(({ events }) => events.map(({ id }) => id)),
          to.key,
        ),
        projection,
      );
      const results = splitLike(
        cut.map(({ events }) => events),
        shown,
      ).map((some, at): ListResult => {
        const { events = [], hasNextPage = false } = cut[at] ?? {};
        return {
          rows: some.map((event, index) => listRow(event, [events[index]?.time ?? null], fingerprint)),
          ...{ hasNextPage, hasPreviousPage: after !== null },
        };
      });
      const withCursors = await related(lease, view, null, Promise.resolve(results));
      return withCursors.map((page, at) => ({ ...page, count: found[at]?.length ?? 0 }));
    });
  return new RelatedConnection(operation, cost, {
    read: pages,
    count: async (most) => Math.min((await pages()).count, most ?? Number.POSITIVE_INFINITY),
    aggregated: new AggregatedRelated(operation, [to], row, (request) =>
      byRoot<readonly GroupResult[] | OverBudget>(`owned events ${digest(request)}`, async (lease, view, roots) => {
        const found = await eventIds(operation, lease, view, roots, plan);
        const pairs = found.flatMap((ids, at) => ids.map((id) => [at, id]));
        const events = { key: to.key, count: pairs.length, pairs: JSON.stringify(pairs) };
        return groupsOf(operation, lease, view, [events], request, roots.length);
      }),
    ),
    via: async () => (hop.way.by === 'reference' ? hop.way.places.map(pathOfMention) : []),
  });
}

interface EventPlan extends KindHop {
  readonly filter: Filter;
}

/** The ids of the Events about each root and about what it owns. */
async function eventIds(
  operation: Operation,
  lease: Lease,
  view: View,
  roots: readonly Root[],
  { hop, to, filter }: EventPlan,
): Promise<readonly (readonly number[])[]> {
  const trees = await chargedTrees(operation, lease, view, roots, field);
  const objects = [roots, ...trees].flat();
  const eventsOf = new Map<number, number[]>();
  let count = 0;
  for (const [key, some] of Map.groupBy(objects, (object) => object.key)) {
    const kind = operation.generation.kind(key);
    const eventsHop = kind === undefined ? null : hopFrom(kind, hop, to);
    if (eventsHop === null) continue;
    const ids = [...new Set(some.map(({ id }) => id))];
    for (const { pairs } of await relatedIds(lease, view, ids, { hop: eventsHop, filter, orderBy: [] })) {
      for (const [at, event] of JSON.parse(pairs) as readonly [number, number][]) {
        const id = ids[at] ?? 0;
        const known = eventsOf.get(id);
        if (known === undefined) eventsOf.set(id, [event]);
        else known.push(event);
        count += 1;
      }
    }
  }
  chargeRows(operation, count, field);
  return roots.map((root, at) => {
    const tree = [root, ...(trees[at] ?? [])];
    return [...new Set(tree.flatMap(({ id }) => eventsOf.get(id) ?? []))];
  });
}

/** What `timedEvent` reads. */
const times = {
  lastTimestamp: true,
  series: { lastObservedTime: true },
  eventTime: true,
  metadata: { creationTimestamp: true },
} as const;
const timePaths = ['lastTimestamp', 'series.lastObservedTime', 'eventTime', 'metadata.creationTimestamp'].map(
  parsePath,
);

interface TimedEvent {
  readonly id: number;
  readonly identity: Identity;
  /** Microseconds since 1970; null for an Event without a time. */
  readonly time: bigint | null;
}

function timedEvent(row: ObjectRow): TimedEvent {
  const keys = timePaths.map((path) => orderKey('DateTime', valueAt(row.body, path)));
  return { id: row.objectId, identity: row, time: keys.find((key) => typeof key === 'bigint') ?? null };
}

type EventPosition = Pick<TimedEvent, 'identity' | 'time'>;

function positionOf(after: string, fingerprint: string): EventPosition {
  const { keys, identity } = decodeCursor(after, fingerprint);
  const [time] = keys;
  return { identity, time: typeof time === 'bigint' ? time : null };
}

function pageOfEvents(
  all: readonly TimedEvent[],
  limit: number,
  position: EventPosition | null,
): { readonly events: readonly TimedEvent[]; readonly hasNextPage: boolean } {
  const rest = position === null ? all : all.filter((event) => compareEvents(event, position) > 0);
  return { events: rest.toSorted(compareEvents).slice(0, limit), hasNextPage: rest.length > limit };
}

/** Newer Events come first; those without a time come last. The identity breaks ties. */
function compareEvents(a: EventPosition, b: EventPosition): number {
  if (a.time !== b.time) return (a.time ?? -(2n ** 63n)) > (b.time ?? -(2n ** 63n)) ? -1 : 1;
  return compareIdentity(a.identity, b.identity);
}

function keyed(ids: readonly number[], key: string): readonly { readonly id: number; readonly key: string }[] {
  return ids.map((id) => ({ id, key }));
}
