/**
 * A live list: what one subscription is told, as a sequence of messages. The protocol of DESIGN: SNAPSHOT* SYNCED LIVE*, and after a
 * GAP the same again with `reset`. Never silence about a loss, never a queue: the next message is made when the client asks for it.
 *
 *   start(no cursor)   snapshot at revision R: SNAPSHOT … SYNCED(R) -> LIVE
 *   start(cursor)      the cursor is of this epoch and the log reaches back: SYNCED(cursor) -> LIVE; otherwise GAP -> snapshot
 *   kind not synced    silence until it is, then the snapshot
 *   kind re-listed     (RESET in the log) GAP -> snapshot
 *
 * A snapshot does not hold its lease while a slow client reads it: the matches (id, seq) are taken in one lease at revision R, the
 * bodies in chunks in later ones, and an object that changed or went since R is rebuilt from the log as of R, so that the LIVE
 * changes that follow R fit.
 */
import { PortolanError } from '../base/errors.ts';
import { parseExact } from '../catalog/values.ts';
import { fetchObjects } from '../query/fetch.ts';
import type { Filter } from '../query/filter.ts';
import { type MatchedObject, matchingObjects } from '../query/match-ids.ts';
import type { ObjectRow, PlannedKind, Projection } from '../query/plan.ts';
import { requireReady } from '../query/readiness.ts';
import { objectsAsOf, readLogFloor } from '../store/changes.ts';
import { readLayouts } from '../store/layout.ts';
import type { Lease } from '../store/types.ts';
import type { ChangeFeed } from './change-feed.ts';
import { changedPaths } from './changed-paths.ts';
import { type FoldedChange, fold, type RemovalReason } from './fold.ts';
import { decodeLiveCursor, encodeLiveCursor } from './live-cursor.ts';

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
  /** Matches after this message; null where a subscription that began at a cursor never counted them. */
  readonly totalCount: number | null;
  readonly changes: readonly LiveChange[];
}

export interface LiveRequest {
  readonly kind: PlannedKind;
  readonly filter: Filter;
  readonly clusters: readonly string[] | null;
  readonly since: string | null;
  readonly snapshot: boolean;
  readonly projection: Projection;
  readonly signal: AbortSignal;
  /** Objects in one SNAPSHOT message. */
  readonly chunk: number;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Throws when the kind is no longer served (SCHEMA_RELOAD); asked before each message. */
  check(): void;
}

interface Matches {
  readonly revision: number;
  readonly epoch: string;
  readonly kindId: number;
  readonly objects: readonly MatchedObject[];
}

/** Runs until the signal aborts, the feed closes or `check` throws. Throws BAD_USER_INPUT at once for a malformed cursor. */
export async function* liveList(feed: ChangeFeed, request: LiveRequest): AsyncGenerator<LiveMessage, void, undefined> {
  const since = request.since === null ? null : decodeLiveCursor(request.since);
  const leave = feed.join();
  try {
    let start = await whenReady(feed, request, since === null && request.snapshot);
    if (start === null) return;
    let { epoch, revision: position } = start;
    let count: number | null = null;

    if (since !== null && since.epoch === epoch && since.sequence <= position && since.sequence >= start.floor) {
      position = since.sequence;
      yield message('SYNCED', epoch, position, null, [], false);
    } else if (since === null && !request.snapshot) {
      yield message('SYNCED', epoch, position, null, [], false);
    } else {
      if (since !== null) yield message('GAP', epoch, position, null, [], false);
      const taken = yield* snapshot(feed, request, start);
      if (taken === null) return;
      ({ epoch, revision: position } = taken);
      count = taken.objects.length;
    }

    while (!request.signal.aborted && !feed.closed) {
      const batch = await feed.next(start.kindId, position, request.signal);
      if (request.signal.aborted || feed.closed) return;
      request.check();
      if (batch.kind === 'gap' || batch.changes.some(({ logged }) => logged.type === 'RESET')) {
        yield message('GAP', epoch, position, null, [], false);
        start = await whenReady(feed, request, true);
        if (start === null) return;
        const taken = yield* snapshot(feed, request, start);
        if (taken === null) return;
        ({ epoch, revision: position } = taken);
        count = taken.objects.length;
        continue;
      }
      for (const folded of fold(request.kind.key, batch.changes, request.filter)) {
        const sequence = Math.max(...folded.map(({ last }) => last.logged.seq));
        if (count !== null) count += folded.reduce((sum, { type }) => sum + delta(type), 0);
        yield message('LIVE', epoch, sequence, count, folded.map(liveChange), false);
      }
      position = batch.upTo;
    }
  } finally {
    leave();
  }
}

function delta(type: FoldedChange['type']): number {
  return type === 'ADDED' ? 1 : type === 'REMOVED' ? -1 : 0;
}

function message(
  phase: LiveMessage['phase'],
  epoch: string,
  sequence: number,
  totalCount: number | null,
  changes: readonly LiveChange[],
  reset: boolean,
): LiveMessage {
  return { phase, reset, cursor: encodeLiveCursor({ epoch, sequence }), totalCount, changes };
}

function liveChange({ type, identity, uid, first, last, reason }: FoldedChange): LiveChange {
  const { logged } = last;
  return {
    type,
    identity,
    uid,
    object:
      type === 'REMOVED'
        ? null
        : {
            ...identity,
            objectId: logged.objectId,
            uid,
            resourceVersion: logged.resourceVersion,
            seq: logged.seq,
            body: last.after(),
          },
    reason,
    changedPaths: () => (type === 'MODIFIED' ? changedPaths(first.before(), last.after()) : null),
    at: logged.at,
  };
}

/** Waits until the kind is synced, then reads where the store stands and, if asked, what matches; null when it was stopped. */
async function whenReady(
  feed: ChangeFeed,
  request: LiveRequest,
  withMatches: boolean,
): Promise<(Matches & { readonly floor: number }) | null> {
  while (!request.signal.aborted && !feed.closed) {
    request.check();
    const woken = feed.changed(request.signal);
    try {
      return await feed.reader.lease(
        async (lease) => {
          await requireReady(lease, [request.kind.key], request.clusters ?? undefined);
          const floor = await readLogFloor(lease);
          return { ...(await matchesNow(lease, request, withMatches)), floor };
        },
        { signal: request.signal },
      );
    } catch (error) {
      if (request.signal.aborted || feed.closed) return null;
      if (!(error instanceof PortolanError && error.code === 'CACHE_NOT_READY')) throw error;
      await woken;
    }
  }
  return null;
}

async function matchesNow(lease: Lease, request: LiveRequest, withMatches: boolean): Promise<Matches> {
  const layouts = await readLayouts(lease);
  const kindId = layouts.get(request.kind.key)?.kindId;
  if (kindId === undefined) {
    throw new PortolanError('CACHE_NOT_READY', `${request.kind.key} has not been synced yet; try again in a moment.`);
  }
  const objects = withMatches ? await matchingObjects(lease, layouts, request.kind, request.filter) : [];
  return { revision: lease.revision, epoch: lease.epoch, kindId, objects };
}

/** Sends one snapshot; starts it over when the log loses the revision it is taken at. Null when it was stopped. */
async function* snapshot(
  feed: ChangeFeed,
  request: LiveRequest,
  first: Matches,
): AsyncGenerator<LiveMessage, Matches | null, undefined> {
  let matches = first;
  if (matches.objects.length === 0) {
    const again = await whenReady(feed, request, true);
    if (again === null) return null;
    matches = again;
  }
  let reset = true;
  for (let from = 0; from < matches.objects.length; from += request.chunk) {
    request.check();
    const wanted = matches.objects.slice(from, from + request.chunk);
    const rows = await feed.reader.lease((lease) => rowsAsOf(lease, request, wanted, matches.revision), {
      signal: request.signal,
    });
    if (rows === null) {
      const again = await whenReady(feed, request, true);
      if (again === null) return null;
      matches = again;
      from = -request.chunk;
      reset = true;
      continue;
    }
    const changes = rows.map(
      ({ row, at }): LiveChange => ({
        type: 'ADDED',
        identity: row,
        uid: row.uid,
        object: row,
        reason: null,
        changedPaths: () => null,
        at,
      }),
    );
    yield message('SNAPSHOT', matches.epoch, matches.revision, null, changes, reset);
    reset = false;
  }
  yield message('SYNCED', matches.epoch, matches.revision, matches.objects.length, [], reset);
  return matches;
}

/** The wanted objects as they were at `revision`; null when the log no longer tells. */
async function rowsAsOf(
  lease: Lease,
  request: LiveRequest,
  wanted: readonly MatchedObject[],
  revision: number,
): Promise<readonly { readonly row: ObjectRow; readonly at: number }[] | null> {
  if (revision < (await readLogFloor(lease))) return null;
  const layouts = await readLayouts(lease);
  const current = await fetchObjects(
    lease,
    layouts,
    wanted.map(({ identity }) => identity),
    request.projection,
  );
  const moved = wanted.filter((object, index) => {
    const row = current[index];
    return row === null || row === undefined || row.objectId !== object.objectId || row.seq !== object.seq;
  });
  const rebuilt =
    moved.length === 0
      ? new Map()
      : await objectsAsOf(
          lease,
          moved.map(({ objectId }) => objectId),
          revision,
        );
  const at = request.now();
  const rows: { row: ObjectRow; at: number }[] = [];
  for (const [index, object] of wanted.entries()) {
    const row = current[index];
    if (row !== null && row !== undefined && row.objectId === object.objectId && row.seq === object.seq) {
      rows.push({ row, at });
      continue;
    }
    const past = rebuilt.get(object.objectId);
    if (past === undefined) return null;
    const { identity, objectId, seq } = object;
    rows.push({
      row: {
        ...identity,
        objectId,
        seq,
        uid: past.uid,
        resourceVersion: past.resourceVersion,
        body: parseExact(past.body),
      },
      at,
    });
  }
  return rows;
}
