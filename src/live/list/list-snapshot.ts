/**
 * The snapshot of a live list: SNAPSHOT … SYNCED. Live lists that come while another one sends the same snapshot join it.
 *
 *   whenReady -> join (matches at revision R, shared) -> chunk … chunk (bodies, shared) -> SYNCED(R)
 *
 * It starts again when the log no longer reaches back to R, or when the caller may see other rows.
 */
import { allRows, isSameScope, type Scope, type Scopes, scopeText } from '../../access/scope.ts';
import type { View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { LiveMessage } from '../cohort/cohort-batch.ts';
import { type Messages, type SnapshotSender, sendSnapshot } from '../feed/running-list.ts';
import type { LiveChange } from '../log/live-change.ts';
import { nowhere } from '../log/live-cursor.ts';
import type { SharedSnapshot } from '../snapshot/shared-snapshots.ts';
import { readChunk, type SnapshotMatches, takeMatches } from '../snapshot/snapshot.ts';
import { message, type Run, readKind } from './list-run.ts';
import type { CellStart, LivePosition } from './live-request.ts';

/** Sends one snapshot. It starts again when the log no longer reaches back to the snapshot's revision. Null when stopped. */
export async function* snapshot(run: Run): Messages<LivePosition | null> {
  const { request } = run;
  const again: CellStart = { at: 'snapshot' };
  const joined = yield* sendSnapshot(
    run,
    () => readKind(run, again, joinSnapshot(run)),
    (of) => senderOf(run, of),
  );
  if (joined === null) return null;
  const { epoch, revision: sequence, kindId, objects } = joined.shared.taken;
  const { visible } = joined;
  const count = objects.length;
  request.check(again);
  yield message('SYNCED', { epoch, sequence }, visible, { totalCount: count, reset: count === 0 });
  return { epoch, sequence, kindId, visible, count };
}

interface JoinedSnapshot {
  readonly shared: SharedSnapshot<SnapshotMatches>;
  /** The rows that the caller could see when the list joined. */
  readonly visible: Scope;
}

function joinSnapshot({ feed, request, question: asked }: Run) {
  return async (lease: Lease, view: View, kindId: number, scopes: Scopes): Promise<JoinedSnapshot> => {
    const { kind, chunk } = request;
    const visible = scopes.of(kind.key, 'watch');
    const question = [kindId, asked, chunk, scopeText(visible)].join(' ');
    const take = (): Promise<SnapshotMatches> => takeMatches(lease, view, kindId, scopes, request);
    return { shared: await feed.snapshots.join(lease, question, take), visible };
  };
}

function senderOf({ feed, request }: Run, { shared, visible }: JoinedSnapshot): SnapshotSender<SnapshotMatches> {
  const { taken } = shared;
  return {
    most: request.chunk,
    check: () => request.check({ at: 'snapshot' }),
    async seesTheSame(sequence) {
      const scopes = await request.rights.after({ epoch: taken.epoch, sequence });
      return isSameScope(visible, scopes.of(request.kind.key, 'watch'));
    },
    read(from, end) {
      const part = { kind: request.kind, matches: taken, from: 0 };
      const place = { epoch: taken.epoch, sequence: nowhere };
      const messageOf = (changes: readonly LiveChange[]): LiveMessage =>
        message('SNAPSHOT', place, allRows, { changes, reset: from === 0 });
      return feed.lease((lease) => readChunk(lease, [part], { ...request, from, end, messageOf }));
    },
  };
}
