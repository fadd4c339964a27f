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
import { compareKeys, compareText, type OrderKey } from '../../catalog/values/values.ts';
import { all, any, type Fragment, join, raw, sql } from '../../store/types/sql.ts';
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
function termKey(tables: KindTables, { path, type, direction, natural, ignoreCase, rank }: OrderTerm): Fragment {
  const ordered = (key: Fragment): Fragment => {
    // lower() folds the same letters as foldCase (src/catalog/values/values.ts).
    const folded = ignoreCase === true ? sql`lower(${key})` : key;
    return natural === true ? sql`natural_key(${type}, ${folded})` : folded;
  };
  if (rank !== undefined) return rankSql(tables, rank);
  const column = tables.keyColumn(path, type);
  if (column !== null) return ordered(column);
  if (path.fold !== undefined) return ordered(foldedKey(tables.body(), path, type, tables.aliases));
  return withExtreme(tables.body(), path.steps, tables.aliases, direction === 'DESC' ? 'max' : 'min', (value) =>
    ordered(sql`(${keyOf(value, type)})`),
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
 * The segments after `position` (or of all rows) in front of `until`, in reading order. A segment is a condition. Requires a first term that
 * is a column with an index on it and the identity.
 */
export function segments(
  tables: KindTables,
  order: TravelOrder,
  { position, until }: PagePositions,
  bounds: FirstTermBounds,
): readonly Fragment[] {
  const [first] = order.terms;
  if (first === undefined) return [join(identityBounds(tables, order, { position, until }), ' AND ')];
  const { expression } = first;
  // With bounds on the term, rows without a key cannot match.
  const bounded = bounds.lower !== null || bounds.upper !== null;
  const without = sql`${expression} IS NULL`;
  const keyOfPosition = (at: Position): OrderKey | null => at.keys[0] ?? null;
  /** The rows with the first key of a position that are behind it in the other terms. */
  const ties = (at: Position, travel: TravelOrder): readonly Fragment[] | null => {
    const key = keyOfPosition(at);
    const rest = behindTerms(tables, travel, at, 1);
    if (rest === null || (key === null && bounded)) return null;
    return [key === null ? without : sql`${expression} = ${bindKey(first.type, key)}`, rest];
  };
  if (position !== null && until !== null && isBefore(first, keyOfPosition(until), keyOfPosition(position))) return [];
  const after = position === null ? null : ties(position, order);
  const before = until === null ? null : ties(until, reversed(order));
  if (position !== null && until !== null && keyOfPosition(position) === keyOfPosition(until)) {
    return after === null || before === null ? [] : [join([...after, ...before], ' AND ')];
  }

  const passed = position === null ? undefined : keyOfPosition(position);
  const end = until === null ? undefined : keyOfPosition(until);
  const range = (): readonly Fragment[] => {
    // All rows with a key are in front of the position, or behind the end.
    if ((passed === null && !first.nullsFirst) || (end === null && first.nullsFirst)) return [];
    const from = passed === undefined || passed === null ? null : later(first, passed);
    const to = end === undefined || end === null ? null : later({ ...first, descending: !first.descending }, end);
    const [low, high] = first.descending ? [to, from] : [from, to];
    const sides = [low ?? bounds.lower, high ?? bounds.upper].filter((side) => side !== null);
    return [sides.length === 0 ? sql`${expression} >= ${least}` : all(sides)];
  };
  const withoutKey = (): readonly Fragment[] => {
    const isPassed = passed === null || (passed !== undefined && first.nullsFirst);
    const isBehind = end === null || (end !== undefined && !first.nullsFirst);
    return bounded || isPassed || isBehind ? [] : [without];
  };
  return [
    ...(after === null ? [] : [join(after, ' AND ')]),
    ...(first.nullsFirst ? [...withoutKey(), ...range()] : [...range(), ...withoutKey()]),
    ...(before === null ? [] : [join(before, ' AND ')]),
  ];
}

/** Does a row with the key `a` come before one with the key `b`, by this term? */
function isBefore({ descending, nullsFirst }: TravelTerm, a: OrderKey | null, b: OrderKey | null): boolean {
  if (a === null || b === null) return a !== b && (a === null) === nullsFirst;
  return descending ? compareKeys(a, b) > 0 : compareKeys(a, b) < 0;
}

/** The positions between which a page is, in its direction of reading; null without a cursor. */
export interface PagePositions {
  /** The page begins behind it. */
  readonly position: Position | null;
  /** The page ends in front of it. */
  readonly until: Position | null;
}

function reversed({ terms, descending }: TravelOrder): TravelOrder {
  return {
    terms: terms.map((term) => ({ ...term, descending: !term.descending, nullsFirst: !term.nullsFirst })),
    descending: !descending,
  };
}

function identityBounds(
  tables: KindTables,
  order: TravelOrder,
  { position, until }: PagePositions,
): readonly Fragment[] {
  const bounds = [
    ...(position === null ? [] : [behindIdentity(tables, order, position.identity)]),
    ...(until === null ? [] : [behindIdentity(tables, reversed(order), until.identity)]),
  ];
  return bounds.length === 0 ? [raw('1')] : bounds;
}

/** The rows between the positions as conditions, for orders that no index serves. */
export function between(
  tables: KindTables,
  order: TravelOrder,
  { position, until }: PagePositions,
): readonly Fragment[] {
  const behind = (at: Position, travel: TravelOrder): Fragment => behindTerms(tables, travel, at, 0) ?? raw('0');
  return [
    ...(position === null ? [] : [behind(position, order)]),
    ...(until === null ? [] : [behind(until, reversed(order))]),
  ];
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
  { position, until }: PagePositions,
  clusters: readonly string[],
  namespaces: readonly string[] | null,
): readonly Fragment[] {
  const sign = order.descending ? -1 : 1;
  const travel = (names: readonly string[]): string[] => [...new Set(names)].sort((a, b) => compareText(a, b) * sign);
  const ends = [
    { at: position, sign, sense: raw(order.descending ? '<' : '>') },
    { at: until, sign: -sign, sense: raw(order.descending ? '>' : '<') },
  ];
  const ranges: Fragment[] = [];
  for (const cluster of travel(clusters)) {
    const inCluster = sql`${tables.column('cluster')} = ${cluster}`;
    // Where the cluster is: negative outside of the end, 0 at it, positive inside.
    const sides = ends.map((end) => ({
      ...end,
      side:
        end.at === null
          ? 1
          : end.sign *
            (compareText(cluster, end.at.identity.cluster) || compareKinds(tables.kind.key, end.at.identity.key)),
    }));
    if (sides.some(({ side }) => side < 0)) continue;
    const open = sides.flatMap(({ at, side, ...end }) =>
      side > 0 || at === null ? [] : [{ ...end, of: at.identity }],
    );
    if (namespaces === null) {
      const columns = sql`(${tables.column('namespace')}, ${tables.column('name')})`;
      ranges.push(
        join(
          [inCluster, ...open.map(({ sense, of }) => sql`${columns} ${sense} (${of.namespace ?? ''}, ${of.name})`)],
          ' AND ',
        ),
      );
      continue;
    }
    for (const namespace of travel(namespaces)) {
      const compared = open.map((end) => ({ ...end, side: end.sign * compareText(namespace, end.of.namespace ?? '') }));
      if (compared.some(({ side }) => side < 0)) continue;
      const here = compared.filter(({ side }) => side === 0);
      ranges.push(
        join(
          [
            inCluster,
            sql`${tables.column('namespace')} = ${namespace}`,
            ...here.map(({ sense, of }) => sql`${tables.column('name')} ${sense} ${of.name}`),
          ],
          ' AND ',
        ),
      );
    }
  }
  return ranges;
}
