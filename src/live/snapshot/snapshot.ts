/**
 * Snapshots in chunks. A snapshot does not hold a lease while a slow client reads it.
 *
 *   lease 1 at revision R      takeMatches: the ids of all matches
 *   lease 2, 3, … later        readChunk: the bodies of one chunk, as they were at R
 *
 * An object that changed or was deleted after R is restored from the log to its state at R. So the changes after R apply to the
 * snapshot. Example: object 5 matched at R = 7. If the sequence number of its newest change is not above 7, its current body is sent. If
 * change 9 modified it, the body before change 9 comes from the log.
 */

import type { CallerRights } from '../../access/rights.ts';
import { type Scopes, scopeText } from '../../access/scope.ts';
import { healthOf } from '../../catalog/health/health.ts';
import { parseExact } from '../../catalog/values/values.ts';
import type { Filter } from '../../query/plan/filter.ts';
import type { ObjectRow, PlannedKind, Projection } from '../../query/plan/plan.ts';
import { matchingIds } from '../../query/read/match-ids.ts';
import { unchangedById } from '../../query/read/object-rows.ts';
import type { View } from '../../query/sql/view.ts';
import { objectsAsOf, readLogFloor } from '../../store/read/changes.ts';
import type { Lease } from '../../store/types/lease.ts';
import { textLength } from '../../store/types/statement.ts';
import type { LiveMessage } from '../cohort/cohort-batch.ts';
import { addedRow, type LiveChange } from '../log/live-change.ts';
import type { SnapshotChunk } from './shared-snapshots.ts';

/**
 * The ids of the objects that a snapshot has, until the last of its lists has sent them.
 *
 * A client that reads slowly holds its snapshot, and a kind may have a million objects. So they may be let go: the lists that send them
 * then begin a newer snapshot.
 */
export class Matches {
  #ids: Float64Array | null;
  /** Also when the ids have been let go. */
  readonly length: number;

  constructor(ids: Float64Array) {
    this.#ids = ids;
    this.length = ids.length;
  }

  /** Null when they have been let go. */
  slice(from: number, end: number): readonly number[] | null {
    return this.#ids === null ? null : [...this.#ids.subarray(Math.max(0, from), Math.max(0, end))];
  }

  letGo(): void {
    this.#ids = null;
  }
}

/** The matches at a revision, without bodies. */
export interface SnapshotMatches {
  readonly epoch: string;
  readonly revision: number;
  readonly kindId: number;
  readonly scopes: Scopes;
  readonly objects: Matches;
}

/** The matches of one kind in a snapshot of one kind or of several. */
export interface SnapshotPart {
  readonly kind: PlannedKind;
  readonly matches: SnapshotMatches;
  /** The index of its first object among those of all parts. */
  readonly from: number;
}

interface ChunkRequest {
  /** The index of its first object among those of all parts, and of the first one after it. */
  readonly from: number;
  readonly end: number;
  readonly projection: Projection;
  readonly rights: CallerRights;
  now(): number;
  messageOf(changes: readonly LiveChange[]): LiveMessage;
}

/** Reads one chunk. Null when the matches were let go, when the log no longer reaches back to them, or when the caller may see other rows. */
export async function readChunk(
  lease: Lease,
  parts: readonly SnapshotPart[],
  { from, end, projection, rights, now, messageOf }: ChunkRequest,
): Promise<SnapshotChunk | null> {
  const { metered, characters } = meteredLease(lease);
  const rows: ObjectRow[] = [];
  for (const { kind, matches, from: first } of parts) {
    const wanted = matches.objects.slice(from - first, end - first);
    if (wanted === null) return null;
    if (wanted.length === 0) continue;
    const some = await rowsAsOf(metered, matches, wanted, { kind, projection, rights });
    if (some === null) return null;
    rows.push(...some);
  }
  const at = now();
  const message = messageOf(rows.map((row) => addedRow(row, at)));
  return { message, end, revision: lease.revision, characters: characters() };
}

/** A lease that counts the characters of the texts that it reads. */
function meteredLease(lease: Lease): { readonly metered: Lease; characters(): number } {
  let characters = 0;
  const metered: Lease = {
    epoch: lease.epoch,
    revision: lease.revision,
    layoutVersion: lease.layoutVersion,
    fill: (statements, limit) => lease.fill(statements, limit),
    async all(statement) {
      const rows = await lease.all(statement);
      for (const row of rows) characters += textLength(row);
      return rows;
    },
  };
  return { metered, characters: () => characters };
}

/** The matches of the kind in the lease's snapshot. @param scopes those of the view */
export async function takeMatches(
  lease: Lease,
  view: View,
  kindId: number,
  scopes: Scopes,
  { kind, filter }: { readonly kind: PlannedKind; readonly filter: Filter },
): Promise<SnapshotMatches> {
  const objects = new Matches(await matchingIds(lease, view, kind, filter));
  return { epoch: lease.epoch, revision: lease.revision, kindId, scopes, objects };
}

/**
 * The objects with the wanted ids as they were at the revision of the matches. Null when the log no longer reaches back to it, and when
 * the caller may see other objects now.
 */
async function rowsAsOf(
  lease: Lease,
  { epoch, revision, kindId, scopes: taken }: SnapshotMatches,
  wanted: readonly number[],
  {
    kind,
    projection,
    rights,
  }: { readonly kind: PlannedKind; readonly projection: Projection; readonly rights: CallerRights },
): Promise<readonly ObjectRow[] | null> {
  if (lease.epoch !== epoch || revision < (await readLogFloor(lease, kindId))) return null;
  const scopes = await rights.at(lease);
  const textOf = (of: Scopes): string => scopeText(of.of(kind.key, 'watch'));
  if (scopes !== taken && textOf(scopes) !== textOf(taken)) return null;
  const { key } = kind;
  const unchanged = await unchangedById(lease, wanted, { key, revision, projection });
  const changed = wanted.filter((id) => !unchanged.has(id));
  const restored = changed.length === 0 ? new Map() : await objectsAsOf(lease, kindId, changed, revision);
  const rows: ObjectRow[] = [];
  for (const id of wanted) {
    const row = unchanged.get(id);
    const past = restored.get(id);
    if (row !== undefined) {
      rows.push(row);
    } else if (past !== undefined) {
      const { body, ...known } = past;
      const parsed = parseExact(body);
      rows.push({ ...known, key, seq: revision, health: healthOf(parsed, kind.health), body: parsed });
    } else {
      return null;
    }
  }
  return rows;
}
