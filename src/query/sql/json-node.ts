/**
 * Where values stand inside bodies, as SQL. The counterpart of valueAt (src/catalog/paths/value-at.ts): both find the same value.
 *
 * Invariants: names of fields are bound, as quoted labels inside a JSON path, so no name can be taken for syntax; `->>` is never
 * asked of a text that is not JSON (SQLite would fail, not answer null), which is why elements are guarded by their type.
 */
import type { PathStep } from '../../catalog/tree/path.ts';
import { isRawJson } from '../../catalog/values/raw-json.ts';
import { orderKey, parseExact } from '../../catalog/values/values.ts';
import { any, type Fragment, raw, sql } from '../../store/types/sql.ts';

/** One value of a document. All three are null where there is none. */
export interface Place {
  /** SQLite's word for its JSON type: text, integer, real, true, false, null, object, array. */
  readonly type: Fragment;
  /** The value as JSON text, integers of any size intact. */
  readonly json: Fragment;
  /** The value as SQL has it: a text itself, not its JSON. */
  readonly value: Fragment;
  /** A table-valued expression with its elements or members; nothing when it is no container. */
  readonly members: Fragment;
}

/** What paths are relative to: a body, or an element of a list in it. */
export interface JsonNode {
  /** JSON or null. */
  readonly document: Fragment;
  readonly self: Place;
}

/** Makes table aliases that differ within one statement. */
export type Aliases = () => Fragment;

export function countedAliases(prefix = 'e'): Aliases {
  let count = 0;
  return () => raw(`${prefix}${count++}`);
}

/** A whole document. */
export function documentNode(document: Fragment): JsonNode {
  return { document, self: placeAt(document, '$') };
}

function placeAt(document: Fragment, path: string): Place {
  return {
    type: sql`json_type(${document}, ${path})`,
    json: sql`(${document} -> ${path})`,
    value: sql`(${document} ->> ${path})`,
    members: sql`jsonb_each(${document}, ${path})`,
  };
}

/**
 * What `use` makes of the value at `steps`. A `where` step becomes a scalar subquery around the rest: it takes the first element
 * of the list that fits.
 */
export function withPlace(
  node: JsonNode,
  steps: readonly PathStep[],
  aliases: Aliases,
  use: (place: Place) => Fragment,
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
        const found = withPlace(documentNode(sql`${element}.value`), steps.slice(index + 1), aliases, use);
        return sql`(SELECT ${found} FROM jsonb_each(${node.document}, ${path}) AS ${element} WHERE ${isElement(element)}
          AND ${hasText(placeAt(object, `$.${JSON.stringify(step.field)}`), step.value)} LIMIT 1)`;
      }
      case 'each':
        throw new Error('invariant broken: a path of a filter or an order has no step over every element');
    }
  }
  return use(placeAt(node.document, path));
}

/** The same through `each` steps: the least or greatest of what `use` makes of the values; null when there are none. */
export function withExtreme(
  node: JsonNode,
  steps: readonly PathStep[],
  aliases: Aliases,
  extreme: 'min' | 'max',
  use: (place: Place) => Fragment,
): Fragment {
  const each = steps.findIndex((step) => step.kind === 'each');
  if (each < 0) return withPlace(node, steps, aliases, use);
  return withPlace(node, steps.slice(0, each), aliases, (list) => {
    const alias = aliases();
    const inner = withExtreme(elementNode(list, alias), steps.slice(each + 1), aliases, extreme, use);
    return sql`(SELECT ${raw(extreme)}(${inner}) FROM ${list.members} AS ${alias} WHERE ${isElement(alias)})`;
  });
}

/** Is there an element of the list at `place` for which `condition` holds? */
export function someElement(place: Place, aliases: Aliases, condition: (element: JsonNode) => Fragment): Fragment {
  const alias = aliases();
  const holds = condition(elementNode(place, alias));
  return sql`EXISTS (SELECT 1 FROM ${place.members} AS ${alias} WHERE ${isElement(alias)} AND ${holds})`;
}

/** The element of the list at `place` on which `alias` stands. */
function elementNode(place: Place, alias: Fragment): JsonNode {
  const container = sql`CASE WHEN ${alias}.type IN ('object', 'array') THEN ${alias}.value END`;
  return {
    document: container,
    self: {
      type: sql`${alias}.type`,
      // The alias has no JSON text for a scalar, and its value has lost what does not fit SQLite's numbers.
      json: sql`(${place.json} -> ('$[' || ${alias}.key || ']'))`,
      value: sql`${alias}.value`,
      members: sql`jsonb_each(${container})`,
    },
  };
}

/** Elements of lists have numbers for keys, members of objects have texts, and a scalar has none. */
function isElement(alias: Fragment): Fragment {
  return sql`typeof(${alias}.key) = 'integer'`;
}

/** Is there a value that is not null? */
export function isThere(place: Place): Fragment {
  return sql`coalesce(${place.type} <> 'null', 0)`;
}

/** Has the value this text, as scalarText (src/catalog/paths/value-at.ts) gives it? Possibly null where it has not. */
function hasText(place: Place, text: string): Fragment {
  const ways = [sql`CASE ${place.type} WHEN 'text' THEN ${place.value} END = ${text}`];
  if (text === 'true' || text === 'false') ways.push(sql`${place.type} = ${text}`);
  const key = numberKeyOf(text);
  if (key !== null) {
    ways.push(sql`CASE WHEN ${place.type} IN ('integer', 'real') THEN order_key('JSON', ${place.json}) END = ${key}`);
  }
  return any(ways);
}

/** The key of the number that JavaScript writes as this text; null when it writes none so. */
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
