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
import { addedRow } from '../log/live-change.ts';
import { nowhere } from '../log/live-cursor.ts';
import { sendChunks } from '../snapshot/send-chunks.ts';
import type { SharedSnapshot, SnapshotChunk } from '../snapshot/shared-snapshots.ts';
import { meteredLease, rowsAsOf, type SnapshotMatches, takeMatches } from '../snapshot/snapshot.ts';
import { type Messages, message, type Run, stopped, whenReady } from './list-run.ts';
import type { LivePosition, LiveRequest, LiveStart } from './live-request.ts';

/** Sends one snapshot. It starts again when the log no longer reaches back to the snapshot's revision. Null when stopped. */
export async function* snapshot(run: Run): Messages<LivePosition | null> {
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
  readonly shared: SharedSnapshot<SnapshotMatches>;
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

/** False when the log no longer reaches back to the matches, when the caller may see other rows, or when stopped. */
function chunks(run: Run, shared: SharedSnapshot<SnapshotMatches>, visible: Scope): Messages<boolean> {
  const { feed, request } = run;
  const { taken } = shared;
  return sendChunks({
    snapshots: feed.snapshots,
    shared,
    most: request.chunk,
    check: () => request.check({ at: 'snapshot' }),
    isStopped: () => stopped(run),
    async seesTheSame(sequence) {
      const scopes = await request.rights.after({ epoch: taken.epoch, sequence });
      return isSameScope(visible, scopes.of(request.kind.key, 'watch'));
    },
    read: (from, end) => feed.lease((lease) => readChunk(lease, request, taken, from, end)),
  });
}

/** Reads one chunk. Null when the log no longer reaches back to the matches, or when the caller may see other rows. */
async function readChunk(
  lease: Lease,
  request: LiveRequest,
  taken: SnapshotMatches,
  from: number,
  end: number,
): Promise<SnapshotChunk | null> {
  const { metered, characters } = meteredLease(lease);
  const rows = await rowsAsOf(metered, taken, taken.objects.slice(from, end), request);
  if (rows === null) return null;
  const at = request.now();
  const changes = rows.map((row) => addedRow(row, at));
  const place = { epoch: taken.epoch, sequence: nowhere };
  const sent = message('SNAPSHOT', place, allRows, { changes, reset: from === 0 });
  return { message: sent, end, revision: lease.revision, characters: characters() };
}
