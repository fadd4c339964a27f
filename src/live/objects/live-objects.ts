/**
 * A live list of several kinds: one stream of messages with one cursor. The protocol is that of live-list.ts.
 *
 *   snapshot of all kinds at revision R: SNAPSHOT … SYNCED(R) -> wait -> pull -> LIVE(U) -> wait -> pull …
 *
 * One cursor is enough, because sequence numbers are of the whole log. Messages of live lists of single kinds cannot be merged. Each has
 * its own end of a stretch. Between two ends no cursor is true for both kinds. So a pull reads the changes of all kinds in one
 * lease, up to one sequence number. The feed only wakes: its cohorts say when a change concerns the filter and the scope of a kind. Lists
 * that ask the same at the same position share a pull and its message (shared-pull.ts), and a snapshot (objects-snapshot.ts).
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
import { scopeIn } from '../../access/scope.ts';
import { must } from '../../base/must.ts';
import { clustersIn } from '../../query/plan/filter.ts';
import { digest } from '../../query/plan/fingerprint.ts';
import { readChangedKinds, readLogFloor } from '../../store/read/changes.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { ChangeFeed, Membership } from '../feed/change-feed.ts';
import { type Messages, stopped } from '../feed/running-list.ts';
import type { CellStart } from '../list/live-request.ts';
import { cursorMarks, isInLog, type LiveCursor, nowhere } from '../log/live-cursor.ts';
import { StandingWaits } from '../signals/standing-waits.ts';
import {
  followed,
  isSameVisible,
  type LiveObjectsRequest,
  type ObjectsPosition,
  type Pulled,
  type VisibleKinds,
  visibleIn,
} from './objects-pull.ts';
import { message, type Run, readKinds } from './objects-run.ts';
import { snapshot } from './objects-snapshot.ts';
import { messageOf, positionAfter, sharedPull } from './shared-pull.ts';

export { requireFollowed } from './objects-run.ts';

/**
 * Milliseconds until a client that waits moves to the newest revision. The change log must reach back to its position, and drops entries
 * while other kinds change.
 */
const heartbeatMs = 5000;

/** Runs until the signal aborts, the feed closes or `check` throws. */
export async function* liveObjects(feed: ChangeFeed, given: LiveObjectsRequest): Messages<void> {
  const { filter, projection, shown } = given;
  const rights = rightsInClusters(given.rights, clustersIn(filter));
  const kinds = given.kinds.map(({ kind, clusters, isOptional }) => [kind.key, clusters, isOptional]);
  const question = digest({ kinds, filter, projection, shown: shown?.id }, 'meant');
  const run: Run = { feed, request: { ...given, rights }, whole: given.rights, question, lastPull: null };
  const waits = new Waits(run);
  try {
    let position = yield* begin(run);
    while (position !== null && !stopped(run)) {
      // Before the rights are read: a change of them after that ends the wait.
      const { wakes, interruptions } = feed;
      run.request.check(successorOf(position));
      const pulled: Pulled | 'gap' | null = await sharedPull(run, position, wakes);
      if (pulled === null || stopped(run)) return;
      if (pulled === 'gap') {
        position = yield* afterGap(run, position.epoch);
        continue;
      }
      const { count } = position;
      position = positionAfter(pulled, count);
      if (pulled.changes.length > 0) yield messageOf(pulled, count);
      if (pulled.isWhole && !stopped(run)) await waits.forChanges(position, { wakes, interruptions });
    }
  } finally {
    waits.leave();
  }
}

function successorOf({ epoch, sequence, visibleKinds, count }: ObjectsPosition): CellStart {
  return { at: 'place', cursor: { epoch, sequence, ...visibleKinds.marks }, totalCount: count, changed: false };
}

/** The cohorts that the client has joined, one for each kind, and its waits in them. */
class Waits {
  readonly #run: Run;
  #visibleKinds: VisibleKinds | null = null;
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
    { epoch, sequence, visibleKinds }: ObjectsPosition,
    seen: Pick<ChangeFeed, 'wakes' | 'interruptions'>,
  ): Promise<void> {
    const { feed } = this.#run;
    if (this.#visibleKinds !== visibleKinds) this.#join(visibleKinds);
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

  #join(visibleKinds: VisibleKinds): void {
    const { feed, request } = this.#run;
    const before = this.#members;
    this.#standing.end();
    this.#standing = new StandingWaits(request.signal);
    // First in, then out: the feed forgets a kind without subscribers.
    this.#members = followed(request, visibleKinds).map(({ kind, kindId, scope }) =>
      feed.join(kindId, { key: kind.key, health: kind.health, filter: request.filter, shown: request.shown, scope }),
    );
    for (const member of before) member.leave();
    this.#visibleKinds = visibleKinds;
  }
}

/** Sends the messages before the first change. Returns the client's position; null when the list was stopped. */
async function* begin(run: Run): Messages<ObjectsPosition | null> {
  const { start } = run.request;
  if (start.at === 'snapshot') return yield* snapshot(run);
  const store = await readKinds(run, start, async (lease, _view, visibleKinds, unsynced) => ({
    epoch: lease.epoch,
    sequence: lease.revision,
    floor: await floorOf(lease, run, visibleKinds),
    visibleKinds,
    // Nothing was listed since the cursor either: the client holds none of them.
    empty: start.at === 'now' ? new Set<string>() : await unchanged(lease, start.cursor, visibleKinds, unsynced),
  }));
  if (store === null) return null;
  const { epoch, sequence, visibleKinds, empty } = store;
  if (start.at === 'now') {
    yield message('SYNCED', store);
    return { epoch, sequence, visibleKinds, count: null, empty };
  }
  const { cursor } = start;
  // The cursor of a list is about all clusters. Rights that have changed meanwhile tell nothing about what its client holds.
  const whole = visibleIn(run.request, await run.whole.after(store));
  const clusters = clustersIn(run.request.filter);
  const isSame = isSameVisible(
    new Map([...whole].map(([key, scope]) => [key, scopeIn(scope, clusters)])),
    visibleKinds,
  );
  const fits = [visibleKinds.marks, ...(isSame ? [cursorMarks(whole)] : [])].some(
    ({ scope, kinds }) => scope === cursor.scope && kinds === cursor.kinds,
  );
  const position = { epoch, sequence: cursor.sequence, visibleKinds, empty };
  const continues = isInLog(cursor, store) && fits;
  if (continues && start.at === 'cursor') {
    yield message('SYNCED', position);
    return { ...position, count: null };
  }
  if (continues && start.at === 'place' && !start.changed) return { ...position, count: start.totalCount };
  return yield* afterGap(run, epoch);
}

/** The highest floor of the kinds that are followed. */
async function floorOf(lease: Lease, { request }: Run, visibleKinds: VisibleKinds): Promise<number> {
  const floors = followed(request, visibleKinds).map(({ kindId }) => readLogFloor(lease, kindId));
  return Math.max(0, ...(await Promise.all(floors)));
}

/** Those of the kinds that have no change after the cursor. */
async function unchanged(
  lease: Lease,
  { epoch, sequence }: LiveCursor,
  { kindIds }: VisibleKinds,
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
