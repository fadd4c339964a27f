/** Values of related objects as SQL: one scalar SELECT inside another for each hop. */
import { all, type Fragment, raw, sql } from '../../store/types/sql.ts';
import type { Hop, Through } from '../plan/hop.ts';
import { hopSql } from './hop-sql.ts';
import type { KindTables } from './kind-tables.ts';

/**
 * The expression for a value of the objects that `through` leads to, for each row of `tables`.
 * @param leaf the expression for the value of the object at the end.
 */
export function throughSql(
  tables: KindTables,
  { hops, counted }: Through,
  leaf: (tables: KindTables) => Fragment,
): Fragment {
  const [hop, ...rest] = hops;
  if (hop === undefined) return counted === null ? leaf(tables) : relatedCount(tables, counted);
  const kind = tables.kind.view.end(hop);
  if (kind === undefined) return raw('NULL');
  const inner = tables.inner(kind);
  const { from, where } = hopSql(hop, tables.objectAlias(), inner);
  const value = throughSql(inner, { hops: rest, counted }, leaf);
  const identity = (['cluster', 'namespace', 'name'] as const).map((name) => inner.column(name).sql).join(', ');
  return sql`(SELECT ${value} FROM ${from}${inner.joins()} WHERE ${all([where, inner.counts()])} ORDER BY ${raw(identity)} LIMIT 1)`;
}

/** The expression for the number of objects that a hop leads to from each row of `tables`. */
export function relatedCount(tables: KindTables, hop: Hop): Fragment {
  const kind = tables.kind.view.end(hop);
  if (kind === undefined) return raw('0');
  const inner = tables.inner(kind);
  const { from, where, rows } = hopSql(hop, tables.objectAlias(), inner);
  const counted = rows === 'repeated' ? sql`count(DISTINCT ${inner.column('id')})` : raw('count(*)');
  return sql`(SELECT ${counted} FROM ${from}${inner.joins()} WHERE ${all([where, inner.tick(), inner.counts()])})`;
}
