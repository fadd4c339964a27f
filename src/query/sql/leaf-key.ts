/**
 * The key of a leaf as SQL: what orderKey (src/catalog/values/values.ts) says of the value in the body.
 *
 * Texts, integers and booleans are taken natively where SQLite says the same as JavaScript; everything else, and every case in
 * which it does not, goes through order_key: real numbers (SQLite's reading of decimals may differ in the last bit), and texts
 * with \u escapes (a lone surrogate counts as U+FFFD).
 */
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import type { OrderKey } from '../../catalog/values/values.ts';
import { type Fragment, sql } from '../../store/types/sql.ts';
import type { SqlValue } from '../../store/types/statement.ts';
import type { Place } from './json-node.ts';

/** The key of the value at this place, null where it has none. */
export function keyOf(place: Place, type: LeafType): Fragment {
  const slow = sql`order_key(${type}, ${place.json})`;
  const whole = sql`CASE typeof(${place.value}) WHEN 'integer' THEN ${place.value} END`;
  switch (type) {
    case 'String':
      return sql`CASE ${place.type} WHEN 'text' THEN
        CASE WHEN instr(${place.json}, '\\u') = 0 THEN ${place.value} ELSE ${slow} END END`;
    case 'Boolean':
      return sql`CASE ${place.type} WHEN 'true' THEN 1 WHEN 'false' THEN 0 END`;
    case 'Int':
      return sql`CASE ${place.type} WHEN 'integer' THEN ${whole} WHEN 'real' THEN ${slow} END`;
    case 'Int64':
      return sql`CASE ${place.type} WHEN 'integer' THEN ${whole} WHEN 'real' THEN ${slow} WHEN 'text' THEN ${slow} END`;
    case 'Float':
      return sql`CASE WHEN ${place.type} IN ('integer', 'real') THEN ${slow} END`;
    case 'DateTime':
    case 'Duration':
    case 'IP':
      return sql`CASE ${place.type} WHEN 'text' THEN ${slow} END`;
    case 'Quantity':
    case 'IntOrString':
      return sql`CASE WHEN ${place.type} IN ('text', 'integer', 'real') THEN ${slow} END`;
    case 'JSON':
      return sql`CASE WHEN ${place.type} IN ('text', 'integer', 'real', 'true', 'false') THEN ${slow} END`;
  }
}

/**
 * The text at this place for comparison with `needles`, possibly with lone surrogates in SQLite's spelling, which is equal to no
 * needle and part of none unless the needle has U+FFFD itself. Null where there is no text.
 */
export function textOf(place: Place, needles: readonly string[]): Fragment {
  if (needles.some((needle) => needle.includes('\ufffd'))) return keyOf(place, 'String');
  return sql`CASE ${place.type} WHEN 'text' THEN ${place.value} END`;
}

/** A key as a parameter: whole numbers as integers, as which they are stored. */
export function bindKey(type: LeafType, key: OrderKey): string | number | bigint {
  return typeof key === 'number' && type !== 'Float' ? BigInt(key) : key;
}

/** Keys of these types leave SQL as text: they reach beyond what a JavaScript number holds. */
export function isWide(type: LeafType): boolean {
  return type === 'Int' || type === 'Int64' || type === 'DateTime' || type === 'Duration';
}

/** A key as a result column. */
export function keyColumn(type: LeafType, expression: Fragment): Fragment {
  return isWide(type) ? sql`CAST(${expression} AS TEXT)` : expression;
}

/** A key as an item of a JSON list: a wide one as a text of digits, a number as JavaScript writes it. */
export function jsonKey(type: LeafType, expression: Fragment): Fragment {
  if (isWide(type) || type === 'String' || type === 'Boolean') return keyColumn(type, expression);
  return sql`CASE typeof(${expression}) WHEN 'real' THEN json(number_text(${expression})) ELSE ${expression} END`;
}

/** A key as it came out of SQL. */
export function readKey(type: LeafType, value: SqlValue | undefined): OrderKey | null {
  if (value === null || value === undefined) return null;
  if (isWide(type)) return BigInt(String(value));
  return typeof value === 'string' || typeof value === 'number' ? value : String(value);
}
