/**
 * A live list of several kinds: one stream of messages with one cursor. The protocol is that of live-list.ts.
 *
 *   snapshot of all kinds at revision R: SNAPSHOT … SYNCED(R) -> wait -> pull -> LIVE(U) -> wait -> pull …
 *
 * One cursor is enough, because sequence numbers are of the whole log. Messages of live lists of single kinds cannot be merged: each has
 * its own end of a stretch, and between two ends no cursor is true for both kinds. So a pull reads the changes of all kinds in one
 * lease, up to one sequence number. The feed only wakes: its cohorts say when a change concerns the filter and the scope of a kind.
 *
 *   feed.next of each kind (standing) -> one ends -> pull in one lease at revision R, the changes of each kind in (position, U], U <= R
 *     more than a batch of a kind, or an object made anew (fold.ts)   -> U is before it; the next pull begins there
 *     a kind was listed, and the client holds no object of it         -> its matches at R are ADDED: a kind that appears later joins
 *     a kind was listed, and the client may hold objects of it        -> GAP and a snapshot of all kinds
 *     the rights to a kind changed                                    -> what they add and remove (scope-move.ts)
 *
 * Example: Pods and Nodes, position 7. Change 8 is of a Pod, 9 of a Node, 10 of another kind. The pull at 10 gives one LIVE with both.
 *
 * Invariants:
 *   - A client that applies all messages up to one whose cursor is not `nowhere` has exactly the matches at that cursor.
 *   - A kind of which the caller may see nothing is not followed. Its changes and lists cause no message.
 *   - Nothing is read for a client that has not taken the last message.
 */
import { rightsInClusters } from '../../access/rights-in-clusters.ts';
import type { Scope, Scopes } from '../../access/scope.ts';
import { PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { clustersIn } from '../../query/plan/filter.ts';
import { missingOf, notReady, readiness } from '../../query/read/readiness.ts';
import { readView, type View } from '../../query/sql/view.ts';
import { readChangedKinds, readLogFloor } from '../../store/read/changes.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { LiveMessage } from '../cohort/cohort-batch.ts';
import type { ChangeFeed, Membership } from '../feed/change-feed.ts';
import type { LiveRequest, LiveStart } from '../list/live-request.ts';
import { addedRow } from '../log/live-change.ts';
import { cursorMarks, type LiveCursor, nowhere, writeLiveCursor } from '../log/live-cursor.ts';
import { StandingWaits } from '../signals/standing-waits.ts';
import { rowsAsOf, type SnapshotMatches, takeMatches } from '../snapshot/snapshot.ts';
import {
  type Followed,
  type FollowedKind,
  followed,
  type LiveObjectsRequest,
  type ObjectsPosition,
  type Pulled,
  pull,
  type Sight,
  visibleIn,
} from './objects-pull.ts';

type Messages<T> = AsyncGenerator<LiveMessage, T, undefined>;

/** A live list that runs. */
interface Run {
  readonly feed: ChangeFeed;
  /** With the rights in the clusters of the filter. */
  readonly request: LiveObjectsRequest;
  /** The rights in all clusters. */
  readonly whole: LiveRequest['rights'];
}

/**
 * Milliseconds until a client that waits moves to the newest revision. The change log must reach back to its position, and drops entries
 * while other kinds change.
 */
const heartbeatMs = 5000;

/** Runs until the signal aborts, the feed closes or `check` throws. */
export async function* liveObjects(feed: ChangeFeed, given: LiveObjectsRequest): Messages<void> {
  const rights = rightsInClusters(given.rights, clustersIn(given.filter));
  const run: Run = { feed, request: { ...given, rights }, whole: given.rights };
  const waits = new Waits(run);
  try {
    let position = yield* begin(run);
    while (position !== null && !stopped(run)) {
      // Before the rights are read: a change of them after that ends the wait.
      const { wakes, interruptions } = feed;
      run.request.check(successorOf(position));
      const from: ObjectsPosition = position;
      const pulled: Pulled | 'gap' | null = await unlessStopped(run, (lease) => pull(lease, run.request, from));
      if (pulled === null || stopped(run)) return;
      if (pulled === 'gap') {
        position = yield* afterGap(run, position.epoch);
        continue;
      }
      ({ position } = pulled);
      const { changes, isWhole } = pulled;
      if (changes.length > 0) yield message('LIVE', position, { totalCount: position.count, changes });
      if (isWhole && !stopped(run)) await waits.forChanges(position, { wakes, interruptions });
    }
  } finally {
    waits.leave();
  }
}

function stopped({ feed, request }: Run): boolean {
  return request.signal.aborted || feed.closed;
}

function successorOf({ epoch, sequence, sight, count }: ObjectsPosition): LiveStart {
  return { at: 'place', cursor: { epoch, sequence, ...sight.marks }, totalCount: count, changed: false };
}

function message(
  phase: LiveMessage['phase'],
  { epoch, sequence, sight }: Pick<ObjectsPosition, 'epoch' | 'sequence'> & { readonly sight?: Sight },
  rest: Partial<Pick<LiveMessage, 'totalCount' | 'changes' | 'reset'>> = {},
): LiveMessage {
  const cursor = writeLiveCursor({ epoch, sequence, ...sight?.marks });
  return { phase, reset: false, cursor, totalCount: null, changes: [], ...rest };
}

/** The cohorts that the client has joined, one for each kind, and its waits in them. */
class Waits {
  readonly #run: Run;
  #sight: Sight | null = null;
  #members: readonly Membership[] = [];
  #standing: StandingWaits;

  constructor(run: Run) {
    this.#run = run;
    this.#standing = new StandingWaits(run.request.signal);
  }

  /**
   * Waits until a change concerns the client, or until its position should move.
   * @param seen those of the feed before the position was read
   */
  async forChanges(
    { epoch, sequence, sight }: ObjectsPosition,
    seen: Pick<ChangeFeed, 'wakes' | 'interruptions'>,
  ): Promise<void> {
    const { feed } = this.#run;
    if (this.#sight !== sight) this.#join(sight);
    for (const { cohort } of this.#members) {
      this.#standing.begin(cohort.id, (signal) =>
        feed.next(cohort, { epoch, sequence, count: null }, seen.interruptions, signal),
      );
    }
    while (!(await this.#standing.any(heartbeatMs))) {
      if (stopped(this.#run) || feed.wakes !== seen.wakes) return;
    }
  }

  leave(): void {
    this.#standing.end();
    for (const member of this.#members) member.leave();
    this.#members = [];
  }

  #join(sight: Sight): void {
    const { feed, request } = this.#run;
    const before = this.#members;
    this.#standing.end();
    this.#standing = new StandingWaits(request.signal);
    // First in, then out: the feed forgets a kind without subscribers.
    this.#members = followed(request, sight).map(({ kind, kindId, scope }) =>
      feed.join(kindId, { key: kind.key, filter: request.filter, scope }),
    );
    for (const member of before) member.leave();
    this.#sight = sight;
  }
}

/** Sends the messages before the first change. Returns the client's position; null when the list was stopped. */
async function* begin(run: Run): Messages<ObjectsPosition | null> {
  const { start } = run.request;
  if (start.at === 'snapshot') return yield* snapshot(run);
  const store = await whenReady(run, start, async (lease, _view, sight, unsynced) => ({
    epoch: lease.epoch,
    sequence: lease.revision,
    floor: await floorOf(lease, run, sight),
    sight,
    // Nothing was listed since the cursor either: the client holds none of them.
    empty: start.at === 'now' ? new Set<string>() : await unchanged(lease, start.cursor, sight, unsynced),
  }));
  if (store === null) return null;
  const { epoch, sequence, sight, empty } = store;
  if (start.at === 'now') {
    yield message('SYNCED', store);
    return { epoch, sequence, sight, count: null, empty };
  }
  const { cursor } = start;
  const inLog = cursor.epoch === epoch && cursor.sequence <= sequence && cursor.sequence >= store.floor;
  // The cursor of a list is about all clusters.
  const whole = cursorMarks(visibleIn(run.request, await run.whole.after(store)));
  const fits = [sight.marks, whole].some(({ scope, kinds }) => scope === cursor.scope && kinds === cursor.kinds);
  const position = { epoch, sequence: cursor.sequence, sight, empty };
  if (inLog && fits && start.at === 'cursor') {
    yield message('SYNCED', position);
    return { ...position, count: null };
  }
  if (inLog && fits && start.at === 'place' && !start.changed) return { ...position, count: start.totalCount };
  return yield* afterGap(run, epoch);
}

/** The highest floor of the kinds that are followed. */
async function floorOf(lease: Lease, { request }: Run, sight: Sight): Promise<number> {
  const floors = followed(request, sight).map(({ kindId }) => readLogFloor(lease, kindId));
  return Math.max(0, ...(await Promise.all(floors)));
}

/** Those of the kinds that have no change after the cursor. */
async function unchanged(
  lease: Lease,
  { epoch, sequence }: LiveCursor,
  { kindIds }: Sight,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  if (keys.length === 0 || epoch !== lease.epoch) return new Set();
  const idOf = (key: string): number => must(kindIds.get(key), 'the id of a kind');
  const changed = await readChangedKinds(lease, new Map(keys.map((key) => [idOf(key), sequence])));
  return new Set(keys.filter((key) => !changed.kindIds.has(idOf(key))));
}

/** Sends GAP and a snapshot. Null when the list was stopped. */
async function* afterGap(run: Run, epoch: string): Messages<ObjectsPosition | null> {
  yield message('GAP', { epoch, sequence: nowhere });
  return yield* snapshot(run);
}

/** Sends one snapshot. It starts again when the log no longer reaches back to the snapshot's revision. Null when stopped. */
async function* snapshot(run: Run): Messages<ObjectsPosition | null> {
  const { request } = run;
  const again: LiveStart = { at: 'snapshot' };
  while (!stopped(run)) {
    const taken = await whenReady(run, again, async (lease, view, sight, _unsynced, scopes) => {
      const parts: SnapshotMatches[] = [];
      for (const { kind, kindId } of followed(request, sight)) {
        parts.push(await takeMatches(lease, view, kindId, scopes, { kind, filter: request.filter }));
      }
      return { epoch: lease.epoch, sequence: lease.revision, sight, parts };
    });
    if (taken === null) return null;
    const { epoch, sequence, sight, parts } = taken;
    const complete = yield* chunks(run, epoch, followed(request, sight), parts);
    if (stopped(run)) return null;
    if (!complete) continue;
    const count = parts.reduce((sum, { objects }) => sum + objects.length, 0);
    const held = new Set(parts.flatMap(({ objects: [first] }) => first?.identity.key ?? []));
    const empty = new Set([...sight.visible.keys()].filter((key) => !held.has(key)));
    request.check(again);
    yield message('SYNCED', taken, { totalCount: count, reset: count === 0 });
    return { epoch, sequence, sight, count, empty };
  }
  return null;
}

/** Sends the matches with their bodies. False when the log no longer reaches back to their revision, or when stopped. */
async function* chunks(
  run: Run,
  epoch: string,
  kinds: readonly Followed[],
  parts: readonly SnapshotMatches[],
): Messages<boolean> {
  const { request } = run;
  const { projection, rights } = request;
  let isFirst = true;
  for (const pieces of piecesOf(parts, request.chunk)) {
    request.check({ at: 'snapshot' });
    const rows = await unlessStopped(run, async (lease) => {
      const found = [];
      for (const { part, from, to } of pieces) {
        const { kind } = must(kinds[part], 'the kind of a part');
        const matches = must(parts[part], 'the matches of a kind');
        const some = await rowsAsOf(lease, matches, matches.objects.slice(from, to), { kind, projection, rights });
        if (some === null) return null;
        found.push(...some);
      }
      return found;
    });
    if (rows === null || stopped(run)) return false;
    const at = request.now();
    yield message(
      'SNAPSHOT',
      { epoch, sequence: nowhere },
      { changes: rows.map((row) => addedRow(row, at)), reset: isFirst },
    );
    isFirst = false;
  }
  return true;
}

/** Objects of one kind: those from `from` up to `to`, exclusive. */
interface Piece {
  readonly part: number;
  readonly from: number;
  readonly to: number;
}

/** The objects of all kinds in groups of `size`. */
function piecesOf(parts: readonly SnapshotMatches[], size: number): readonly (readonly Piece[])[] {
  const groups: Piece[][] = [];
  let room = 0;
  for (const [part, { objects }] of parts.entries()) {
    for (let from = 0; from < objects.length; ) {
      if (room === 0) {
        groups.push([]);
        room = size;
      }
      const to = Math.min(objects.length, from + room);
      groups.at(-1)?.push({ part, from, to });
      room -= to - from;
      from = to;
    }
  }
  return groups;
}

/** Waits until the kinds are synced, then reads. Null when the list was stopped. */
async function whenReady<T>(
  run: Run,
  start: LiveStart,
  read: (lease: Lease, view: View, sight: Sight, unsynced: readonly string[], scopes: Scopes) => Promise<T>,
): Promise<T | null> {
  const { feed, request } = run;
  while (!stopped(run)) {
    const seen = feed.wakes;
    request.check(start);
    try {
      return await unlessStopped(run, async (lease) => {
        const scopes = await request.rights.at(lease);
        const view = await readView(lease, scopes);
        const visible = visibleIn(request, scopes);
        const unsynced = await requireSynced(lease, request, visible);
        const kindIds = new Map<string, number>();
        for (const { kind } of request.kinds) {
          const id = view.get(kind.key, 'watch')?.kindId;
          if (id === undefined) {
            throw new PortolanError('CACHE_NOT_READY', `${kind.key} has not been synced yet; try again in a moment.`);
          }
          kindIds.set(kind.key, id);
        }
        return read(lease, view, { visible, kindIds, marks: cursorMarks(visible) }, unsynced, scopes);
      });
    } catch (error) {
      if (!(error instanceof PortolanError && error.code === 'CACHE_NOT_READY')) throw error;
    }
    await feed.changed(seen, request.signal);
  }
  return null;
}

/**
 * The optional kinds that no cluster has synced. Kinds of which the caller may see nothing do not count.
 * @throws PortolanError CACHE_NOT_READY or RESOURCE_REFUSED, as lists over several kinds do.
 */
async function requireSynced(
  lease: Lease,
  { kinds }: LiveObjectsRequest,
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

/** Reads in a lease; null when the list was stopped meanwhile. An error of the reader is ignored then. */
async function unlessStopped<T>(run: Run, work: (lease: Lease) => Promise<T>): Promise<T | null> {
  try {
    return await run.feed.lease(work, run.request.signal);
  } catch (error) {
    if (stopped(run)) return null;
    throw error;
  }
}
