/** A live list of several kinds that runs: its end, its messages, and its first read of the store. */
import { rightsInClusters } from '../../access/rights-in-clusters.ts';
import type { Scope, Scopes } from '../../access/scope.ts';
import { clustersIn } from '../../query/plan/filter.ts';
import { missingOf, notReady, readiness } from '../../query/read/readiness.ts';
import { readView, type View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { LiveMessage } from '../cohort/cohort-batch.ts';
import type { ChangeFeed } from '../feed/change-feed.ts';
import { notYetSynced, whenReady } from '../feed/running-list.ts';
import type { CellStart, LiveRequest } from '../list/live-request.ts';
import { cursorMarks, writeLiveCursor } from '../log/live-cursor.ts';
import {
  type FollowedKind,
  type LiveObjectsRequest,
  type ObjectsPosition,
  type VisibleKinds,
  visibleIn,
} from './objects-pull.ts';

/** A live list that runs. */
export interface Run {
  readonly feed: ChangeFeed;
  /** With the rights in the clusters of the filter. */
  readonly request: LiveObjectsRequest;
  /** The rights in all clusters. */
  readonly whole: LiveRequest['rights'];
  /** A digest of the kinds, the filter and the projection. */
  readonly question: string;
  /** The pull that the list used last (shared-pull.ts). */
  lastPull: string | null;
}

export function message(
  phase: LiveMessage['phase'],
  {
    epoch,
    sequence,
    visibleKinds,
  }: Pick<ObjectsPosition, 'epoch' | 'sequence'> & { readonly visibleKinds?: VisibleKinds },
  rest: Partial<Pick<LiveMessage, 'totalCount' | 'changes' | 'reset'>> = {},
): LiveMessage {
  const cursor = writeLiveCursor({ epoch, sequence, ...visibleKinds?.marks });
  return { phase, reset: false, cursor, totalCount: null, changes: [], ...rest };
}

/** Waits until the kinds are synced, then reads. Null when the list was stopped. */
export function readKinds<T>(
  run: Run,
  start: CellStart,
  read: (
    lease: Lease,
    view: View,
    visibleKinds: VisibleKinds,
    unsynced: readonly string[],
    scopes: Scopes,
  ) => Promise<T>,
): Promise<T | null> {
  const { request } = run;
  return whenReady(run, {
    check: () => request.check(start),
    ofSnapshot: start.at === 'snapshot',
    async read(lease) {
      const scopes = await request.rights.at(lease);
      const view = await readView(lease, scopes);
      const visible = visibleIn(request, scopes);
      const unsynced = await requireSynced(lease, request, visible);
      const kindIds = new Map<string, number>();
      for (const { kind } of request.kinds) {
        const id = view.get(kind.key, 'watch')?.kindId;
        if (id === undefined) throw notYetSynced(kind.key);
        kindIds.set(kind.key, id);
      }
      return read(lease, view, { visible, kindIds, marks: cursorMarks(visible) }, unsynced, scopes);
    },
  });
}

/** @throws PortolanError CACHE_NOT_READY or RESOURCE_REFUSED if a list of the kinds cannot begin */
export async function requireFollowed(
  lease: Lease,
  request: Pick<LiveObjectsRequest, 'kinds' | 'filter' | 'rights'>,
): Promise<void> {
  const scopes = await rightsInClusters(request.rights, clustersIn(request.filter)).at(lease);
  await requireSynced(lease, request, visibleIn(request, scopes));
}

/**
 * The optional kinds that no cluster has synced. Kinds of which the caller may see nothing do not count.
 * @throws PortolanError CACHE_NOT_READY or RESOURCE_REFUSED, as lists over several kinds do.
 */
async function requireSynced(
  lease: Lease,
  { kinds }: Pick<LiveObjectsRequest, 'kinds'>,
  visible: ReadonlyMap<string, Scope>,
): Promise<readonly string[]> {
  const seen = kinds.filter(({ kind, clusters }) => clusters.length > 0 && visible.get(kind.key)?.rows !== 'none');
  const found = await readiness(
    lease,
    seen.map(({ kind }) => kind.key),
  );
  const inClusters = (of: readonly FollowedKind[]) =>
    found.filter(({ key, cluster }) => of.some(({ kind, clusters }) => kind.key === key && clusters.includes(cluster)));
  for (const each of seen.filter(({ isOptional }) => !isOptional)) {
    missingOf(inClusters([each]), [each.kind.key], each.clusters);
  }
  const optional = seen.filter(({ isOptional }) => isOptional);
  const states = inClusters(optional);
  const keys = optional.map(({ kind }) => kind.key);
  if (optional.length > 0 && !states.some(({ synced }) => synced)) throw notReady(states, keys, undefined, true);
  const synced = new Set(found.flatMap(({ key, synced: is }) => (is ? key : [])));
  return keys.filter((key) => !synced.has(key));
}
