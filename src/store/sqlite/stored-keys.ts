/** Order keys as stored in promoted columns and in columns of `object`. */

import type { Health } from '../../catalog/health/health-status.ts';
import { leafValueAt, valuesAt } from '../../catalog/paths/value-at.ts';
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
  received: { readonly text: string; readonly value: Readonly<Record<string, unknown>>; readonly health: Health },
): SqlValue[] {
  let exact: unknown;
  return slots.map((slot) => {
    const { path, type } = slot;
    const [step] = path.steps;
    if (step?.kind === 'health') return received.health[step.name];
    // The given value may have been parsed with rounded integers.
    const value = leafValueAt(received.value, path, type);
    if (path.fold === undefined ? isExact(value) : valuesAt(received.value, path).every(isExact)) {
      return storedKey(type, value);
    }
    exact ??= parseExact(received.text);
    return storedKey(type, leafValueAt(exact, path, type));
  });
}

/** Was the value parsed without rounding? Fractions were. */
function isExact(value: unknown): boolean {
  return typeof value !== 'number' || Number.isSafeInteger(value);
}
