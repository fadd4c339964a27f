/** Order keys as stored in promoted columns and in columns of `object`. */

import { valueAt } from '../../catalog/paths/value-at.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import type { Path } from '../../catalog/tree/path.ts';
import { orderKey, parseExact } from '../../catalog/values/values.ts';
import type { SqlValue } from '../types/statement.ts';

/** The key of a value as stored and bound. Whole numbers become bigint, because SQLite would bind a JavaScript number as REAL. */
export function storedKey(type: LeafType, value: unknown): SqlValue {
  const key = orderKey(type, value);
  if (type !== 'Float' && typeof key === 'number' && Number.isSafeInteger(key)) return BigInt(key);
  return key ?? null;
}

/** The keys of an object at these paths. `value` is the parsed `text`; its large integers may be rounded. */
export function keysAt(
  slots: readonly { readonly path: Path; readonly type: LeafType }[],
  received: { readonly text: string; readonly value: Readonly<Record<string, unknown>> },
): SqlValue[] {
  let exact: unknown;
  return slots.map((slot) => {
    let value = valueAt(received.value, slot.path);
    // The given value may have been parsed with rounded integers.
    if (typeof value === 'number' && !Number.isSafeInteger(value)) {
      exact ??= parseExact(received.text);
      value = valueAt(exact, slot.path);
    }
    return storedKey(slot.type, value);
  });
}
