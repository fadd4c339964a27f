/**
 * Casts: a value is compared as one of another type. They are for free JSON and texts, whose schema does not tell their
 * meaning.
 *
 *   NUMBER     5 and "5" are the number 5; "five" has no key
 *   QUANTITY   "500m" is less than 1
 *   TIME       "2026-01-31T12:00:00Z"; a day as of the format date, "2026-01-31", is its first moment in UTC
 */
import type { LeafType } from './field-tree.ts';

export type ValueCast = 'NUMBER' | 'QUANTITY' | 'TIME';

const castTypes: Readonly<Record<ValueCast, LeafType>> = { NUMBER: 'Number', QUANTITY: 'Quantity', TIME: 'Time' };

const numeric: readonly LeafType[] = ['Int', 'Int64', 'Float', 'Quantity'];
const free: readonly LeafType[] = ['String', 'IntOrString', 'JSON'];
const castable: Readonly<Record<ValueCast, ReadonlySet<LeafType>>> = {
  NUMBER: new Set([...free, ...numeric]),
  QUANTITY: new Set([...free, ...numeric]),
  TIME: new Set([...free, 'DateTime']),
};

/** The leaf type that values have after the cast; null if no value of `type` can be cast so. */
export function castType(cast: ValueCast, type: LeafType): LeafType | null {
  return castable[cast].has(type) ? castTypes[cast] : null;
}
