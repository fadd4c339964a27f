/**
 * Orders and positions as SQL. The counterpart of compare-rows.ts.
 *
 * A page after a cursor is read as segments, one statement each. They are in reading order: that of the list for a forward page, its
 * reverse for a backward page. Each segment is one range of one index; a single condition with OR would not be. After the position
 * { keys: ['Failed'], identity: east, a, x }, ordered by status.phase:
 *
 *   p.c3 = 'Failed' AND (p.cluster, p.namespace, p.name) > ('east', 'a', 'x')    equal first key, later in the remaining order
 *   p.c3 > 'Failed'                                                              later first key
 *   p.c3 IS NULL                                                                 no first key
 *
 * Rows without a key are a segment of their own, because SQLite's index sorts nulls first, whatever the order requires.
 *
 * A backward page is a forward page of the reversed order: directions and the position of nulls are both inverted.
 */
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { isDerived } from '../../catalog/tree/path.ts';
import { compareText, type OrderKey } from '../../catalog/values/values.ts';
import { all, any, type Fragment, raw, sql } from '../../store/types/sql.ts';
import type { Identity } from '../plan/filter.ts';
import { compareKinds } from '../plan/identity-order.ts';
import type { OrderTerm, Position } from '../plan/plan.ts';
import { withExtreme } from './json-node.ts';
import type { KindTables } from './kind-tables.ts';
import { bindKey, foldedKey, keyOf } from './leaf-key.ts';
import { rankSql } from './search.ts';
import { throughSql } from './through-sql.ts';

/** The reading order of a page, with expressions over one KindTables. */
export interface TravelOrder {
  readonly terms: readonly TravelTerm[];
  /** Direction of the identity, the last term of every order. */
  readonly descending: boolean;
}

interface TravelTerm {
  readonly expression: Fragment;
  readonly type: LeafType;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** The reading order of a page. @param backward the page is read from its end, so directions and nulls are inverted. */
export function travelOrder(tables: KindTables, orderBy: readonly OrderTerm[], backward: boolean): TravelOrder {
  const terms = orderBy.map((term): TravelTerm => {
    const { type, direction, nulls, through } = term;
    return {
      expression:
        through === undefined ? termKey(tables, term) : throughSql(tables, through, (end) => termKey(end, term)),
      type,
      descending: (direction === 'DESC') !== backward,
      nullsFirst: (nulls === 'FIRST') !== backward,
    };
  });
  return { terms, descending: (orderBy.at(-1)?.direction === 'DESC') !== backward };
}

/** The key of a term for a row of `tables`. */
function termKey(tables: KindTables, { path, type, direction, natural, rank }: OrderTerm): Fragment {
  const naturally = (key: Fragment): Fragment => (natural === true ? sql`natural_key(${key})` : key);
  if (rank !== undefined) return rankSql(tables, rank);
  // An index of a column has no natural order. Identity and health have columns only.
  const column = natural === true && !isDerived(path) ? null : tables.keyColumn(path, type);
  if (column !== null) return naturally(column);
  if (path.fold !== undefined) return naturally(foldedKey(tables.body(), path, type, tables.aliases));
  return withExtreme(tables.body(), path.steps, tables.aliases, direction === 'DESC' ? 'max' : 'min', (value) =>
    naturally(sql`(${keyOf(value, type)})`),
  );
}

/**
 * The ORDER BY clause.
 * @param leading 'one side': either all rows have a first key or none has, so the clause needs no NULLS FIRST or LAST for it.
 */
export function orderClause(tables: KindTables, order: TravelOrder, leading: 'one side' | 'mixed'): Fragment {
  const terms = order.terms.map(({ descending, nullsFirst }, index) => {
    const direction = descending ? 'DESC' : 'ASC';
    if (index === 0 && leading === 'one side') return `k0 ${direction}`;
    return `k${index} ${direction} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`;
  });
  const identity = (['cluster', 'namespace', 'name'] as const).map(
    (column) => `${tables.column(column).sql} ${order.descending ? 'DESC' : 'ASC'}`,
  );
  return raw(`ORDER BY ${[...terms, ...identity].join(', ')}`);
}

/** The key columns k0, k1, … that `orderClause` refers to. */
export function keyColumns(order: TravelOrder): readonly Fragment[] {
  return order.terms.map(({ expression }, index) => sql`${expression} AS ${raw(`k${index}`)}`);
}

/** Minus infinity: the least SQL value besides null, because numbers sort before texts. */
const least = raw('-9e999');

/** Bounds that the filter sets on the first term, as conditions on its column. */
export interface FirstTermBounds {
  readonly lower: Fragment | null;
  readonly upper: Fragment | null;
}

/**
 * The segments after `position` (or of all rows), in reading order. A segment is a condition. Requires a first term that
 * is a column with an index on it and the identity.
 */
export function segments(
  tables: KindTables,
  order: TravelOrder,
  position: Position | null,
  bounds: FirstTermBounds,
): readonly Fragment[] {
  const [first] = order.terms;
  if (first === undefined) return [position === null ? raw('1') : behindIdentity(tables, order, position.identity)];
  const { expression } = first;
  // With bounds on the term, rows without a key cannot match.
  const bounded = bounds.lower !== null || bounds.upper !== null;
  const without = sql`${expression} IS NULL`;
  const range = (passed: Fragment | null): Fragment => {
    const lower = (first.descending ? null : passed) ?? bounds.lower;
    const upper = (first.descending ? passed : null) ?? bounds.upper;
    const sides = [lower, upper].filter((side) => side !== null);
    return sides.length === 0 ? sql`${expression} >= ${least}` : all(sides);
  };

  if (position === null) {
    if (bounded) return [range(null)];
    return first.nullsFirst ? [without, range(null)] : [range(null), without];
  }
  const key = position.keys[0] ?? null;
  const laterTerms = behindTerms(tables, order, position, 1);
  if (key === null) {
    return [
      ...(laterTerms === null || bounded ? [] : [sql`${without} AND ${laterTerms}`]),
      ...(first.nullsFirst ? [range(null)] : []),
    ];
  }
  return [
    ...(laterTerms === null ? [] : [sql`${expression} = ${bindKey(first.type, key)} AND ${laterTerms}`]),
    range(later(first, key)),
    ...(first.nullsFirst || bounded ? [] : [without]),
  ];
}

/** All rows after a position as one condition, for orders that no index serves. */
export function behind(tables: KindTables, order: TravelOrder, position: Position): Fragment {
  return behindTerms(tables, order, position, 0) ?? raw('0');
}

/** Rows after the position in the terms from `index` on and the identity; null when no row can be. */
function behindTerms(tables: KindTables, order: TravelOrder, position: Position, index: number): Fragment | null {
  const term = order.terms[index];
  if (term === undefined) return behindIdentity(tables, order, position.identity);
  const key = position.keys[index] ?? null;
  const laterTerms = behindTerms(tables, order, position, index + 1);
  const { expression } = term;
  const alternatives: Fragment[] = [];
  if (key === null) {
    if (laterTerms !== null) alternatives.push(sql`(${expression} IS NULL AND ${laterTerms})`);
    if (term.nullsFirst) alternatives.push(sql`${expression} IS NOT NULL`);
  } else {
    if (laterTerms !== null) alternatives.push(sql`(${expression} = ${bindKey(term.type, key)} AND ${laterTerms})`);
    alternatives.push(later(term, key));
    if (!term.nullsFirst) alternatives.push(sql`${expression} IS NULL`);
  }
  return alternatives.length === 0 ? null : any(alternatives);
}

function later({ expression, descending, type }: TravelTerm, key: OrderKey): Fragment {
  return sql`${expression} ${raw(descending ? '<' : '>')} ${bindKey(type, key)}`;
}

/** Rows whose identity comes after this one. The kind sorts between cluster and namespace; all rows have the same kind. */
function behindIdentity(tables: KindTables, order: TravelOrder, { cluster, key, namespace, name }: Identity): Fragment {
  const sense = raw(order.descending ? '<' : '>');
  const kinds = compareKinds(tables.kind.key, key) * (order.descending ? -1 : 1);
  if (kinds < 0) return sql`${tables.column('cluster')} ${sense} ${cluster}`;
  if (kinds > 0) return sql`${tables.column('cluster')} ${sense}= ${cluster}`;
  const columns = sql`(${tables.column('cluster')}, ${tables.column('namespace')}, ${tables.column('name')})`;
  return sql`${columns} ${sense} (${cluster}, ${namespace ?? ''}, ${name})`;
}

/**
 * Segments of the identity order for a list of some clusters or namespaces: one range for each, in reading order. So the scan skips
 * all other clusters and namespaces.
 * @param namespaces null for all.
 */
export function identitySegments(
  tables: KindTables,
  order: TravelOrder,
  position: Position | null,
  clusters: readonly string[],
  namespaces: readonly string[] | null,
): readonly Fragment[] {
  const sign = order.descending ? -1 : 1;
  const travel = (names: readonly string[]): string[] => [...new Set(names)].sort((a, b) => compareText(a, b) * sign);
  const sense = raw(order.descending ? '<' : '>');
  const ranges: Fragment[] = [];
  for (const cluster of travel(clusters)) {
    const inCluster = sql`${tables.column('cluster')} = ${cluster}`;
    // Where the cluster is: negative before the position, 0 at it, positive after it.
    let side = 1;
    if (position !== null) {
      const { identity } = position;
      side = sign * (compareText(cluster, identity.cluster) || compareKinds(tables.kind.key, identity.key));
    }
    if (side < 0) continue;
    if (namespaces === null) {
      ranges.push(
        side > 0 || position === null
          ? inCluster
          : sql`${inCluster} AND (${tables.column('namespace')}, ${tables.column('name')}) ${sense} (${position.identity.namespace ?? ''}, ${position.identity.name})`,
      );
      continue;
    }
    for (const namespace of travel(namespaces)) {
      const inNamespace = sql`${inCluster} AND ${tables.column('namespace')} = ${namespace}`;
      if (side > 0 || position === null) {
        ranges.push(inNamespace);
        continue;
      }
      const compared = sign * compareText(namespace, position.identity.namespace ?? '');
      if (compared > 0) ranges.push(inNamespace);
      if (compared === 0)
        ranges.push(sql`${inNamespace} AND ${tables.column('name')} ${sense} ${position.identity.name}`);
    }
  }
  return ranges;
}
