/**
 * The compiler from a list plan and one kind's tables to SQL statements.
 *
 * The inner SELECT of a statement finds the keys of the page: id, identity and order keys, sorted and limited. The outer SELECT
 * reads the remaining columns. So a body is read only if the filter needs it or the page shows it. For the first page of 3:
 *
 *   SELECT k.id, o.cluster, o.namespace, o.name, o.uid, o.rv, o.seq, o.health, …, '{}'
 *   FROM (SELECT o.id AS id, o.cluster AS cluster, o.namespace AS namespace, o.name AS name FROM object AS o
 *         WHERE o.kind = 7 AND <tick guard> AND +o.rowset IN (<published rowsets>)
 *         ORDER BY o.cluster ASC, o.namespace ASC, o.name ASC LIMIT 3) AS k
 *   CROSS JOIN object AS o ON o.id = k.id
 *
 * A page may need several statements. They are in reading order: the list's order for a forward page, its reverse for a backward page.
 * `lease.fill` runs them until the page is full. Every scan loop has a tick guard, so it can be cancelled.
 */

import type { PageProjection } from '../../store/pages/page-select.ts';
import { pageSelect } from '../../store/pages/page-select.ts';
import { allHealthColumns } from '../../store/types/kind-layout.ts';
import { all, type Fragment, join, raw, sql } from '../../store/types/sql.ts';
import type { Row } from '../../store/types/statement.ts';
import { conjuncts, type Filter } from '../plan/filter.ts';
import type { OrderKeys, OrderTerm, Projection } from '../plan/plan.ts';
import type { Route } from './access-path.ts';
import { isCreated, KindTables } from './kind-tables.ts';
import { jsonKey, keyColumn, readKey } from './leaf-key.ts';
import { objectColumns, objectValues, projectionSql } from './projection.ts';
import { filterSql, test, wantedKeys } from './sql-filter.ts';
import {
  between,
  type FirstTermBounds,
  identitySegments,
  keyColumns,
  orderClause,
  type PagePositions,
  segments,
  type TravelOrder,
  travelOrder,
} from './sql-order.ts';
import type { KindView } from './view.ts';

export interface KindList extends PagePositions {
  readonly kind: KindView;
  readonly filter: Filter;
  readonly orderBy: readonly OrderTerm[];
  readonly route: Route;
  readonly backward: boolean;
  readonly limit: number;
  /** Does the scan tick often enough to count the scanned rows? */
  readonly counted?: boolean;
}

/** Columns of a page of keys, before the order keys. */
const plainColumns = 4;

/** Statements with the columns id, those of objectColumns (projection.ts), body, order keys. */
export function pageStatements(list: KindList, projection: Projection): readonly Fragment[] {
  return keyStatements(list).map(({ inner, order }) => {
    const body = projectionSql(projection);
    const keys = order.terms.map(({ type }, index) => sql`, ${keyColumn(type, raw(`k.k${index}`))}`);
    return sql`SELECT k.id, ${raw(objectColumns)}, ${body ?? raw(`'{}'`)}${join(keys, '')}
      FROM (${inner}) AS k CROSS JOIN object AS o ON o.id = k.id${raw(
        body === null ? '' : ' CROSS JOIN body AS b ON b.id = k.id',
      )}`;
  });
}

/** Statements that return lines (src/store/pages/page-select.ts). */
export function linePageStatements(list: KindList, projection: PageProjection, full: boolean): readonly Fragment[] {
  const { versions, health } = projection;
  return keyStatements(list, versions || health.length > 0).map(({ inner, order, carried }) => {
    const keys = order.terms.map(({ type }, index) => jsonKey(type, raw(`k.k${index}`)));
    return pageSelect(inner, keys, projection, { full, carried });
  });
}

/** Statements with the columns id, cluster, namespace, name, order keys. */
export function keyPageStatements(list: KindList): readonly Fragment[] {
  return keyStatements(list).map(({ inner, order }) => {
    const keys = order.terms.map(({ type }, index) => sql`, ${keyColumn(type, raw(`k.k${index}`))}`);
    return sql`SELECT k.id, k.cluster, k.namespace, k.name${join(keys, '')} FROM (${inner}) AS k`;
  });
}

/** The order keys in a row of `pageStatements` or `keyPageStatements`. */
export function keysIn(row: Row, orderBy: readonly OrderTerm[], kind: 'page' | 'keys'): OrderKeys {
  const first = kind === 'page' ? objectValues : plainColumns;
  return orderBy.map(({ type }, index) => readKey(type, row[first + index]));
}

interface KeyStatement {
  readonly inner: Fragment;
  /** Do its rows carry versions and health? */
  readonly carried: boolean;
  readonly order: TravelOrder;
}

/** @param carry whether rows that come by an index of `object` carry versions and health */
function keyStatements(list: KindList, carry = false): readonly KeyStatement[] {
  const { route } = list;
  switch (route.kind) {
    case 'order': {
      const [first] = list.orderBy;
      const base = first === undefined || isCreated(first.path, first.type) ? 'o' : 'p';
      return ranges(list, { base, carry }, (tables, order) =>
        segments(tables, order, list, firstTermBounds(list, order)),
      );
    }
    case 'identity':
      return ranges(list, { base: 'o', carry }, (tables, order) =>
        identitySegments(tables, order, list, route.clusters, route.namespaces),
      );
    case 'path': {
      const tables = route.path.tables();
      return [sorted(list, tables, route.path.from(tables), route.path.where(tables), route.path.rest)];
    }
    case 'scan': {
      const tables = new KindTables(list.kind, 'o');
      return [sorted(list, tables, tables.from(), tables.isOfKind(), list.filter)];
    }
  }
}

/** One statement for each segment of an index. */
function ranges(
  list: KindList,
  { base, carry }: { readonly base: 'o' | 'p'; readonly carry: boolean },
  conditions: (tables: KindTables, order: TravelOrder) => readonly Fragment[],
): readonly KeyStatement[] {
  const tables = new KindTables(list.kind, base);
  const order = travelOrder(tables, list.orderBy, list.backward);
  const filter = filterSql(tables, list.filter);
  const carried = carry && base === 'o';
  return conditions(tables, order).map((segment) => ({
    order,
    carried,
    inner: select(list, tables, order, {
      columns: carried ? carriedColumns : [],
      from: tables.from(),
      where: [
        ...(tables.base === 'o' ? [tables.isOfKind()] : []),
        segment,
        tables.tick(list.counted),
        tables.counts(),
        filter,
      ],
      clause: orderClause(tables, order, 'one side'),
    }),
  }));
}

/** One statement that sorts all rows of an access path or of the kind. */
function sorted(list: KindList, tables: KindTables, from: Fragment, where: Fragment, filter: Filter): KeyStatement {
  const order = travelOrder(tables, list.orderBy, list.backward);
  const matching = filterSql(tables, filter);
  const conditions = [where, tables.tick(), tables.counts(), matching];
  conditions.push(...between(tables, order, list));
  return {
    order,
    carried: false,
    inner: select(list, tables, order, {
      columns: [],
      from,
      where: conditions,
      clause: orderClause(tables, order, 'mixed'),
    }),
  };
}

/** Of a row's versions and health, which a page then need not look up. */
const carriedColumns = ['uid', 'rv', ...allHealthColumns] as const;

interface SelectParts {
  /** More columns of `object`. */
  readonly columns: readonly (typeof carriedColumns)[number][];
  readonly from: Fragment;
  readonly where: readonly Fragment[];
  readonly clause: Fragment;
}

function select(
  list: KindList,
  tables: KindTables,
  order: TravelOrder,
  { columns: more, from, where, clause }: SelectParts,
): Fragment {
  const columns = [
    ...(['id', 'cluster', 'namespace', 'name', ...more] as const).map(
      (name) => sql`${tables.column(name)} AS ${raw(name)}`,
    ),
    ...keyColumns(order),
  ];
  return sql`SELECT ${join(columns, ', ')} FROM ${from}${tables.joins()} WHERE ${all(where)} ${clause} LIMIT ${BigInt(list.limit)}`;
}

/** The bounds that the filter sets on the first order term. They narrow its range of the index. */
function firstTermBounds(list: KindList, order: TravelOrder): FirstTermBounds {
  const [first] = list.orderBy;
  const [term] = order.terms;
  let lower: Fragment | null = null;
  let upper: Fragment | null = null;
  if (first === undefined || term === undefined) return { lower, upper };
  for (const part of conjuncts(list.filter)) {
    if (part.kind !== 'compare' || part.path.text !== first.path.text || part.type !== first.type) continue;
    const keys = wantedKeys(part);
    if (keys.length === 0) continue;
    const bound = (operator: 'lt' | 'lte' | 'gt' | 'gte'): Fragment =>
      test(operator, part.type, term.expression, keys, true);
    if (part.operator === 'gt' || part.operator === 'gte') lower ??= bound(part.operator);
    if (part.operator === 'lt' || part.operator === 'lte') upper ??= bound(part.operator);
    if (part.operator === 'eq' && !part.ignoreCase) {
      lower ??= bound('gte');
      upper ??= bound('lte');
    }
  }
  return { lower, upper };
}

/** Statements with the columns id, cluster, namespace, name, seq. */
export function seqPageStatements(list: KindList): readonly Fragment[] {
  return keyStatements(list).map(
    ({ inner }) => sql`SELECT k.id, k.cluster, k.namespace, k.name, o.seq
      FROM (${inner}) AS k CROSS JOIN object AS o ON o.id = k.id`,
  );
}
