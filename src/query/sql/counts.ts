/**
 * Which rows count. A row counts when its rowset is the published one of a synced resource, and the caller may see it. Every
 * statement that reads rows says this with one of the functions below.
 *
 *   one kind, tables of a KindView      KindTables.counts()        +o.rowset IN (SELECT rowset FROM resource WHERE kind = +? AND synced = 1)
 *   several kinds at once               countsOfAny(view)          EXISTS (SELECT 1 FROM resource AS r WHERE r.cluster = o.cluster AND …)
 *   a number that the store keeps       keptCount(kind, clusters)  SELECT coalesce(sum(objects), 0) FROM resource WHERE …
 */

import { all, type Fragment, isIn, raw, sql } from '../../store/types/sql.ts';
import type { KindView, View } from './view.ts';

/** `rowset` is one of the kind's published rowsets. */
export function isPublished(rowset: Fragment, { kindId }: Pick<KindView, 'kindId'>): Fragment {
  return sql`${rowset} IN (SELECT rowset FROM resource WHERE kind = ${BigInt(kindId)} AND synced = 1)`;
}

/** The caller may see the row. The counterpart of `isVisible` (src/access/scope.ts). */
export function isVisibleSql({ visible }: Pick<KindView, 'visible'>): Fragment {
  return visible.rows === 'all' ? raw('1') : raw('0');
}

/** A row of `object AS o` counts, whatever its kind. */
export function countsOfAny(view: View): Fragment {
  const published = raw(
    `EXISTS (SELECT 1 FROM resource AS r
    WHERE r.cluster = o.cluster AND r.kind = o.kind AND r.rowset = o.rowset AND r.synced = 1)`,
  );
  const kinds = view.all();
  if (kinds.every(({ isWhole }) => isWhole)) return published;
  const visible = kinds.filter(({ isWhole }) => isWhole).map(({ kindId }) => BigInt(kindId));
  return all([isIn(raw('+o.kind'), visible), published]);
}

/**
 * The number of rows that count, as the store keeps it with every commit; null when the caller does not see all of them.
 * @param clusters null for all.
 */
export function keptCount(kind: KindView, clusters: readonly string[] | null): Fragment | null {
  if (!kind.isWhole) return null;
  return sql`SELECT coalesce(sum(objects), 0) FROM resource WHERE kind = ${BigInt(kind.kindId)} AND synced = 1
        AND ${clusters === null ? raw('1') : isIn(raw('cluster'), clusters)}`;
}
