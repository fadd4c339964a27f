/**
 * The snapshot of a live list of several kinds: SNAPSHOT … SYNCED. Live lists that come while another one sends the same snapshot join it,
 * as those of one kind do (src/live/list/list-snapshot.ts).
 */
import type { Scopes } from '../../access/scope.ts';
import type { View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { LiveMessage } from '../cohort/cohort-batch.ts';
import { type Messages, type SnapshotSender, sendSnapshot } from '../feed/running-list.ts';
import type { CellStart } from '../list/live-request.ts';
import type { LiveChange } from '../log/live-change.ts';
import { nowhere } from '../log/live-cursor.ts';
import type { SharedSnapshot, TakenSnapshot } from '../snapshot/shared-snapshots.ts';
import { readChunk, type SnapshotPart, takeMatches } from '../snapshot/snapshot.ts';
import {
  followed,
  isSameVisible,
  type ObjectsPosition,
  textOfVisible,
  type VisibleKinds,
  visibleIn,
} from './objects-pull.ts';
import { message, type Run, readKinds } from './objects-run.ts';

/** The matches of all kinds at one revision. */
interface TakenObjects extends TakenSnapshot {
  readonly visibleKinds: VisibleKinds;
  readonly parts: readonly SnapshotPart[];
}

/** Sends one snapshot. It starts again when the log no longer reaches back to the snapshot's revision. Null when stopped. */
export async function* snapshot(run: Run): Messages<ObjectsPosition | null> {
  const { request } = run;
  const again: CellStart = { at: 'snapshot' };
  const joined = yield* sendSnapshot(
    run,
    () => readKinds(run, again, joinSnapshot(run)),
    (of) => senderOf(run, of),
  );
  if (joined === null) return null;
  const { epoch, revision: sequence, visibleKinds, parts, objects } = joined.shared.taken;
  const count = objects.length;
  const held = new Set(parts.flatMap(({ kind, matches }) => (matches.objects.length === 0 ? [] : kind.key)));
  const empty = new Set([...visibleKinds.visible.keys()].filter((key) => !held.has(key)));
  request.check(again);
  yield message('SYNCED', { epoch, sequence, visibleKinds }, { totalCount: count, reset: count === 0 });
  return { epoch, sequence, visibleKinds, count, empty };
}

interface JoinedSnapshot {
  readonly shared: SharedSnapshot<TakenObjects>;
}

function joinSnapshot({ feed, request, question: asked }: Run) {
  return async (
    lease: Lease,
    view: View,
    visibleKinds: VisibleKinds,
    _unsynced: readonly string[],
    scopes: Scopes,
  ): Promise<JoinedSnapshot> => {
    const question = ['objects', asked, request.chunk, textOfVisible(visibleKinds)].join(' ');
    const take = async (): Promise<TakenObjects> => {
      const parts: SnapshotPart[] = [];
      let from = 0;
      for (const { kind, kindId } of followed(request, visibleKinds)) {
        const matches = await takeMatches(lease, view, kindId, scopes, { kind, filter: request.filter });
        parts.push({ kind, matches, from });
        from += matches.objects.length;
      }
      const objects = {
        length: from,
        letGo: () => {
          for (const { matches } of parts) matches.objects.letGo();
        },
      };
      return { epoch: lease.epoch, revision: lease.revision, visibleKinds, parts, objects };
    };
    return { shared: await feed.snapshots.join(lease, question, take) };
  };
}

function senderOf({ feed, request }: Run, { shared: { taken } }: JoinedSnapshot): SnapshotSender<TakenObjects> {
  return {
    most: request.chunk,
    check: () => request.check({ at: 'snapshot' }),
    async seesTheSame(sequence) {
      const visible = visibleIn(request, await request.rights.after({ epoch: taken.epoch, sequence }));
      return isSameVisible(visible, taken.visibleKinds);
    },
    read(from, end) {
      const place = { epoch: taken.epoch, sequence: nowhere };
      const messageOf = (changes: readonly LiveChange[]): LiveMessage =>
        message('SNAPSHOT', place, { changes, reset: from === 0 });
      return feed.lease((lease) => readChunk(lease, taken.parts, { ...request, from, end, messageOf }));
    },
  };
}
