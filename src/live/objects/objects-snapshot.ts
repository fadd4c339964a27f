/**
 * The snapshot of a live list of several kinds: SNAPSHOT … SYNCED. Live lists that come while another one sends the same snapshot join it,
 * as those of one kind do (src/live/list/list-snapshot.ts).
 */
import { isSameScope, scopeText } from '../../access/scope.ts';
import type { MatchedObject } from '../../query/read/match-ids.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { LiveStart } from '../list/live-request.ts';
import { addedRow } from '../log/live-change.ts';
import { nowhere } from '../log/live-cursor.ts';
import { sendChunks } from '../snapshot/send-chunks.ts';
import type { SharedSnapshot, SnapshotChunk, TakenSnapshot } from '../snapshot/shared-snapshots.ts';
import { meteredLease, rowsAsOf, type SnapshotMatches, takeMatches } from '../snapshot/snapshot.ts';
import {
  type Followed,
  followed,
  type LiveObjectsRequest,
  type ObjectsPosition,
  type Sight,
  visibleIn,
} from './objects-pull.ts';
import { type Messages, message, type Run, stopped, whenReady } from './objects-run.ts';

/** The matches of all kinds at one revision. */
interface TakenObjects extends TakenSnapshot {
  readonly sight: Sight;
  readonly parts: readonly Part[];
  /** Of all parts, in their order. */
  readonly objects: readonly MatchedObject[];
}

/** The matches of one kind. */
interface Part {
  readonly of: Followed;
  readonly matches: SnapshotMatches;
  /** The index of its first object among those of all parts. */
  readonly from: number;
}

/** Sends one snapshot. It starts again when the log no longer reaches back to the snapshot's revision. Null when stopped. */
export async function* snapshot(run: Run): Messages<ObjectsPosition | null> {
  const { feed, request } = run;
  const { snapshots } = feed;
  const again: LiveStart = { at: 'snapshot' };
  while (!stopped(run)) {
    const shared = await whenReady(run, again, (lease, view, sight, _unsynced, scopes) => {
      const texts = [...sight.visible].map(([key, scope]) => `${key} ${scopeText(scope)}`).sort();
      const question = ['objects', run.question, request.chunk, ...texts].join(' ');
      return snapshots.join(lease, question, async (): Promise<TakenObjects> => {
        const parts: Part[] = [];
        let from = 0;
        for (const of of followed(request, sight)) {
          const { kind, kindId } = of;
          const matches = await takeMatches(lease, view, kindId, scopes, { kind, filter: request.filter });
          parts.push({ of, matches, from });
          from += matches.objects.length;
        }
        const objects = parts.flatMap(({ matches }) => matches.objects);
        return { epoch: lease.epoch, revision: lease.revision, sight, parts, objects };
      });
    });
    if (shared === null) return null;
    snapshots.enter(shared);
    try {
      const complete = yield* chunks(run, shared);
      if (stopped(run)) return null;
      if (!complete) {
        snapshots.close(shared);
        continue;
      }
    } finally {
      snapshots.leave(shared);
    }
    const { epoch, revision: sequence, sight, parts, objects } = shared.taken;
    const count = objects.length;
    const held = new Set(parts.flatMap(({ of, matches }) => (matches.objects.length === 0 ? [] : of.kind.key)));
    const empty = new Set([...sight.visible.keys()].filter((key) => !held.has(key)));
    request.check(again);
    yield message('SYNCED', { epoch, sequence, sight }, { totalCount: count, reset: count === 0 });
    return { epoch, sequence, sight, count, empty };
  }
  return null;
}

/** False when the log no longer reaches back to the matches, when the caller may see other rows, or when stopped. */
function chunks(run: Run, shared: SharedSnapshot<TakenObjects>): Messages<boolean> {
  const { feed, request } = run;
  const { taken } = shared;
  return sendChunks({
    snapshots: feed.snapshots,
    shared,
    most: request.chunk,
    check: () => request.check({ at: 'snapshot' }),
    isStopped: () => stopped(run),
    async seesTheSame(sequence) {
      const visible = visibleIn(request, await request.rights.after({ epoch: taken.epoch, sequence }));
      return [...visible].every(([key, scope]) => isSameScope(scope, taken.sight.visible.get(key)));
    },
    read: (from, end) => feed.lease((lease) => readChunk(lease, request, taken, from, end)),
  });
}

/** Reads one chunk. Null when the log no longer reaches back to the matches, or when the caller may see other rows. */
async function readChunk(
  lease: Lease,
  { projection, rights, now }: LiveObjectsRequest,
  { epoch, parts }: TakenObjects,
  from: number,
  end: number,
): Promise<SnapshotChunk | null> {
  const { metered, characters } = meteredLease(lease);
  const rows = [];
  for (const { of, matches, from: first } of parts) {
    const wanted = matches.objects.slice(Math.max(0, from - first), Math.max(0, end - first));
    if (wanted.length === 0) continue;
    const some = await rowsAsOf(metered, matches, wanted, { kind: of.kind, projection, rights });
    if (some === null) return null;
    rows.push(...some);
  }
  const at = now();
  const changes = rows.map((row) => addedRow(row, at));
  const sent = message('SNAPSHOT', { epoch, sequence: nowhere }, { changes, reset: from === 0 });
  return { message: sent, end, revision: lease.revision, characters: characters() };
}
