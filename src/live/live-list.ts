/**
 * A live list: what one subscription is told, as a sequence of messages. The protocol of DESIGN: SNAPSHOT* SYNCED LIVE*, and after a
 * GAP the same again with `reset`. Never silence about a loss, never a queue: the next message is made when the client asks for it.
 *
 *   snapshot           what matches at revision R (snapshot.ts): SNAPSHOT … SYNCED(R) -> LIVE
 *   now                SYNCED(R) -> LIVE
 *   cursor             of this epoch, and the log reaches back: SYNCED(cursor) -> LIVE; otherwise GAP -> snapshot
 *   place              another live list stood there: LIVE; otherwise GAP -> snapshot
 *   kind not synced    silence until it is
 *   kind re-listed     (RESET in the log, or bodies that went with one) GAP -> snapshot
 *
 * Invariant: who takes in all messages up to one with a cursor that is not `nowhere` holds what matched at that cursor.
 */
import type { Scopes } from '../access/scope.ts';
import { PortolanError } from '../base/errors.ts';
import type { Filter } from '../query/plan/filter.ts';
import type { ObjectRow, PlannedKind, Projection } from '../query/plan/plan.ts';
import { requireReady } from '../query/read/readiness.ts';
import { readView, type View } from '../query/sql/view.ts';
import { readLogFloor } from '../store/read/changes.ts';
import type { Lease } from '../store/types/lease.ts';
import type { ChangeFeed } from './change-feed.ts';
import { changedPaths } from './changed-paths.ts';
import { type FoldedChange, fold, type RemovalReason } from './fold.ts';
import { encodeLiveCursor, type LiveCursor, nowhere } from './live-cursor.ts';
import { rowsAsOf, type Taken, takeMatches } from './snapshot.ts';

export interface LiveChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'REMOVED';
  readonly identity: Pick<ObjectRow, 'cluster' | 'key' | 'namespace' | 'name'>;
  readonly uid: string | null;
  /** Null when REMOVED. */
  readonly object: ObjectRow | null;
  readonly reason: RemovalReason | null;
  /** Only for MODIFIED. */
  changedPaths(): readonly string[] | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface LiveMessage {
  readonly phase: 'SNAPSHOT' | 'SYNCED' | 'LIVE' | 'GAP';
  /** Drop what you hold before you take this message in. */
  readonly reset: boolean;
  readonly cursor: string;
  /** Matches after this message; null where a subscription that began at a cursor never counted them, and within a snapshot. */
  readonly totalCount: number | null;
  readonly changes: readonly LiveChange[];
}

/** Where a live list begins. */
export type LiveStart =
  /** With what matches now. */
  | { readonly at: 'snapshot' }
  /** Without a snapshot: only what changes from now on. */
  | { readonly at: 'now' }
  /** Where a client says that it stands. */
  | { readonly at: 'cursor'; readonly cursor: LiveCursor }
  /** Where another live list of the same client and filter left off, unheard by the client; `changed` when GAP must be said. */
  | {
      readonly at: 'place';
      readonly cursor: LiveCursor;
      readonly totalCount: number | null;
      readonly changed: boolean;
    };

export interface LiveRequest {
  readonly kind: PlannedKind;
  readonly filter: Filter;
  /** What the caller may see. */
  readonly scopes: Scopes;
  /** The clusters of which at least one must be synced; null for all that serve the kind, empty for none. */
  readonly clusters: readonly string[] | null;
  readonly start: LiveStart;
  readonly projection: Projection;
  readonly signal: AbortSignal;
  /** Objects in one SNAPSHOT message. */
  readonly chunk: number;
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Asked before each message and after each interruption of the feed; throws to end the list. `successor` is where another list
   * would have to begin so that the client notices nothing.
   */
  check(successor: LiveStart): void;
}

/** What the client holds is true here. */
interface Place extends LiveCursor {
  readonly kindId: number;
  readonly count: number | null;
}

type Messages<T> = AsyncGenerator<LiveMessage, T, undefined>;

/** Runs until the signal aborts, the feed closes or `check` throws. */
export async function* liveList(feed: ChangeFeed, request: LiveRequest): Messages<void> {
  const leave = feed.join();
  try {
    let place = yield* begin(feed, request);
    while (place !== null && !stopped(feed, request)) {
      const seen = feed.interruptions;
      request.check(placeOf(place));
      const batch = await feed.next(place.kindId, place, seen, request.signal);
      if (stopped(feed, request)) return;
      if (feed.interruptions !== seen) request.check(placeOf(place));
      if (batch.kind === 'gap' || !batch.changes.every((change) => change.continues)) {
        yield message('GAP', { epoch: place.epoch, sequence: nowhere });
        place = yield* snapshot(feed, request);
        continue;
      }
      for (const { changes, upTo } of fold(request.kind.key, batch.changes, batch.upTo, request)) {
        const count: number | null =
          place.count === null ? null : changes.reduce((sum, { type }) => sum + delta(type), place.count);
        place = { ...place, sequence: upTo, count };
        yield message('LIVE', place, { totalCount: count, changes: changes.map(liveChange) });
      }
      place = { ...place, sequence: batch.upTo };
    }
  } finally {
    leave();
  }
}

function stopped(feed: ChangeFeed, { signal }: LiveRequest): boolean {
  return signal.aborted || feed.closed;
}

function placeOf({ epoch, sequence, count }: Place): LiveStart {
  return { at: 'place', cursor: { epoch, sequence }, totalCount: count, changed: false };
}

function delta(type: FoldedChange['type']): number {
  return type === 'ADDED' ? 1 : type === 'REMOVED' ? -1 : 0;
}

function message(
  phase: LiveMessage['phase'],
  { epoch, sequence }: LiveCursor,
  rest: Partial<Pick<LiveMessage, 'totalCount' | 'changes' | 'reset'>> = {},
): LiveMessage {
  return {
    phase,
    reset: false,
    cursor: encodeLiveCursor({ epoch, sequence }),
    totalCount: null,
    changes: [],
    ...rest,
  };
}

function liveChange({ type, identity, uid, first, last, reason }: FoldedChange): LiveChange {
  const { logged } = last;
  const { objectId, resourceVersion, seq } = logged;
  return {
    type,
    identity,
    uid,
    object: type === 'REMOVED' ? null : { ...identity, objectId, uid, resourceVersion, seq, body: last.after() },
    reason,
    changedPaths: () => (type === 'MODIFIED' ? changedPaths(first.before(), last.after()) : null),
    at: logged.at,
  };
}

/** The messages until the client holds something that changes can follow; gives that place, or null when it was stopped. */
async function* begin(feed: ChangeFeed, request: LiveRequest): Messages<Place | null> {
  const { start } = request;
  if (start.at === 'snapshot') return yield* snapshot(feed, request);
  const store = await whenReady(feed, request, start, async (lease, _view, kindId) => ({
    epoch: lease.epoch,
    sequence: lease.revision,
    floor: await readLogFloor(lease),
    kindId,
  }));
  if (store === null) return null;
  const { epoch, kindId } = store;
  if (start.at === 'now') {
    yield message('SYNCED', store);
    return { epoch, sequence: store.sequence, kindId, count: null };
  }
  const { cursor } = start;
  const reached = cursor.epoch === epoch && cursor.sequence <= store.sequence && cursor.sequence >= store.floor;
  if (reached && start.at === 'cursor') {
    yield message('SYNCED', cursor);
    return { ...cursor, kindId, count: null };
  }
  if (reached && start.at === 'place' && !start.changed) return { ...cursor, kindId, count: start.totalCount };
  yield message('GAP', { epoch, sequence: nowhere });
  return yield* snapshot(feed, request);
}

/** Sends one snapshot; starts it over when the log loses the revision it is taken at. Null when it was stopped. */
async function* snapshot(feed: ChangeFeed, request: LiveRequest): Messages<Place | null> {
  const again: LiveStart = { at: 'snapshot' };
  for (;;) {
    const taken = await whenReady(feed, request, again, (lease, view, kindId) =>
      takeMatches(lease, view, kindId, request),
    );
    if (taken === null) return null;
    const whole = yield* chunks(feed, request, taken);
    if (stopped(feed, request)) return null;
    if (!whole) continue;
    const { epoch, revision: sequence, kindId, objects } = taken;
    const count = objects.length;
    request.check(again);
    yield message('SYNCED', { epoch, sequence }, { totalCount: count, reset: count === 0 });
    return { epoch, sequence, kindId, count };
  }
}

/** Sends the bodies of what was taken. False when the log no longer tells what it was, or when it was stopped. */
async function* chunks(feed: ChangeFeed, request: LiveRequest, taken: Taken): Messages<boolean> {
  const { objects, epoch } = taken;
  for (let from = 0; from < objects.length; from += request.chunk) {
    request.check({ at: 'snapshot' });
    const wanted = objects.slice(from, from + request.chunk);
    const rows = await unlessStopped(feed, request, (lease) => rowsAsOf(lease, taken, wanted, request));
    if (rows === null || stopped(feed, request)) return false;
    const at = request.now();
    const changes = rows.map((row): LiveChange => {
      const { cluster, key, namespace, name, uid } = row;
      const identity = { cluster, key, namespace, name };
      return { type: 'ADDED', identity, uid, object: row, reason: null, changedPaths: () => null, at };
    });
    yield message('SNAPSHOT', { epoch, sequence: nowhere }, { changes, reset: from === 0 });
  }
  return true;
}

/** Waits until the kind is synced, then reads; null when it was stopped. */
async function whenReady<T>(
  feed: ChangeFeed,
  request: LiveRequest,
  start: LiveStart,
  read: (lease: Lease, view: View, kindId: number) => Promise<T>,
): Promise<T | null> {
  const { key } = request.kind;
  while (!stopped(feed, request)) {
    const seen = feed.wakes;
    request.check(start);
    try {
      return await unlessStopped(feed, request, async (lease) => {
        if (request.clusters?.length !== 0) await requireReady(lease, [key], request.clusters ?? undefined);
        const view = await readView(lease, request.scopes);
        const kind = view.get(key);
        if (kind !== undefined) return await read(lease, view, kind.kindId);
        throw new PortolanError('CACHE_NOT_READY', `${key} has not been synced yet; try again in a moment.`);
      });
    } catch (error) {
      if (!(error instanceof PortolanError && error.code === 'CACHE_NOT_READY')) throw error;
    }
    await feed.changed(seen, request.signal);
  }
  return null;
}

/** Reads in a lease; null when the list was stopped meanwhile, which is not the reader's failure. */
async function unlessStopped<T>(
  feed: ChangeFeed,
  request: LiveRequest,
  work: (lease: Lease) => Promise<T>,
): Promise<T | null> {
  try {
    return await feed.lease(work, request.signal);
  } catch (error) {
    if (stopped(feed, request)) return null;
    throw error;
  }
}
