/** Reads all matching objects without their bodies: the start of a live list's snapshot. */

import type { Access } from '../../access/scope.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { Row } from '../../store/types/statement.ts';
import type { Filter, Identity } from '../plan/filter.ts';
import type { PlannedKind, Position } from '../plan/plan.ts';
import { chooseRoute } from '../route/route.ts';
import { seqPageStatements } from '../sql/sql-list.ts';
import type { View } from '../sql/view.ts';

export interface MatchedObject {
  readonly objectId: number;
  /** The sequence number of the object's newest change. */
  readonly seq: number;
  readonly identity: Identity;
}

interface MatchOptions {
  readonly limit?: number;
  readonly access?: Access;
}

/** Rows of one statement. Statements are limited in rows and in time. */
const chunk = 20_000;

/**
 * All matching objects of a kind that the caller may watch, in identity order. A kind without tables in the view has none.
 * @param options `limit` of the objects, default none; `access` that the caller must have, default `watch`
 */
export async function matchingObjects(
  lease: Lease,
  view: View,
  kind: PlannedKind,
  filter: Filter,
  { limit = Number.POSITIVE_INFINITY, access = 'watch' }: MatchOptions = {},
): Promise<MatchedObject[]> {
  const found: MatchedObject[] = [];
  for await (const rows of matchedRows(lease, view, kind, filter, access)) {
    for (const row of rows) {
      found.push({ objectId: Number(row[0]), seq: Number(row[4]), identity: identityIn(kind.key, row) });
    }
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** The ids of all matching objects of a kind that the caller may watch, in identity order: eight bytes for each. */
export async function matchingIds(lease: Lease, view: View, kind: PlannedKind, filter: Filter): Promise<Float64Array> {
  const chunks: Float64Array[] = [];
  for await (const rows of matchedRows(lease, view, kind, filter, 'watch')) {
    chunks.push(Float64Array.from(rows, ([id]) => Number(id)));
  }
  const ids = new Float64Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    ids.set(chunk, at);
    at += chunk.length;
  }
  return ids;
}

/** Rows with the columns id, cluster, namespace, name, seq. */
async function* matchedRows(
  lease: Lease,
  view: View,
  { key }: PlannedKind,
  filter: Filter,
  access: Access,
): AsyncGenerator<readonly Row[], void, undefined> {
  const kind = view.get(key, access);
  if (kind === undefined) return;
  const route = await chooseRoute(lease, kind, filter, [], chunk);
  let position: Position | null = null;
  for (;;) {
    const list = { kind, filter, orderBy: [], route, backward: false, position, until: null, limit: chunk };
    const statements = seqPageStatements(list);
    const rows: readonly Row[] = statements.length === 0 ? [] : await lease.fill(statements, chunk);
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < chunk) return;
    position = { keys: [], identity: identityIn(key, last) };
  }
}

function identityIn(key: string, [, cluster, namespace, name]: Row): Identity {
  return {
    cluster: String(cluster),
    key,
    namespace: namespace === '' ? null : String(namespace),
    name: String(name),
  };
}
