/**
 * The displayed form of a stored value, by its type in the field tree. The executor's resolvers and prepared answers
 * (src/store/pages/page-writer.ts) both use it.
 *
 * A value that does not fit its schema is a misfit: an object instead of a list, a text instead of a number. It is displayed as null, with an
 * error at its field. `raw` and `value(path:)` show it unchanged. A number or a boolean fits a String, as its JSON text.
 *
 *   ["a", 5, {"b": 1}] as a list of String     ["a", "5", null], with an error at the index 2
 */
import { isRecord } from '../../base/json.ts';
import type { FieldType, LeafType } from '../tree/field-tree.ts';
import { isRawJson, rawJsonText } from './raw-json.ts';
import { orderKey, scalarText, wanted } from './values.ts';

type Json = Readonly<Record<string, unknown>>;

/** Is the value a JSON object? */
export function isObject(value: unknown): value is Json {
  return isRecord(value) && !isRawJson(value);
}

/** The value as a JSON object, or null for other values. */
export function recordOf(value: unknown): Json | null {
  return isObject(value) ? value : null;
}

/** The own member of that name; properties inherited from JavaScript's Object do not count. */
export function memberOf(object: Json, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** A stored value that does not fit its type. */
interface Misfit {
  readonly value: unknown;
  readonly type: FieldType;
}

/** Makes what stands for a misfit in the displayed value. */
export type OnMisfit = (misfit: Misfit) => unknown;

/** May items of lists be null? If not, null items are left out. */
export type Items = 'nullable' | 'nonNull';

/** The displayed value of an object's member, by its type. */
export function displayedMember(field: DisplayedField, object: Json, onMisfit: OnMisfit): unknown {
  return shown(field, memberOf(object, field.name), onMisfit);
}

/** A field of an object, as data. */
export interface DisplayedField {
  readonly name: string;
  readonly type: FieldType;
  readonly items: Items;
}

/** The value as its type displays it; null for an absent one. A value that does not fit is what `onMisfit` makes of it. */
export function shown(of: Omit<DisplayedField, 'name'>, value: unknown, onMisfit: OnMisfit): unknown {
  if (value === null || value === undefined) return null;
  const { type } = of;
  switch (type.kind) {
    case 'list':
      return Array.isArray(value) ? shownItems({ ...of, type: type.of }, value, onMisfit) : onMisfit({ value, type });
    case 'object':
    case 'stringMap':
    case 'map':
      return recordOf(value) ?? onMisfit({ value, type });
    case 'leaf': {
      const leaf = shownLeaf(type, value);
      return leaf === undefined ? onMisfit({ value, type }) : leaf;
    }
  }
}

function shownItems(item: Omit<DisplayedField, 'name'>, values: readonly unknown[], onMisfit: OnMisfit): unknown {
  if (item.type.kind === 'leaf' && item.type.type === 'JSON') return values;
  if (item.items === 'nullable') return values.map((value) => shown(item, value, onMisfit));
  let isLost = false;
  const items = values.map((value) =>
    shown(item, value, (misfit) => {
      const instead = onMisfit(misfit);
      isLost ||= instead === null;
      return instead;
    }),
  );
  // An item that may not be null takes the list with it (GraphQL, 6.4.4).
  return isLost ? null : items.filter((shown) => shown !== null);
}

/**
 * Texts that surely fit, as patterns; other texts are parsed. Nearly all values have these forms. February 29 is none of them, because the
 * year decides.
 */
export const plainForms = {
  DateTime: String.raw`[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))T(?:[01][0-9]|2[0-3])(?::[0-5][0-9]){2}(?:\.[0-9]{1,9})?Z`,
  Duration: String.raw`-?(?:[0-9]{1,5}(?:\.[0-9]{1,9})?(?:ns|us|ms|s|m|h)){1,3}`,
  Quantity: String.raw`[+-]?[0-9]{1,18}(?:\.[0-9]{1,9})?(?:[numkMGTPE]|[KMGTPE]i)?`,
} as const;

const isPlain = {
  DateTime: new RegExp(`^${plainForms.DateTime}$`),
  Duration: new RegExp(`^${plainForms.Duration}$`),
  Quantity: new RegExp(`^${plainForms.Quantity}$`),
} as const;

/**
 * The displayed value of a leaf; undefined for a misfit. Invariant: a value of another type than JSON is displayed exactly if it has an
 * order key.
 */
function shownLeaf({ type, values }: Extract<FieldType, { kind: 'leaf' }>, value: unknown): unknown {
  switch (type) {
    case 'JSON':
      return value;
    case 'String':
    case 'IP': {
      const text = scalarText(value);
      // An object of an abstract kind may be older than the list of values. It is made anew after it, so this is no error.
      if (values !== undefined) return text !== null && values.includes(text) ? text : null;
      return text ?? undefined;
    }
    case 'Float':
      return orderKey(type, value) ?? undefined;
    case 'DateTime':
    case 'Duration':
    case 'Quantity':
      if (typeof value === 'string' && isPlain[type].test(value)) return value;
      return orderKey(type, value) === null ? undefined : value;
    default:
      return orderKey(type, value) === null ? undefined : value;
  }
}

/** The type of a stored value, and the values that its type takes, as parts of a sentence. */
export function describeMisfit({ value, type }: Misfit): { readonly stored: string; readonly wanted: string } {
  const stored = Array.isArray(value) ? 'list' : typeof value === 'string' ? 'text' : storedType(value);
  switch (type.kind) {
    case 'list':
      return { stored, wanted: 'a list' };
    case 'object':
    case 'stringMap':
    case 'map':
      return { stored, wanted: 'an object' };
    case 'leaf':
      return { stored, wanted: wanted[type.type] };
  }
}

function storedType(value: unknown): string {
  return isRawJson(value) ? 'number' : typeof value;
}

/** An int64 as a number if a double holds it exactly, otherwise as its digits; undefined for a value that is not an integer. */
export function displayedInt64(value: unknown): number | string | undefined {
  if (isRawJson(value)) return rawJsonText(value);
  if (typeof value === 'bigint') {
    return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
      ? Number(value)
      : `${value}`;
  }
  if (typeof value === 'string' && /^[+-]?\d+$/.test(value)) return displayedInt64(BigInt(value));
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}

/** An integer that a double does not hold, as text; other values as they are. In a Float leaf it is the nearest number. */
export function displayedInteger(type: LeafType, value: unknown): unknown {
  if (!isRawJson(value)) return value;
  const text = rawJsonText(value);
  return type === 'Float' ? orderKey(type, value) : text;
}

/** A quantity as text, also where it is written as a number. */
export function displayedQuantity(value: unknown): unknown {
  if (isRawJson(value)) return rawJsonText(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}
