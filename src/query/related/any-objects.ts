/** Conditions and order keys of objects of any kind that were found by their identities. */
import type { Access } from '../../access/scope.ts';
import type { Lease } from '../../store/types/lease.ts';
import { all, join, sql } from '../../store/types/sql.ts';
import { everything, type Filter } from '../plan/filter.ts';
import { anyEnd } from '../plan/hop.ts';
import type { OrderKeys, OrderTerm } from '../plan/plan.ts';
import { KindTables } from '../sql/kind-tables.ts';
import { keyColumn, readKey } from '../sql/leaf-key.ts';
import { filterSql } from '../sql/sql-filter.ts';
import { travelOrder } from '../sql/sql-order.ts';
import type { View } from '../sql/view.ts';

interface Matching {
  /** Object ids. */
  readonly ids: readonly number[];
  readonly access: Access;
  readonly filter: Filter;
  readonly orderBy: readonly OrderTerm[];
}

/** The order keys of those of these objects that match, by object id. Reads nothing if all match and there is no order. */
export async function keysOfMatches(
  lease: Lease,
  view: View,
  { ids, access, filter, orderBy }: Matching,
): Promise<ReadonlyMap<number, OrderKeys>> {
  if (ids.length === 0 || (filter === everything && orderBy.length === 0)) return new Map(ids.map((id) => [id, []]));
  const kind = view.end({ to: anyEnd, many: access === 'list' });
  if (kind === undefined) return new Map();
  const tables = new KindTables(kind, 'o');
  const keys = travelOrder(tables, orderBy, false).terms.map(
    ({ type, expression }) => sql`, ${keyColumn(type, expression)}`,
  );
  const matching = filterSql(tables, filter);
  const rows = await lease.all(
    sql`SELECT o.id${join(keys, '')} FROM json_each(${JSON.stringify(ids)}) AS j CROSS JOIN object AS o ON o.id = j.value${tables.joins()}
      WHERE ${all([tables.tick(), tables.counts(), matching])}`,
  );
  return new Map(rows.map(([id, ...values]) => [Number(id), orderBy.map(({ type }, at) => readKey(type, values[at]))]));
}
