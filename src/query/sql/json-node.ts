/**
 * Paths into bodies as SQL. The counterpart of valueAt (src/catalog/paths/value-at.ts): both find the same value.
 *
 *   spec.nodeName                   json_type(b.body, '$."spec"."nodeName"'), (b.body ->> '$."spec"."nodeName"'), …
 *   conditions[type=Ready].status   (SELECT … FROM jsonb_each(b.body, '$."conditions"') AS e0
 *                                    WHERE typeof(e0.key) = 'integer' AND <its type is Ready> LIMIT 1)
 *   some element of list            EXISTS (SELECT 1 FROM jsonb_each(b.body, '$."list"') AS e0
 *                                    WHERE typeof(e0.key) = 'integer' AND …)
 *
 * Invariants:
 *   - Field names are bound parameters, as quoted labels inside a JSON path. So a name is never parsed as syntax.
 *   - `->>` never applies to text that is not JSON, because SQLite would raise an error. So element expressions check the type
 *     first.
 */
import type { PathStep } from '../../catalog/tree/path.ts';
import { isRawJson } from '../../catalog/values/raw-json.ts';
import { orderKey, parseExact } from '../../catalog/values/values.ts';
import { any, type Fragment, raw, sql } from '../../store/types/sql.ts';

/** SQL expressions for one value of a document. `type`, `json` and `value` are null for an absent value. */
export interface JsonValue {
  /** The JSON type in SQLite's terms: text, integer, real, true, false, null, object, array. */
  readonly type: Fragment;
  /** The value as JSON text. Integers of any size are exact. */
  readonly json: Fragment;
  /** The value as an SQL value: a string without quotes. */
  readonly value: Fragment;
  /** A table-valued expression with its elements or members; empty for a scalar. */
  readonly members: Fragment;
}

/** The start of a path: a body, or a list element in it. */
export interface JsonNode {
  /** JSON or null. */
  readonly document: Fragment;
  readonly self: JsonValue;
}

/** Makes table aliases that are distinct within one statement. */
export type Aliases = () => Fragment;

export function countedAliases(prefix = 'e'): Aliases {
  let count = 0;
  return () => raw(`${prefix}${count++}`);
}

/** A whole document. */
export function documentNode(document: Fragment): JsonNode {
  return { document, self: valueAtPath(document, '$') };
}

function valueAtPath(document: Fragment, path: string): JsonValue {
  return {
    type: sql`json_type(${document}, ${path})`,
    json: sql`(${document} -> ${path})`,
    value: sql`(${document} ->> ${path})`,
    members: sql`jsonb_each(${document}, ${path})`,
  };
}

/**
 * The expression that `use` makes of the value at `steps`. A `where` step becomes a scalar subquery around the remaining steps.
 * It selects the first matching element of the list.
 */
export function withValue(
  node: JsonNode,
  steps: readonly PathStep[],
  aliases: Aliases,
  use: (value: JsonValue) => Fragment,
): Fragment {
  if (steps.length === 0) return use(node.self);
  let path = '$';
  for (const [index, step] of steps.entries()) {
    switch (step.kind) {
      case 'field':
        path += `.${JSON.stringify(step.name)}`;
        break;
      case 'key':
        path += `.${JSON.stringify(step.key)}`;
        break;
      case 'index':
        path += `[${step.index}]`;
        break;
      case 'where': {
        const element = aliases();
        const object = sql`CASE ${element}.type WHEN 'object' THEN ${element}.value END`;
        const found = withValue(documentNode(sql`${element}.value`), steps.slice(index + 1), aliases, use);
        return sql`(SELECT ${found} FROM jsonb_each(${node.document}, ${path}) AS ${element} WHERE ${isElement(element)}
          AND ${hasText(valueAtPath(object, `$.${JSON.stringify(step.field)}`), step.value)} LIMIT 1)`;
      }
      case 'identity':
      case 'health':
      case 'rollUp':
        throw new Error('invariant broken: the identity and the health are read from columns');
      case 'each':
      case 'several':
        throw new Error('invariant broken: a path of a filter or an order has no step over every element');
    }
  }
  return use(valueAtPath(node.document, path));
}

/** Like withValue, through `each` steps: the least or greatest of the expressions that `use` makes; null without values. */
export function withExtreme(
  node: JsonNode,
  steps: readonly PathStep[],
  aliases: Aliases,
  extreme: 'min' | 'max',
  use: (value: JsonValue) => Fragment,
): Fragment {
  const each = steps.findIndex((step) => step.kind === 'each');
  if (each < 0) return withValue(node, steps, aliases, use);
  return withValue(node, steps.slice(0, each), aliases, (list) => {
    const alias = aliases();
    const below = steps.slice(each + 1);
    const reads = below.length === 0 ? 'text' : 'values';
    const inner = withExtreme(elementNode(list, alias, reads), below, aliases, extreme, use);
    return sql`(SELECT ${raw(extreme)}(${inner}) FROM ${membersOf(list, reads)} AS ${alias} WHERE ${isElement(alias)})`;
  });
}

/**
 * What is read of the elements of a list themselves, as opposed to what is below them:
 *   values   their types and values; SQLite's own loop
 *   text     their JSON text too; the loop of `elements` (src/store/sqlite/list-elements.ts), which gives each its text in one pass
 */
export type ElementReads = 'values' | 'text';

/** The condition that some element of the list at `value` satisfies `condition`. */
export function someElement(
  value: JsonValue,
  aliases: Aliases,
  reads: ElementReads,
  condition: (element: JsonNode) => Fragment,
): Fragment {
  const alias = aliases();
  const holds = condition(elementNode(value, alias, reads));
  return sql`EXISTS (SELECT 1 FROM ${membersOf(value, reads)} AS ${alias} WHERE ${isElement(alias)} AND ${holds})`;
}

function membersOf(list: JsonValue, reads: ElementReads): Fragment {
  return reads === 'text' ? sql`elements(${list.json})` : list.members;
}

/** The current row of `alias`, as an element of the list at `value`. */
function elementNode(value: JsonValue, alias: Fragment, reads: ElementReads): JsonNode {
  const container = sql`CASE WHEN ${alias}.type IN ('object', 'array') THEN ${alias}.value END`;
  // `jsonb_each` has no JSON text for a scalar, and its value loses the digits that SQLite's numbers cannot hold. Finding the text by the
  // element's place takes a pass over the list for each element, so a condition that reads texts has `elements` instead.
  const json =
    reads === 'text'
      ? sql`${alias}.json`
      : sql`(CASE WHEN ${alias}.type IN ('object', 'array') THEN ${alias}.value -> '$'
          ELSE ${value.json} -> ('$[' || ${alias}.key || ']') END)`;
  return {
    document: container,
    self: { type: sql`${alias}.type`, json, value: sql`${alias}.value`, members: sql`jsonb_each(${container})` },
  };
}

/**
 * The row is a list element: elements have integer keys, object members have text keys, and a scalar has a null key. One of 256 rows
 * calls `tick()`, so that a long list inside one object can be cut too.
 */
function isElement(alias: Fragment): Fragment {
  return sql`typeof(${alias}.key) = 'integer' AND (${alias}.key & 255 <> 255 OR tick() = 0)`;
}

/** The condition that there is a value, and it is not null. */
export function isThere(value: JsonValue): Fragment {
  return sql`coalesce(${value.type} <> 'null', 0)`;
}

/** The condition that scalarText (src/catalog/values/values.ts) of the value is `text`. It may be null instead of false. */
function hasText(value: JsonValue, text: string): Fragment {
  const alternatives = [sql`CASE ${value.type} WHEN 'text' THEN ${value.value} END = ${text}`];
  if (text === 'true' || text === 'false') alternatives.push(sql`${value.type} = ${text}`);
  const key = numberKeyOf(text);
  if (key !== null) {
    alternatives.push(
      sql`CASE WHEN ${value.type} IN ('integer', 'real') THEN order_key('JSON', ${value.json}) END = ${key}`,
    );
  }
  return any(alternatives);
}

/** The key of the number whose JavaScript text is `text`; null when no number has this text. */
function numberKeyOf(text: string): string | null {
  if (!/^-?[0-9]/.test(text)) return null;
  let number: unknown;
  try {
    number = parseExact(text);
  } catch {
    return null;
  }
  const written = isRawJson(number) ? number.rawJSON : String(number);
  const key = orderKey('JSON', number);
  return written === text && typeof key === 'string' ? key : null;
}
