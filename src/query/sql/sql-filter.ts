/**
 * Filters as SQL conditions. The counterpart of matches.ts; the two agree on every object (oracle.test.ts).
 *
 * Invariants: a condition is true exactly when the filter matches; where it does not, it may be null instead of 0, so `not` takes
 * null as 0. Columns carry a unary plus, so that no condition of a filter can tempt SQLite away from the index that the plan has
 * chosen; the plan's own conditions stand in access-path.ts and sql-order.ts. Text operators work on bytes: LIKE, GLOB and substr
 * of texts end at NUL.
 *
 * A body that SQLite refuses (`body.text` is not null) has only its metadata where these conditions look, and its promoted leaves.
 */
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { foldCase, type OrderKey, orderKey } from '../../catalog/values/values.ts';
import { all, any, type Fragment, isIn, raw, sql } from '../../store/types/sql.ts';
import { foldable } from '../evaluate/matches.ts';
import { type CompareOperator, type Filter, isTextOperator, type LabelRequirement } from '../plan/filter.ts';
import { isThere, type JsonNode, someElement, withPlace } from './json-node.ts';
import type { KindTables } from './kind-tables.ts';
import { bindKey, keyOf, textOf } from './leaf-key.ts';
import { searchCondition } from './search.ts';

export type Comparison = Extract<Filter, { kind: 'compare' }>;

/** The condition under which a row of the base table matches. */
export function filterSql(tables: KindTables, filter: Filter): Fragment {
  return condition(tables, filter, null);
}

/** `element` is what paths are relative to inside a `some`; null for the object itself. */
function condition(tables: KindTables, filter: Filter, element: JsonNode | null): Fragment {
  switch (filter.kind) {
    case 'and':
      return all(filter.of.map((part) => condition(tables, part, element)));
    case 'or':
      return any(filter.of.map((part) => condition(tables, part, element)));
    case 'not':
      return sql`NOT ifnull(${condition(tables, filter.of, element)}, 0)`;
    case 'compare':
      return comparison(tables, filter, element);
    case 'exists':
      return withPlace(element ?? tables.body(), filter.path.steps, tables.aliases, isThere);
    case 'some':
      return withPlace(element ?? tables.body(), filter.path.steps, tables.aliases, (place) =>
        someElement(place, tables.aliases, (inner) => condition(tables, filter.of, inner)),
      );
    case 'labels':
      return all(filter.requirements.map((requirement) => labelCondition(tables, requirement)));
    case 'search':
      return searchCondition(tables, filter);
    case 'namespaces':
      return isIn(
        sql`+${tables.column('namespace')}`,
        filter.in.filter((name) => name !== ''),
      );
    case 'clusters':
      return isIn(sql`+${tables.column('cluster')}`, filter.in);
    case 'ids':
      return sql`(+${tables.column('cluster')}, +${tables.column('namespace')}, +${tables.column('name')}) IN (
        SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(${identityList(tables.kind.key, filter)}))`;
  }
}

/** The identities of one kind, as JSON for json_each: [[cluster, namespace, name], …]. */
export function identityList(key: string, filter: Extract<Filter, { kind: 'ids' }>): string {
  const own = filter.in.filter((id) => id.key === key && id.namespace !== '');
  return JSON.stringify(own.map(({ cluster, namespace, name }) => [cluster, namespace ?? '', name]));
}

function comparison(tables: KindTables, filter: Comparison, element: JsonNode | null): Fragment {
  const { type, operator } = filter;
  const keys = wantedKeys(filter);
  if (keys.length === 0 || (isTextOperator(operator) && type !== 'String')) return raw('0');
  if (operator === 'matches') return pattern(tables, filter, element);
  const fold = filter.ignoreCase && foldable(type, operator);
  const compare = (subject: Fragment, exact: boolean): Fragment =>
    test(operator, type, fold ? sql`lower(${subject})` : subject, keys.map(fold ? foldKey : same), exact);

  const column = element === null ? tables.keyColumn(filter.path, type) : null;
  if (column !== null) return compare(sql`+${column}`, true);
  const ranged = operator === 'lt' || operator === 'lte' || operator === 'gt' || operator === 'gte';
  return withPlace(element ?? tables.body(), filter.path.steps, tables.aliases, (place) =>
    type === 'String' && !ranged
      ? compare(textOf(place, keys.map(String)), false)
      : compare(sql`(${keyOf(place, type)})`, true),
  );
}

function pattern(tables: KindTables, { path, values, ignoreCase }: Comparison, element: JsonNode | null): Fragment {
  const found = (text: Fragment): Fragment =>
    sql`matches_pattern(${String(values[0])}, ${ignoreCase ? 1n : 0n}, ${text})`;
  const column = element === null ? tables.keyColumn(path, 'String') : null;
  if (column !== null) return found(column);
  return withPlace(element ?? tables.body(), path.steps, tables.aliases, (place) =>
    found(sql`(${keyOf(place, 'String')})`),
  );
}

/** The keys of the values that a comparison names; values that have none match nothing. */
export function wantedKeys(filter: Comparison): readonly OrderKey[] {
  const values = filter.operator === 'in' ? filter.values : filter.values.slice(0, 1);
  return values.map((value) => orderKey(filter.type, value)).filter((key) => key !== null);
}

function same(key: OrderKey): OrderKey {
  return key;
}

function foldKey(key: OrderKey): OrderKey {
  return typeof key === 'string' ? foldCase(key) : key;
}

const rangeOperators = { lt: raw('<'), lte: raw('<='), gt: raw('>'), gte: raw('>=') };

/** `exact` says that the subject is a key, well-formed, and not SQLite's own reading of a text. */
export function test(
  operator: CompareOperator,
  type: LeafType,
  subject: Fragment,
  keys: readonly OrderKey[],
  exact: boolean,
): Fragment {
  const [key = ''] = keys;
  const needle = String(key);
  switch (operator) {
    case 'eq':
    case 'in':
      return equalsOne(type, subject, keys);
    case 'lt':
    case 'lte':
    case 'gt':
    case 'gte':
      return sql`${subject} ${rangeOperators[operator]} ${bindKey(type, key)}`;
    case 'startsWith':
      return exact ? prefixRange(subject, needle) : prefix(subject, needle);
    case 'endsWith':
      if (needle === '') return sql`${subject} IS NOT NULL`;
      return sql`substr(CAST(${subject} AS BLOB), ${BigInt(-Buffer.byteLength(needle))}) = CAST(${needle} AS BLOB)`;
    case 'contains':
      return sql`instr(${subject}, ${needle}) > 0`;
    case 'matches':
      throw new Error('invariant broken: patterns are compiled apart');
  }
}

function equalsOne(type: LeafType, subject: Fragment, keys: readonly OrderKey[]): Fragment {
  const bound = keys.map((key) => bindKey(type, key));
  const exact = bound.filter((key) => typeof key !== 'number');
  if (exact.length === bound.length) return isIn(subject, exact);
  return sql`${subject} IN (${bound.map((key) => sql`${key}`).reduce((left, right) => sql`${left}, ${right}`)})`;
}

function prefix(subject: Fragment, needle: string): Fragment {
  if (needle === '') return sql`${subject} IS NOT NULL`;
  return sql`substr(CAST(${subject} AS BLOB), 1, ${BigInt(Buffer.byteLength(needle))}) = CAST(${needle} AS BLOB)`;
}

/** Texts with a prefix are a range, which an index serves: from the prefix up to the next text that has it not. */
function prefixRange(subject: Fragment, needle: string): Fragment {
  const end = afterPrefix(needle);
  return end === null ? sql`${subject} >= ${needle}` : sql`(${subject} >= ${needle} AND ${subject} < ${end})`;
}

/** The first text behind all that start with `needle`; null when there is none. */
export function afterPrefix(needle: string): string | null {
  const points = [...needle];
  for (;;) {
    const last = points.pop()?.codePointAt(0);
    if (last === undefined) return null;
    if (last === 0x10ffff) continue;
    return points.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
  }
}

/** The value of a label of the object `l`; null when it has none. */
export function labelOf(key: string): Fragment {
  return sql`(l.marks ->> ${`$[0].${JSON.stringify(key)}`})`;
}

function labelCondition(tables: KindTables, { key, operator, values }: LabelRequirement): Fragment {
  const value = labelOf(key);
  const fits = operator === 'In' || operator === 'NotIn' ? isIn(value, values) : sql`${value} IS NOT NULL`;
  const label = sql`EXISTS (SELECT 1 FROM object AS l WHERE l.id = ${tables.column('id')} AND ${fits})`;
  return operator === 'In' || operator === 'Exists' ? label : sql`NOT ${label}`;
}
