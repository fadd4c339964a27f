/** Order keys as they are stored: in promoted columns and in the object's own. */

import { valueAt } from '../../catalog/paths/value-at.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import type { Path } from '../../catalog/tree/path.ts';
import { orderKey, parseExact } from '../../catalog/values/values.ts';
import type { SqlValue } from '../types/statement.ts';

/** The key of a value as it is stored and bound: whole numbers as integers, which a JavaScript number would not be. */
export function storedKey(type: LeafType, value: unknown): SqlValue {
  const key = orderKey(type, value);
  if (type !== 'Float' && typeof key === 'number' && Number.isSafeInteger(key)) return BigInt(key);
  return key ?? null;
}

/** The keys of an object at these paths. `value` is what `text` was parsed to; large integers in it may be rounded. */
export function keysAt(
  slots: readonly { readonly path: Path; readonly type: LeafType }[],
  received: { readonly text: string; readonly value: Readonly<Record<string, unknown>> },
): SqlValue[] {
  let exact: unknown;
  return slots.map((slot) => {
    let value = valueAt(received.value, slot.path);
    // The value handed in may have been parsed without care for large integers.
    if (typeof value === 'number' && !Number.isSafeInteger(value)) {
      exact ??= parseExact(received.text);
      value = valueAt(exact, slot.path);
    }
    return storedKey(slot.type, value);
  });
}
