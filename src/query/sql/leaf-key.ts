/**
 * The key of a leaf as SQL. The counterpart of orderKey (src/catalog/values/values.ts): both give the same key for a value.
 *
 * SQLite reads texts, integers and booleans natively where its result equals JavaScript's. All other values go through the SQL
 * function `order_key`, among them:
 *   - real numbers, because SQLite's parsing of decimals may differ in the last bit
 *   - texts with \u escapes, because a lone surrogate counts as U+FFFD
 *
 *   keyOf(value, 'Boolean')   CASE json_type(b.body, '$."spec"."n"') WHEN 'true' THEN 1 WHEN 'false' THEN 0 END
 */
import { must } from '../../base/must.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { type Path, pathOf } from '../../catalog/tree/path.ts';
import type { OrderKey } from '../../catalog/values/values.ts';
import { type Fragment, join, raw, sql } from '../../store/types/sql.ts';
import type { SqlValue } from '../../store/types/statement.ts';
import { type Aliases, type JsonNode, type JsonValue, withValue } from './json-node.ts';

/** The key of the value at a path; null where the value has no key of this type. */
export function keyOf(value: JsonValue, type: LeafType): Fragment {
  const slow = sql`order_key(${type}, ${value.json})`;
  const whole = sql`CASE typeof(${value.value}) WHEN 'integer' THEN ${value.value} END`;
  const int32 = sql`CASE WHEN ${value.value} BETWEEN -2147483648 AND 2147483647 THEN ${value.value} END`;
  switch (type) {
    case 'String':
      return sql`CASE ${value.type} WHEN 'text' THEN
        CASE WHEN instr(${value.json}, '\\u') = 0 THEN ${value.value} ELSE ${slow} END ${otherTexts(value)} END`;
    case 'Boolean':
      return sql`CASE ${value.type} WHEN 'true' THEN 1 WHEN 'false' THEN 0 END`;
    case 'Int':
      return sql`CASE ${value.type} WHEN 'integer' THEN ${int32} WHEN 'real' THEN ${slow} END`;
    case 'Int64':
      return sql`CASE ${value.type} WHEN 'integer' THEN ${whole} WHEN 'real' THEN ${slow} WHEN 'text' THEN ${slow} END`;
    case 'Float':
      return sql`CASE WHEN ${value.type} IN ('integer', 'real') THEN ${slow} END`;
    case 'DateTime':
    case 'Time':
    case 'Duration':
    case 'ResourceVersion':
      return sql`CASE ${value.type} WHEN 'text' THEN ${slow} END`;
    case 'Quantity':
    case 'Number':
    case 'IntOrString':
      return sql`CASE WHEN ${value.type} IN ('text', 'integer', 'real') THEN ${slow} END`;
    case 'IP':
    case 'JSON':
      return sql`CASE WHEN ${value.type} IN ('text', 'integer', 'real', 'true', 'false') THEN ${slow} END`;
  }
}

/**
 * The texts of values that are none, as branches of a CASE over the JSON type. `tick()` comes before a number that needs its JSON text:
 * in a list, finding that text takes a pass over the list.
 */
function otherTexts(value: JsonValue): Fragment {
  const text = sql`CASE WHEN tick() = 0 THEN order_key('String', ${value.json}) END`;
  const digits = sql`CASE typeof(${value.value}) WHEN 'integer' THEN CAST(${value.value} AS TEXT) ELSE ${text} END`;
  return sql`WHEN 'integer' THEN ${digits} WHEN 'real' THEN ${text} WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'`;
}

/** The key of the aggregate of the values of lists or of several paths (foldValues), from the body. */
export function foldedKey(body: JsonNode, path: Path, type: LeafType, aliases: Aliases): Fragment {
  const [only] = path.steps;
  if (only?.kind === 'several') {
    const keys = only.of.map(
      (each) => sql`(${withValue(body, each.steps, aliases, (value) => sql`(${keyOf(value, type)})`)})`,
    );
    const fold = must(path.fold, 'several paths have a fold');
    return sql`(SELECT ${raw(fold)}(column1) FROM (VALUES ${join(keys, ', ')}))`;
  }
  const first = path.steps.findIndex(({ kind }) => kind === 'each');
  const below = pathOf(path.steps.slice(first)).text;
  // The function gets null for an absent list, also for one below an absent element.
  const list = withValue(body, path.steps.slice(0, first), aliases, (value) => value.json);
  return sql`fold_key(${path.fold ?? ''}, ${type}, ${below}, ${list})`;
}

/**
 * The text at a path, for comparison with `needles`; null for a value that is not displayed as a text. A lone surrogate counts as U+FFFD, but
 * SQLite's bytes of it equal no needle. So if a needle has U+FFFD, the text is read with keyOf.
 */
export function textOf(value: JsonValue, needles: readonly string[]): Fragment {
  if (needsKey(needles)) return keyOf(value, 'String');
  return sql`CASE ${value.type} WHEN 'text' THEN ${value.value} ${otherTexts(value)} END`;
}

/** Must a text be read with keyOf to be compared with these? */
export function needsKey(needles: readonly string[]): boolean {
  return needles.some((needle) => needle.includes('\ufffd'));
}

/** A key as a parameter. Whole numbers are bound as integers, because columns store them as integers. */
export function bindKey(type: LeafType, key: OrderKey): string | number | bigint {
  return typeof key === 'number' && type !== 'Float' ? BigInt(key) : key;
}

/** Do keys of this type leave SQL as text? They can exceed what a JavaScript number holds exactly. */
export function isWide(type: LeafType): boolean {
  return type === 'Int' || type === 'Int64' || type === 'DateTime' || type === 'Time' || type === 'Duration';
}

/** A key as a result column. */
export function keyColumn(type: LeafType, expression: Fragment): Fragment {
  return isWide(type) ? sql`CAST(${expression} AS TEXT)` : expression;
}

/** A key as an item of a JSON list: a wide key as a string of digits, a number in JavaScript's notation. */
export function jsonKey(type: LeafType, expression: Fragment): Fragment {
  if (isWide(type) || type === 'String' || type === 'Boolean') return keyColumn(type, expression);
  return sql`CASE typeof(${expression}) WHEN 'real' THEN json(number_text(${expression})) ELSE ${expression} END`;
}

/** The key in a result column made by keyColumn. */
export function readKey(type: LeafType, value: SqlValue | undefined): OrderKey | null {
  if (value === null || value === undefined) return null;
  if (isWide(type)) return BigInt(String(value));
  return typeof value === 'string' || typeof value === 'number' ? value : String(value);
}
