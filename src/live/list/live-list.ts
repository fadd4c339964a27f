/**
 * A live list: the messages of one subscription. The protocol is SNAPSHOT* SYNCED LIVE*. After a GAP, it starts again with
 * `reset`.
 *
 * Messages by start (`request.start.at`):
 *
 *   snapshot   the matches at revision R (snapshot.ts): SNAPSHOT … SYNCED(R) -> LIVE
 *   now        SYNCED(R) -> LIVE
 *   cursor     if the cursor is of this epoch and the log contains it: SYNCED(cursor) -> LIVE; otherwise GAP -> snapshot
 *   place      continues another live list: LIVE if the log contains the cursor; otherwise GAP -> snapshot
 *
 * Messages by state of the kind:
 *
 *   not synced   no message until it is synced
 *   re-listed    GAP -> snapshot (the log has a RESET, or a change whose bodies a RESET removed)
 *
 * Example: two Pods match at revision 7, and one of them is deleted by change 9, with chunks of 500:
 *
 *   SNAPSHOT reset [ADDED a, ADDED b] cursor nowhere -> SYNCED count 2 cursor 7 -> LIVE [REMOVED a] count 1 cursor 9
 *
 * Never hides a loss: it always sends GAP. Never queues: it makes the next message when the client requests it.
 *
 * Invariant: a client that applies all messages up to one whose cursor is not `nowhere` has exactly the matches at that cursor.
 */
import type { CallerRights } from '../../access/rights.ts';
import { rightsInClusters } from '../../access/rights-in-clusters.ts';
import { allRows, isSameScope, type Scope, type Scopes, scopeText } from '../../access/scope.ts';
import { PortolanError } from '../../base/errors.ts';
import { clustersIn, type Filter } from '../../query/plan/filter.ts';
import { digest } from '../../query/plan/fingerprint.ts';
import type { PlannedKind, Projection } from '../../query/plan/plan.ts';
import { requireReady } from '../../query/read/readiness.ts';
import { readView, type View } from '../../query/sql/view.ts';
import { readLogFloor } from '../../store/read/changes.ts';
import type { Lease } from '../../store/types/lease.ts';
import { textLength } from '../../store/types/statement.ts';
import type { CohortMessage, LiveMessage, Shown } from '../cohort/cohort-batch.ts';
import type { Cohort, PushGroup, Pushing, PushReceiver } from '../cohort/cohorts.ts';
import type { ChangeFeed, Membership } from '../feed/change-feed.ts';
import { addedRow } from '../log/live-change.ts';
import { encodeLiveCursor, type LiveCursor, nowhere, scopeMark } from '../log/live-cursor.ts';
import { moveScope } from '../snapshot/scope-move.ts';
import type { SharedSnapshot, SnapshotChunk } from '../snapshot/shared-snapshots.ts';
import { rowsAsOf, type SnapshotMatches, takeMatches } from '../snapshot/snapshot.ts';

export type { LiveMessage } from '../cohort/cohort-batch.ts';

/** The start of a live list. */
export type LiveStart =
  /** With a snapshot of the current matches. */
  | { readonly at: 'snapshot' }
  /** Without a snapshot: only future changes. */
  | { readonly at: 'now' }
  /** At a cursor that the client sent. */
  | { readonly at: 'cursor'; readonly cursor: LiveCursor }
  /**
   * Where another live list of the same client and filter stopped. The client sees no interruption, unless `changed` forces GAP.
   */
  | {
      readonly at: 'place';
      readonly cursor: LiveCursor;
      readonly totalCount: number | null;
      readonly changed: boolean;
    };

export interface LiveRequest {
  readonly kind: PlannedKind;
  readonly filter: Filter;
  /** The rights of the caller. */
  readonly rights: CallerRights;
  /** At least one of these clusters must be synced; null for any cluster that serves the kind, empty to require none. */
  readonly clusters: readonly string[] | null;
  readonly start: LiveStart;
  readonly projection: Projection;
  readonly signal: AbortSignal;
  /** The most objects in one SNAPSHOT message. */
  readonly chunk: number;
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Called before each message and after each interruption of the feed. It throws to end the list.
   * @param successor the start of another live list that would continue this one without a visible interruption.
   */
  check(successor: LiveStart): void;
  /** Takes LIVE messages while the list waits, without a turn of the generator. */
  readonly pushing?: LivePushing | undefined;
}

/** How LIVE messages are sent without a turn of the generator. */
export interface LivePushing {
  /** The same object for live lists of one caller that send the same for a message. */
  readonly group: LiveGroup;
  readonly receiver: PushReceiver;
}

export interface LiveGroup {
  /** As `check` of the request, for all lists of the group. */
  check(): void;
  /** What is sent for a message; null if the generators must yield it. */
  prepare(message: LiveMessage): unknown;
}

/** The position of the client: its objects are the matches after this change. */
interface LivePosition extends LiveCursor {
  readonly kindId: number;
  /** The rows that the caller could see at that change. */
  readonly visible: Scope;
  readonly count: number | null;
}

type Messages<T> = AsyncGenerator<LiveMessage, T, undefined>;

/** A live list that runs. */
interface Run {
  readonly feed: ChangeFeed;
  /** With the rights in the clusters of the filter. */
  readonly request: LiveRequest;
  /** The rights in all clusters. */
  readonly whole: CallerRights;
  readonly joined: JoinedCohort;
  /** A digest of the filter and the projection. */
  readonly question: string;
}

/** The cohort that a live list has joined in the feed. The id of its kind changes when the store file is rebuilt. */
class JoinedCohort {
  readonly #feed: ChangeFeed;
  readonly #shown: Omit<Shown, 'scope'>;
  #membership: Membership | null = null;

  constructor(feed: ChangeFeed, shown: Omit<Shown, 'scope'>) {
    this.#feed = feed;
    this.#shown = shown;
  }

  join(kindId: number, scope: Scope): Cohort {
    const before = this.#membership;
    const isSame = before?.cohort.kindId === kindId && isSameScope(before.cohort.shown.scope, scope);
    if (isSame) return before.cohort;
    // First in, then out: the feed forgets a kind without subscribers.
    this.#membership = this.#feed.join(kindId, { ...this.#shown, scope });
    before?.leave();
    return this.#membership.cohort;
  }

  leave(): void {
    this.#membership?.leave();
    this.#membership = null;
  }
}

/** Runs until the signal aborts, the feed closes or `check` throws. */
export async function* liveList(feed: ChangeFeed, given: LiveRequest): Messages<void> {
  const { filter, projection } = given;
  const clusters = clustersIn(filter);
  const request = { ...given, rights: rightsInClusters(given.rights, clusters) };
  const run: Run = {
    feed,
    request,
    whole: given.rights,
    joined: new JoinedCohort(feed, { key: given.kind.key, filter }),
    question: digest({ filter, projection }, 'meant'),
  };
  try {
    let position = yield* begin(run);
    while (position !== null && !stopped(run)) {
      const seen = feed.interruptions;
      request.check(successorOf(position));
      // The rights may have changed while the client took the last message.
      const known = await request.rights.after(position);
      if (stopped(run)) return;
      if (!isSameScope(position.visible, known.of(request.kind.key, 'watch'))) {
        position = yield* changedRights(run, position, known);
        continue;
      }
      const cohort = run.joined.join(position.kindId, position.visible);
      const step = await feed.next(cohort, position, seen, request.signal, pushingOf(run, position));
      const { batch } = step;
      position = { ...position, ...step.place };
      if (stopped(run)) return;
      if (feed.interruptions !== seen) request.check(successorOf(position));
      if (batch.kind === 'gap') {
        position = yield* afterGap(run, position.epoch);
        continue;
      }
      const scopes = await request.rights.after({ epoch: position.epoch, sequence: batch.upTo });
      if (!isSameScope(position.visible, scopes.of(request.kind.key, 'watch'))) {
        position = yield* changedRights(run, position, scopes);
        continue;
      }
      for (const each of batch.messages) {
        position = moved(position, each);
        yield each.live(position.count);
      }
      position = { ...position, sequence: Math.max(position.sequence, batch.upTo) };
    }
  } finally {
    run.joined.leave();
  }
}

/** What is pushed for a list of this caller, by the group of its results and the rows that are visible. */
const groups = new WeakMap<LiveGroup, Map<string, PushGroup>>();
/** A caller's rights seldom change while lists of the same group wait. */
const mostOfGroup = 10;

/** How the feed gives messages to the list while it waits at this position. */
function pushingOf(run: Run, { epoch, visible }: LivePosition): Pushing | null {
  const { pushing, kind, rights } = run.request;
  if (pushing === undefined) return null;
  const { group, receiver } = pushing;
  const known = groups.get(group) ?? new Map<string, PushGroup>();
  groups.set(group, known);
  const id = `${epoch} ${scopeText(visible)}`;
  const found = known.get(id) ?? {
    prepare(message, upTo) {
      try {
        group.check();
      } catch {
        // It throws again in the generator.
        return null;
      }
      const scopes = rights.after({ epoch, sequence: upTo });
      if (scopes instanceof Promise || !isSameScope(visible, scopes.of(kind.key, 'watch'))) return null;
      return group.prepare(message);
    },
  };
  if (!known.has(id) && known.size >= mostOfGroup) known.clear();
  known.set(id, found);
  return { group: found, receiver };
}

function moved(position: LivePosition, message: CohortMessage): LivePosition {
  return { ...position, sequence: message.upTo, count: message.countAfter(position.count) };
}

function stopped({ feed, request }: Run): boolean {
  return request.signal.aborted || feed.closed;
}

function successorOf({ epoch, sequence, visible, count }: LivePosition): LiveStart {
  const scope = scopeMark(visible);
  const cursor = { epoch, sequence, ...(scope === undefined ? {} : { scope }) };
  return { at: 'place', cursor, totalCount: count, changed: false };
}

/** @param visible the rows that the caller may see */
function message(
  phase: LiveMessage['phase'],
  { epoch, sequence }: LiveCursor,
  visible: Scope,
  rest: Partial<Pick<LiveMessage, 'totalCount' | 'changes' | 'reset'>> = {},
): LiveMessage {
  return {
    phase,
    reset: false,
    cursor: encodeLiveCursor({ epoch, sequence }, visible),
    totalCount: null,
    changes: [],
    ...rest,
  };
}

/** Sends the messages before the first change. Returns the client's position; null when the list was stopped. */
async function* begin(run: Run): Messages<LivePosition | null> {
  const { start } = run.request;
  if (start.at === 'snapshot') return yield* snapshot(run);
  const store = await whenReady(run, start, async (lease, _view, kindId, scopes) => ({
    epoch: lease.epoch,
    sequence: lease.revision,
    floor: await readLogFloor(lease, kindId),
    kindId,
    visible: scopes.of(run.request.kind.key, 'watch'),
  }));
  if (store === null) return null;
  const { epoch, kindId, visible } = store;
  if (start.at === 'now') {
    yield message('SYNCED', store, visible);
    return { epoch, sequence: store.sequence, kindId, visible, count: null };
  }
  const { cursor } = start;
  const inLog = cursor.epoch === epoch && cursor.sequence <= store.sequence && cursor.sequence >= store.floor;
  // The cursor of a list is about all clusters.
  const whole = (await run.whole.after(store)).of(run.request.kind.key, 'watch');
  const continues = inLog && [scopeMark(visible), scopeMark(whole)].includes(cursor.scope);
  if (continues && start.at === 'cursor') {
    yield message('SYNCED', cursor, visible);
    return { ...cursor, kindId, visible, count: null };
  }
  if (continues && start.at === 'place' && !start.changed) {
    return { ...cursor, kindId, visible, count: start.totalCount };
  }
  return yield* afterGap(run, epoch);
}

/** Sends GAP and a snapshot. Null when the list was stopped. */
async function* afterGap(run: Run, epoch: string): Messages<LivePosition | null> {
  yield message('GAP', { epoch, sequence: nowhere }, allRows);
  return yield* snapshot(run);
}

/** Sends what the caller's changed rights add and remove. Null when the list was stopped. */
async function* changedRights(run: Run, position: LivePosition, after: Scopes): Messages<LivePosition | null> {
  const { feed, request } = run;
  const { kind, filter, projection, rights } = request;
  const before = position.visible;
  const visible = after.of(kind.key, 'watch');
  const { epoch, sequence, kindId } = position;
  const key = [kindId, epoch, sequence, scopeMark(before), scopeMark(visible), run.question].join();
  const move = await orStopped(
    run,
    feed.shared(key, () =>
      feed.lease((lease) =>
        moveScope(lease, { kind, filter, projection }, position, { before, after }, () => request.now()),
      ),
    ),
  );
  if (move === null || stopped(run)) return null;
  if (move === 'gap') return yield* afterGap(run, epoch);
  // The rights may have changed again meanwhile.
  const newest = await rights.after({ epoch, sequence: move.revision });
  if (!isSameScope(visible, newest.of(kind.key, 'watch'))) return yield* changedRights(run, position, newest);
  const { revision, changes, delta } = move;
  const count = position.count === null ? null : position.count + delta;
  const moved = { ...position, sequence: revision, visible, count };
  if (changes.length > 0) yield message('LIVE', moved, visible, { totalCount: count, changes });
  return moved;
}

/** Sends one snapshot. It starts again when the log no longer reaches back to the snapshot's revision. Null when stopped. */
async function* snapshot(run: Run): Messages<LivePosition | null> {
  const { feed, request } = run;
  const { snapshots } = feed;
  const again: LiveStart = { at: 'snapshot' };
  for (;;) {
    const joined = await whenReady(run, again, joinSnapshot(run));
    if (joined === null) return null;
    const { shared, scopes } = joined;
    const { epoch, revision: sequence, kindId, objects } = shared.taken;
    const visible = scopes.of(request.kind.key, 'watch');
    snapshots.enter(shared);
    try {
      const complete = yield* chunks(run, shared, visible);
      if (stopped(run)) return null;
      if (!complete) {
        snapshots.close(shared);
        continue;
      }
    } finally {
      snapshots.leave(shared);
    }
    const count = objects.length;
    request.check(again);
    yield message('SYNCED', { epoch, sequence }, visible, { totalCount: count, reset: count === 0 });
    return { epoch, sequence, kindId, visible, count };
  }
}

interface JoinedSnapshot {
  readonly shared: SharedSnapshot;
  /** The rights of the caller when the list joined. */
  readonly scopes: Scopes;
}

function joinSnapshot({ feed, request, question: asked }: Run) {
  return async (lease: Lease, view: View, kindId: number, scopes: Scopes): Promise<JoinedSnapshot> => {
    const { kind, chunk } = request;
    const question = [kindId, asked, chunk, scopeText(scopes.of(kind.key, 'watch'))].join(' ');
    const take = (): Promise<SnapshotMatches> => takeMatches(lease, view, kindId, scopes, request);
    return { shared: await feed.snapshots.join(lease, question, take), scopes };
  };
}

/**
 * Sends the matches with their bodies. False when the log no longer reaches back to their revision, when the caller may see other rows, or
 * when stopped.
 */
async function* chunks(run: Run, shared: SharedSnapshot, visible: Scope): Messages<boolean> {
  const { feed, request } = run;
  const { taken } = shared;
  const { objects, epoch } = taken;
  let last: SnapshotChunk | null = null;
  for (let from = 0; from < objects.length; ) {
    request.check({ at: 'snapshot' });
    const reading: Promise<SnapshotChunk | null> = feed.snapshots.chunk(
      shared,
      from,
      { last, most: request.chunk },
      (end) => feed.lease((lease) => readChunk(lease, request, taken, from, end)),
    );
    const chunk: SnapshotChunk | null = await orStopped(run, reading);
    if (chunk === null || stopped(run)) return false;
    // Another list may have read it.
    const scopes = await request.rights.after({ epoch, sequence: chunk.revision });
    if (stopped(run) || !isSameScope(visible, scopes.of(request.kind.key, 'watch'))) return false;
    yield chunk.message;
    from = chunk.end;
    last = chunk;
  }
  return true;
}

/** Reads one chunk. Null when the log no longer reaches back to the matches, or when the caller may see other rows. */
async function readChunk(
  lease: Lease,
  request: LiveRequest,
  taken: SnapshotMatches,
  from: number,
  end: number,
): Promise<SnapshotChunk | null> {
  let characters = 0;
  const metered: Lease = {
    epoch: lease.epoch,
    revision: lease.revision,
    fill: (statements, limit) => lease.fill(statements, limit),
    async all(statement) {
      const rows = await lease.all(statement);
      for (const row of rows) characters += textLength(row);
      return rows;
    },
  };
  const rows = await rowsAsOf(metered, taken, taken.objects.slice(from, end), request);
  if (rows === null) return null;
  const at = request.now();
  const changes = rows.map((row) => addedRow(row, at));
  const place = { epoch: taken.epoch, sequence: nowhere };
  const sent = message('SNAPSHOT', place, allRows, { changes, reset: from === 0 });
  return { message: sent, end, revision: lease.revision, characters };
}

/** Waits until the kind is synced, then reads and joins the kind in the feed. Null when the list was stopped. */
async function whenReady<T>(
  run: Run,
  start: LiveStart,
  read: (lease: Lease, view: View, kindId: number, scopes: Scopes) => Promise<T>,
): Promise<T | null> {
  const { feed, request, joined } = run;
  const { key } = request.kind;
  while (!stopped(run)) {
    const seen = feed.wakes;
    request.check(start);
    try {
      const work = async (lease: Lease) => {
        if (request.clusters?.length !== 0) await requireReady(lease, [key], request.clusters ?? undefined);
        const scopes = await request.rights.at(lease);
        const view = await readView(lease, scopes);
        const kindId = view.get(key)?.kindId;
        if (kindId !== undefined) {
          return { kindId, visible: scopes.of(key, 'watch'), value: await read(lease, view, kindId, scopes) };
        }
        throw new PortolanError('CACHE_NOT_READY', `${key} has not been synced yet; try again in a moment.`);
      };
      const leased = (): ReturnType<typeof work> => feed.lease(work, request.signal);
      // Many snapshots at once must not take all readers.
      const reading = start.at === 'snapshot' ? feed.snapshots.read(leased, request.signal) : leased();
      const found = await orStopped(run, reading);
      if (found === null) return null;
      joined.join(found.kindId, found.visible);
      return found.value;
    } catch (error) {
      if (!(error instanceof PortolanError && error.code === 'CACHE_NOT_READY')) throw error;
    }
    await feed.changed(seen, request.signal);
  }
  return null;
}

/** What is read; null when the list was stopped meanwhile. */
async function orStopped<T>(run: Run, reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (stopped(run)) return null;
    throw error;
  }
}
