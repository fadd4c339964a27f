/**
 * Filters as SQL conditions. The counterpart of matches.ts; the two agree on every object (oracle.test.ts).
 *
 *   status.phase eq Running (slot c3)   +p.c3 = 'Running'
 *   not (status.phase eq Running)       NOT ifnull(+p.c3 = 'Running', 0)
 *   spec.name eq x (no slot)            CASE json_type(b.body, '$."spec"."name"') WHEN 'text'
 *                                         THEN (b.body ->> '$."spec"."name"') END = 'x'
 *   label app notin (a, b)              NOT EXISTS (SELECT 1 FROM object AS l WHERE l.id = o.id
 *                                         AND (l.marks ->> '$[0]."app"') IN ('a', 'b'))
 *
 * Invariants:
 *   - A condition is true exactly when the filter matches. Otherwise it is 0 or null, so `not` treats null as 0.
 *   - Columns have a unary plus. So SQLite keeps the index that the plan has chosen, and uses no filter condition for an index.
 *     The plan's own conditions are in access-path.ts and sql-order.ts.
 *   - Text operators compare bytes, because LIKE, GLOB and substr of texts end at NUL.
 *
 * If SQLite refuses a body (`body.text` is not null), `body` lacks what nests deeper than any path leads (src/store/objects/deep-parts.ts).
 */
import { must } from '../../base/must.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { isDerived, type Path, pathOf } from '../../catalog/tree/path.ts';
import { labelNumber } from '../../catalog/values/label-requirement.ts';
import { foldCase, type OrderKey, orderKey } from '../../catalog/values/values.ts';
import { all, any, type Fragment, isIn, raw, sql } from '../../store/types/sql.ts';
import { foldable } from '../evaluate/matches.ts';
import {
  type CompareOperator,
  type Filter,
  isRangeOperator,
  isTextOperator,
  type LabelRequirement,
  type LeafPath,
  withNamespace,
} from '../plan/filter.ts';
import { anyEnd } from '../plan/hop.ts';
import { hopSql, isUsed } from './hop-sql.ts';
import { type ElementReads, isThere, type JsonNode, someElement, withValue } from './json-node.ts';
import type { KindTables } from './kind-tables.ts';
import { bindKey, foldedKey, keyOf, needsKey, textOf } from './leaf-key.ts';
import { searchCondition } from './search.ts';
import { relatedCount } from './through-sql.ts';

export type Comparison = Extract<Filter, { kind: 'compare' }>;

/** The condition under which a row of the base table matches. */
export function filterSql(tables: KindTables, filter: Filter): Fragment {
  return condition(tables, filter, null);
}

/** Inside a `some`, paths are relative to `element`; it is null for the object itself. */
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
    case 'compareFields':
      return fieldComparison(tables, filter);
    case 'exists':
      if (element === null && isDerived(filter.path)) return sql`${derivedColumn(tables, filter.path)} IS NOT NULL`;
      if (filter.path.fold !== undefined) {
        return sql`${foldedKey(tables.body(), filter.path, filter.type ?? 'JSON', tables.aliases)} IS NOT NULL`;
      }
      return withValue(element ?? tables.body(), filter.path.steps, tables.aliases, isThere);
    case 'some':
      return withValue(element ?? tables.body(), filter.path.steps, tables.aliases, (value) =>
        someElement(value, tables.aliases, elementReads(filter.of), (inner) => condition(tables, filter.of, inner)),
      );
    case 'related':
      return related(tables, filter);
    case 'used': {
      const end = tables.kind.anyAs === null ? filter.of.find(({ key }) => key === tables.kind.key) : anyEnd;
      return end === undefined ? raw('0') : isUsed(tables, end, filter.weak);
    }
    case 'relatedCount': {
      const { hop, operator, values } = filter;
      if (hop.from.key !== tables.kind.key) return raw('0');
      const keys = wantedKeys({ type: 'Int', operator, values });
      return keys.length === 0 ? raw('0') : test(operator, 'Int', relatedCount(tables, hop), keys, true);
    }
    case 'labels':
      return all(
        filter.requirements.map((requirement) =>
          element === null ? labelCondition(tables, requirement) : condition(tables, ofElement(requirement), element),
        ),
      );
    case 'search':
      return searchCondition(tables, filter);
    case 'namespaces':
      return isIn(sql`+${tables.column('namespace')}`, withNamespace(filter.in));
    case 'clusters':
      return isIn(sql`+${tables.column('cluster')}`, filter.in);
    case 'kinds':
      if (tables.kind.anyAs !== null) return isIn(sql`+${tables.objectAlias()}.kind`, idsOfKinds(tables, filter.in));
      return raw(filter.in.includes(tables.kind.key) ? '1' : '0');
    case 'ids':
      if (tables.kind.anyAs !== null) return isIdentityOfAny(tables, filter);
      return sql`(+${tables.column('cluster')}, +${tables.column('namespace')}, +${tables.column('name')}) IN (
        SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(${identityList(tables.kind.key, filter)}))`;
  }
}

/** The requirement on the labels of an element of a list, such as a template: they have no index. */
function ofElement({ key, operator, values }: LabelRequirement): Filter {
  const path = pathOf([
    { kind: 'field', name: 'metadata' },
    { kind: 'field', name: 'labels' },
    { kind: 'key', key },
  ]);
  switch (operator) {
    case 'In':
      return { kind: 'compare', path, type: 'String', operator: 'in', values, ignoreCase: false };
    case 'Exists':
      return { kind: 'exists', path };
    default:
      throw new Error('invariant broken: label selectors are of whole objects');
  }
}

/** The reads of the condition on an element from the element itself. */
function elementReads(filter: Filter): ElementReads {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.of.some((part) => elementReads(part) === 'text') ? 'text' : 'values';
    case 'not':
      return elementReads(filter.of);
    case 'compare': {
      if (filter.path.steps.length > 0 || filter.type === 'Boolean') return 'values';
      const isPlain = filter.type === 'String' && filter.operator !== 'matches' && !isRangeOperator(filter.operator);
      return isPlain && !needsKey(wantedKeys(filter).map(String)) ? 'values' : 'text';
    }
    default:
      return 'values';
  }
}

/** A row of the kind at the other end matches, counts, and is one that the hop leads to. */
function related(tables: KindTables, { hop, of }: Extract<Filter, { kind: 'related' }>): Fragment {
  const kind = hop.from.key === tables.kind.key ? tables.kind.view.end(hop) : undefined;
  if (kind === undefined) return raw('0');
  const inner = tables.inner(kind);
  const { from, where } = hopSql(hop, tables.objectAlias(), inner);
  const matching = condition(inner, of, null);
  return sql`EXISTS (SELECT 1 FROM ${from}${inner.joins()} WHERE ${all([where, inner.tick(), inner.counts(), matching])})`;
}

function idsOfKinds({ kind: { view } }: KindTables, keys: readonly string[]): readonly bigint[] {
  return keys.flatMap((key) => {
    const layout = view.layouts.get(key);
    return layout === undefined ? [] : [BigInt(layout.kindId)];
  });
}

function isIdentityOfAny(tables: KindTables, filter: Extract<Filter, { kind: 'ids' }>): Fragment {
  const keys = [...new Set(filter.in.map(({ key }) => key))];
  return any(
    keys.map((key) =>
      all([
        isIn(sql`+${tables.objectAlias()}.kind`, idsOfKinds(tables, [key])),
        sql`(+${tables.column('cluster')}, +${tables.column('namespace')}, +${tables.column('name')}) IN (
          SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(${identityList(key, filter)}))`,
      ]),
    ),
  );
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
  if (filter.path.fold !== undefined)
    return compare(sql`+${foldedKey(tables.body(), filter.path, type, tables.aliases)}`, true);
  return withValue(element ?? tables.body(), filter.path.steps, tables.aliases, (value) =>
    type === 'String' && !isRangeOperator(operator)
      ? compare(textOf(value, keys.map(String)), false)
      : compare(sql`(${keyOf(value, type)})`, true),
  );
}

/** The column of a part of the identity or the health. */
function derivedColumn(tables: KindTables, path: Path): Fragment {
  return must(tables.keyColumn(path, 'String'), 'a column of a derived path');
}

function fieldComparison(tables: KindTables, filter: Extract<Filter, { kind: 'compareFields' }>): Fragment {
  const { left, operator, right, times } = filter;
  const json = ({ path }: LeafPath): Fragment =>
    isDerived(path)
      ? sql`json_quote(${derivedColumn(tables, path)})`
      : withValue(tables.body(), path.steps, tables.aliases, (value) => value.json);
  return sql`compare_values(${operator}, ${left.type}, ${json(left)}, ${right.type}, ${json(right)}, ${times})`;
}

function pattern(tables: KindTables, { path, values, ignoreCase }: Comparison, element: JsonNode | null): Fragment {
  const found = (text: Fragment): Fragment =>
    sql`matches_pattern(${String(values[0])}, ${ignoreCase ? 1n : 0n}, ${text})`;
  const column = element === null ? tables.keyColumn(path, 'String') : null;
  if (column !== null) return found(column);
  if (path.fold !== undefined) return found(foldedKey(tables.body(), path, 'String', tables.aliases));
  return withValue(element ?? tables.body(), path.steps, tables.aliases, (value) =>
    found(sql`(${keyOf(value, 'String')})`),
  );
}

/** The keys of a comparison's values. A value without a key is left out, because it matches nothing. */
export function wantedKeys(filter: Pick<Comparison, 'type' | 'operator' | 'values'>): readonly OrderKey[] {
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

/**
 * The condition that `subject` compares with `keys` by `operator`.
 * @param exact whether the subject is a well-formed key. Otherwise it is a text as SQLite decodes it (textOf).
 */
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
      throw new Error('invariant broken: patterns are compiled by `pattern`');
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

/** Texts with a prefix as a range that an index can serve: `startsWith Run` is `>= 'Run' AND < 'Ruo'`. */
function prefixRange(subject: Fragment, needle: string): Fragment {
  const end = afterPrefix(needle);
  return end === null ? sql`${subject} >= ${needle}` : sql`(${subject} >= ${needle} AND ${subject} < ${end})`;
}

/** The least text greater than all texts that start with `needle`; null when no text is. */
export function afterPrefix(needle: string): string | null {
  const points = [...needle];
  for (;;) {
    const last = points.pop()?.codePointAt(0);
    if (last === undefined) return null;
    if (last === 0x10ffff) continue;
    return points.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
  }
}

/** The value of this label of the object `l`; null without the label. */
export function labelOf(key: string): Fragment {
  return sql`(l.marks ->> ${`$[0].${JSON.stringify(key)}`})`;
}

function labelCondition(tables: KindTables, { key, operator, values }: LabelRequirement): Fragment {
  const label = sql`EXISTS (SELECT 1 FROM object AS l WHERE l.id = ${tables.column('id')} AND ${labelMatch(key, operator, values)})`;
  return operator === 'NotIn' || operator === 'DoesNotExist' ? sql`NOT ${label}` : label;
}

/** The condition on the label of the object `l`; for a negative operator, that of its opposite. */
function labelMatch(key: string, operator: LabelRequirement['operator'], values: readonly string[]): Fragment {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return isIn(labelOf(key), values);
    case 'Exists':
    case 'DoesNotExist':
      return sql`${labelOf(key)} IS NOT NULL`;
    case 'Gt':
    case 'Lt': {
      const number = sql`order_key('Int64', json_quote(${labelOf(key)}))`;
      return sql`${number} ${raw(operator === 'Gt' ? '>' : '<')} ${must(labelNumber(values[0]), 'an integer')}`;
    }
  }
}
