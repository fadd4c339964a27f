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
import { rightsInClusters } from '../../access/rights-in-clusters.ts';
import { allRows, isSameScope, type Scopes, scopeIn } from '../../access/scope.ts';
import { clustersIn } from '../../query/plan/filter.ts';
import { digest } from '../../query/plan/fingerprint.ts';
import { readLogFloor } from '../../store/read/changes.ts';
import type { CohortMessage } from '../cohort/cohort-batch.ts';
import type { ChangeFeed } from '../feed/change-feed.ts';
import { type Messages, orStopped, stopped } from '../feed/running-list.ts';
import { isInLog, nowhere, scopeMark } from '../log/live-cursor.ts';
import { moveScope } from '../snapshot/scope-move.ts';
import { JoinedCohort, message, type Run, readKind } from './list-run.ts';
import { snapshot } from './list-snapshot.ts';
import type { CellStart, LivePosition, LiveRequest } from './live-request.ts';
import { pushingOf } from './push-groups.ts';

export { requireListed } from './list-run.ts';

/** Runs until the signal aborts, the feed closes or `check` throws. */
export async function* liveList(feed: ChangeFeed, given: LiveRequest): Messages<void> {
  const { filter, projection, shown } = given;
  const clusters = clustersIn(filter);
  const request = { ...given, rights: rightsInClusters(given.rights, clusters) };
  const run: Run = {
    feed,
    request,
    whole: given.rights,
    joined: new JoinedCohort(feed, { key: given.kind.key, health: given.kind.health, filter, shown }),
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

function moved(position: LivePosition, message: CohortMessage): LivePosition {
  return { ...position, sequence: message.upTo, count: message.countAfter(position.count) };
}

function successorOf({ epoch, sequence, visible, count }: LivePosition): CellStart {
  const scope = scopeMark(visible);
  const cursor = { epoch, sequence, ...(scope === undefined ? {} : { scope }) };
  return { at: 'place', cursor, totalCount: count, changed: false };
}

/** Sends the messages before the first change. Returns the client's position; null when the list was stopped. */
async function* begin(run: Run): Messages<LivePosition | null> {
  const { start } = run.request;
  if (start.at === 'snapshot') return yield* snapshot(run);
  const store = await readKind(run, start, async (lease, _view, kindId, scopes) => ({
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
  // The cursor of a list is about all clusters. Rights that have changed meanwhile tell nothing about what its client holds.
  const { kind, filter } = run.request;
  const whole = (await run.whole.after(store)).of(kind.key, 'watch');
  const isOfAll = isSameScope(scopeIn(whole, clustersIn(filter)), visible) && scopeMark(whole) === cursor.scope;
  const continues = isInLog(cursor, store) && (isOfAll || scopeMark(visible) === cursor.scope);
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
  const { kind, filter, projection, shown, rights } = request;
  const before = position.visible;
  const visible = after.of(kind.key, 'watch');
  const { epoch, sequence, kindId } = position;
  const key = [kindId, epoch, sequence, scopeMark(before), scopeMark(visible), run.question, shown?.id].join();
  const move = await orStopped(
    run,
    feed.shared(key, () =>
      feed.lease((lease) =>
        moveScope(lease, { kind, filter, projection, shown }, position, { before, after }, () => request.now()),
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
