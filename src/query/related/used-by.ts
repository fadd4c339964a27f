/**
 * The objects of any kind that refer to an object by name.
 *
 *   entries of the index by target, counted by kind -> kinds in the order of the list -> one statement for each kind, until pages are full
 *
 * The list is in identity order. A kind without entries for any of the objects costs nothing.
 */
import type { Lease } from '../../store/types/lease.ts';
import { all, type Fragment, isIn, raw, sql } from '../../store/types/sql.ts';
import { decodeCursor } from '../plan/cursor.ts';
import { everything } from '../plan/filter.ts';
import { digest } from '../plan/fingerprint.ts';
import type { Hop, HopEnd } from '../plan/hop.ts';
import { compareKinds } from '../plan/identity-order.ts';
import type { ListResult, ObjectRow, Projection } from '../plan/plan.ts';
import { listRow } from '../read/list.ts';
import { countsOfAny } from '../sql/counts.ts';
import { names, readyPlaces } from '../sql/hop-sql.ts';
import { tickAt } from '../sql/tick.ts';
import type { View } from '../sql/view.ts';
import { parents, relatedRows } from './related-list.ts';

export interface UsedByPlan {
  /** The kind of the objects. */
  readonly of: HopEnd;
  /** The kinds of the referring objects, with the places of their references (placeText). */
  readonly kinds: readonly (HopEnd & { readonly places: readonly string[] })[];
}

interface UsedByPage {
  readonly limit: number;
  readonly after: string | null;
  readonly projection: Projection;
}

/** @throws PortolanError BAD_USER_INPUT for a cursor of another list; CACHE_NOT_READY while references are still being read. */
export async function usedBy(
  lease: Lease,
  view: View,
  ids: readonly number[],
  plan: UsedByPlan,
  { limit, after, projection }: UsedByPage,
): Promise<ListResult[]> {
  const fingerprint = digest({ usedBy: plan.of.key, kinds: plan.kinds.map(({ key }) => key).sort() });
  const position = after === null ? null : decodeCursor(after, fingerprint);
  const found = ids.map((): ObjectRow[] => []);
  // A kind may seem to have no entries only because its objects have not been read yet.
  for (const { key, places } of plan.kinds) if (view.get(key) !== undefined) readyPlaces(view, key, places);
  const entries = await entriesByKind(lease, view, ids, plan);
  for (const end of plan.kinds.toSorted((a, b) => compareKinds(a.key, b.key))) {
    const kind = view.get(end.key);
    const side = position === null ? 1 : compareKinds(end.key, position.identity.key);
    const wanting = ids.flatMap((_, at) =>
      entries[at]?.has(kind?.kindId ?? -1) === true && (found[at]?.length ?? 0) <= limit ? [at] : [],
    );
    if (kind === undefined || side < 0 || wanting.length === 0) continue;
    const rows = await relatedRows(
      lease,
      kind,
      wanting.map((at) => ids[at] ?? 0),
      { hop: referringHop(end, plan.of), filter: everything, orderBy: [] },
      { limit: limit + 1, position: side === 0 ? position : null, projection },
    );
    for (const [index, at] of wanting.entries()) found[at]?.push(...(rows[index] ?? []).map(({ row }) => row));
  }
  return found.map((rows) => ({
    rows: rows.slice(0, limit).map((row) => listRow(row, [], fingerprint)),
    hasNextPage: rows.length > limit,
    hasPreviousPage: after !== null,
  }));
}

/** The number of objects that refer to each of these objects. */
export async function countUsedBy(
  lease: Lease,
  view: View,
  ids: readonly number[],
  plan: UsedByPlan,
): Promise<number[]> {
  const counts = ids.map(() => 0);
  const rows = await lease.all(
    sql`SELECT j.key, count(DISTINCT o.id) FROM ${entriesFrom(ids, view, plan)}
      CROSS JOIN object AS o ON o.id = r.id WHERE ${all([tickAt('o.id', 256), countsOfAny(view)])} GROUP BY j.key`,
  );
  for (const [at, count] of rows) counts[Number(at)] = Number(count);
  return counts;
}

/** The hop to the objects of a kind that refer to objects of kind `of`, at any of its places. */
export function referringHop({ places, ...to }: UsedByPlan['kinds'][number], of: HopEnd): Hop {
  return { name: 'usedBy', from: of, to, direction: 'reverse', way: { by: 'reference', places }, many: true };
}

/** The ids of the kinds that have entries for each of these objects. */
export async function entriesByKind(
  lease: Lease,
  view: View,
  ids: readonly number[],
  plan: { readonly of: HopEnd; readonly kinds: readonly Pick<HopEnd, 'key'>[] },
): Promise<readonly ReadonlySet<number>[]> {
  const found = ids.map(() => new Set<number>());
  const kinds = plan.kinds.flatMap(({ key }) => view.get(key)?.kindId ?? []);
  const list = JSON.stringify(kinds);
  const rows = await lease.all(
    sql`SELECT j.key, k.value FROM ${targetsFrom(ids, plan.of)} CROSS JOIN json_each(${list}) AS k
      WHERE EXISTS (SELECT 1 FROM reference_by_target AS r WHERE r.target = t.id AND r.kind = k.value)`,
  );
  for (const [at, kind] of rows) found[Number(at)]?.add(Number(kind));
  return found;
}

function entriesFrom(ids: readonly number[], view: View, { of, kinds }: UsedByPlan): Fragment {
  const places = kinds.flatMap(({ key, places: texts }) =>
    view.get(key) === undefined ? [] : readyPlaces(view, key, texts).map(BigInt),
  );
  return sql`${targetsFrom(ids, of)} CROSS JOIN reference_by_target AS r ON r.target = t.id AND ${isIn(raw('r.place'), places)}`;
}

function targetsFrom(ids: readonly number[], of: HopEnd): Fragment {
  return sql`${parents(ids)} CROSS JOIN target AS t ON ${names(raw('t'), of, raw('s'))}`;
}
