/**
 * Orders and places in them as SQL. The counterpart of compare-rows.ts.
 *
 * A page that goes on behind a cursor is read as range segments, one statement each, in the order of travel: rows with equal first
 * key and a later rest, rows with a later first key, rows without one. Each is one range of one index, where a single condition
 * with OR would be none. The segment of the rows without a key stands apart because SQLite's nulls stand where they stand in the
 * index, not where the order wants them.
 *
 * Travelling backward is travelling forward in the reverse of the order: directions and nulls both turn round.
 */
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { compareText, type OrderKey } from '../../catalog/values/values.ts';
import { all, any, type Fragment, raw, sql } from '../../store/types/sql.ts';
import type { Identity } from '../plan/filter.ts';
import { compareKinds } from '../plan/identity-order.ts';
import type { OrderTerm, Position } from '../plan/plan.ts';
import { withExtreme } from './json-node.ts';
import type { KindTables } from './kind-tables.ts';
import { bindKey, keyOf } from './leaf-key.ts';
import { rankSql } from './search.ts';

/** An order as it is travelled, in the columns of one tables. */
export interface TravelOrder {
  readonly terms: readonly TravelTerm[];
  /** Direction of the identity, which ends every order. */
  readonly descending: boolean;
}

export interface TravelTerm {
  readonly expression: Fragment;
  readonly type: LeafType;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

export function travelOrder(tables: KindTables, orderBy: readonly OrderTerm[], backward: boolean): TravelOrder {
  const terms = orderBy.map(
    ({ path, type, direction, nulls, natural, rank }): TravelTerm => ({
      expression:
        (rank === undefined ? null : rankSql(tables, rank)) ??
        (natural === true ? null : tables.keyColumn(path, type)) ??
        withExtreme(tables.body(), path.steps, tables.aliases, direction === 'DESC' ? 'max' : 'min', (place) => {
          const key = sql`(${keyOf(place, type)})`;
          return natural === true ? sql`natural_key(${key})` : key;
        }),
      type,
      descending: (direction === 'DESC') !== backward,
      nullsFirst: (nulls === 'FIRST') !== backward,
    }),
  );
  return { terms, descending: (orderBy.at(-1)?.direction === 'DESC') !== backward };
}

/** `ORDER BY …`; `leading: 'one side'` says that the rows either all have a first key or all have none. */
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

/** The key columns, as `orderClause` names them. */
export function keyColumns(order: TravelOrder): readonly Fragment[] {
  return order.terms.map(({ expression }, index) => sql`${expression} AS ${raw(`k${index}`)}`);
}

/** Every value that is not null is at least this: numbers stand before texts, and no number before it. */
const least = raw('-9e999');

/** Bounds that the filter sets on the first term, both given as conditions on its column. */
export interface FirstTermBounds {
  readonly lower: Fragment | null;
  readonly upper: Fragment | null;
}

/**
 * The segments of what comes behind `position` (or of everything), in the order of travel. For orders whose first term is a
 * column with an index that goes on with the identity. A segment is a condition.
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
  const rest = behindTerms(tables, order, position, 1);
  if (key === null) {
    return [
      ...(rest === null || bounded ? [] : [sql`${without} AND ${rest}`]),
      ...(first.nullsFirst ? [range(null)] : []),
    ];
  }
  return [
    ...(rest === null ? [] : [sql`${expression} = ${bindKey(first.type, key)} AND ${rest}`]),
    range(later(first, key)),
    ...(first.nullsFirst || bounded ? [] : [without]),
  ];
}

/** Everything behind a position, as one condition: for orders that no index serves. */
export function behind(tables: KindTables, order: TravelOrder, position: Position): Fragment {
  return behindTerms(tables, order, position, 0) ?? raw('0');
}

/** Rows whose terms from `index` on stand behind the position's; null when there can be none. */
function behindTerms(tables: KindTables, order: TravelOrder, position: Position, index: number): Fragment | null {
  const term = order.terms[index];
  if (term === undefined) return behindIdentity(tables, order, position.identity);
  const key = position.keys[index] ?? null;
  const rest = behindTerms(tables, order, position, index + 1);
  const { expression } = term;
  const ways: Fragment[] = [];
  if (key === null) {
    if (rest !== null) ways.push(sql`(${expression} IS NULL AND ${rest})`);
    if (term.nullsFirst) ways.push(sql`${expression} IS NOT NULL`);
  } else {
    if (rest !== null) ways.push(sql`(${expression} = ${bindKey(term.type, key)} AND ${rest})`);
    ways.push(later(term, key));
    if (!term.nullsFirst) ways.push(sql`${expression} IS NULL`);
  }
  return ways.length === 0 ? null : any(ways);
}

function later({ expression, descending, type }: TravelTerm, key: OrderKey): Fragment {
  return sql`${expression} ${raw(descending ? '<' : '>')} ${bindKey(type, key)}`;
}

/** Rows whose identity stands behind this one. The kind is between cluster and namespace, and the same for all rows. */
function behindIdentity(tables: KindTables, order: TravelOrder, { cluster, key, namespace, name }: Identity): Fragment {
  const sense = raw(order.descending ? '<' : '>');
  const kinds = compareKinds(tables.kind.key, key) * (order.descending ? -1 : 1);
  if (kinds < 0) return sql`${tables.column('cluster')} ${sense} ${cluster}`;
  if (kinds > 0) return sql`${tables.column('cluster')} ${sense}= ${cluster}`;
  const columns = sql`(${tables.column('cluster')}, ${tables.column('namespace')}, ${tables.column('name')})`;
  return sql`${columns} ${sense} (${cluster}, ${namespace ?? ''}, ${name})`;
}

/**
 * Segments of the identity order, for lists of some clusters or namespaces only: a range for each of them, in the order of travel,
 * instead of a walk past all the others. `namespaces` null means all.
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
  const found: Fragment[] = [];
  for (const cluster of travel(clusters)) {
    const inCluster = sql`${tables.column('cluster')} = ${cluster}`;
    // -1: before the position, 0: it is in here, 1: behind it.
    let place = 1;
    if (position !== null) {
      const { identity } = position;
      place = sign * (compareText(cluster, identity.cluster) || compareKinds(tables.kind.key, identity.key));
    }
    if (place < 0) continue;
    if (namespaces === null) {
      found.push(
        place > 0 || position === null
          ? inCluster
          : sql`${inCluster} AND (${tables.column('namespace')}, ${tables.column('name')}) ${sense} (${position.identity.namespace ?? ''}, ${position.identity.name})`,
      );
      continue;
    }
    for (const namespace of travel(namespaces)) {
      const inNamespace = sql`${inCluster} AND ${tables.column('namespace')} = ${namespace}`;
      if (place > 0 || position === null) {
        found.push(inNamespace);
        continue;
      }
      const compared = sign * compareText(namespace, position.identity.namespace ?? '');
      if (compared > 0) found.push(inNamespace);
      if (compared === 0)
        found.push(sql`${inNamespace} AND ${tables.column('name')} ${sense} ${position.identity.name}`);
    }
  }
  return found;
}
