/**
 * The parts of a snapshot that is sent in chunks.
 *
 * A snapshot does not hold its lease while a slow client reads it: the matches (id, seq) are taken in one lease at revision R, the
 * bodies in chunks in later ones, and an object that changed or went since R is rebuilt from the log as of R, so that the changes
 * that follow R fit.
 */
import type { Scopes } from '../access/scope.ts';
import { parseExact } from '../catalog/values/values.ts';
import type { Filter } from '../query/plan/filter.ts';
import type { ObjectRow, PlannedKind, Projection } from '../query/plan/plan.ts';
import { fetchObjects } from '../query/read/fetch.ts';
import { type MatchedObject, matchingObjects } from '../query/read/match-ids.ts';
import { readView, type View } from '../query/sql/view.ts';
import { objectsAsOf, readLogFloor } from '../store/read/changes.ts';
import type { Lease } from '../store/types/lease.ts';

/** What matched at a revision, without bodies. */
export interface Taken {
  readonly epoch: string;
  readonly revision: number;
  readonly kindId: number;
  readonly objects: readonly MatchedObject[];
}

/** Everything of the kind that matches now. */
export async function takeMatches(
  lease: Lease,
  view: View,
  kindId: number,
  { kind, filter }: { readonly kind: PlannedKind; readonly filter: Filter },
): Promise<Taken> {
  const objects = await matchingObjects(lease, view, kind, filter);
  return { epoch: lease.epoch, revision: lease.revision, kindId, objects };
}

/** The wanted objects as they were at the revision of `taken`; null when the log no longer tells. */
export async function rowsAsOf(
  lease: Lease,
  { epoch, revision }: Taken,
  wanted: readonly MatchedObject[],
  { projection, scopes }: { readonly projection: Projection; readonly scopes: Scopes },
): Promise<readonly ObjectRow[] | null> {
  if (lease.epoch !== epoch || revision < (await readLogFloor(lease))) return null;
  const identities = wanted.map(({ identity }) => identity);
  const current = await fetchObjects(lease, await readView(lease, scopes), identities, projection);
  const unchanged = (object: MatchedObject, index: number): ObjectRow | null => {
    const row = current[index] ?? null;
    return row !== null && row.objectId === object.objectId && row.seq === object.seq ? row : null;
  };
  const moved = wanted.filter((object, index) => unchanged(object, index) === null).map(({ objectId }) => objectId);
  const rebuilt = moved.length === 0 ? new Map() : await objectsAsOf(lease, moved, revision);
  const rows: ObjectRow[] = [];
  for (const [index, object] of wanted.entries()) {
    const { identity, objectId, seq } = object;
    const row = unchanged(object, index);
    const past = rebuilt.get(objectId);
    if (row !== null) {
      rows.push(row);
    } else if (past !== undefined) {
      const { uid, resourceVersion, body } = past;
      rows.push({ ...identity, objectId, seq, uid, resourceVersion, body: parseExact(body) });
    } else {
      return null;
    }
  }
  return rows;
}
