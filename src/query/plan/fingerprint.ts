/**
 * The fingerprint of a list: what must be the same for a cursor of one page to mean something in another request.
 */
import { createHash } from 'node:crypto';
import type { ListPlan } from './plan.ts';

/** A short text that differs where kinds, filter or order differ. Page size and projection take no part. */
export function fingerprintOf(plan: Pick<ListPlan, 'kinds' | 'filter' | 'orderBy'>): string {
  return digest({ kinds: plan.kinds.map(({ key }) => key).sort(), filter: plan.filter, orderBy: plan.orderBy });
}

/** A short text that differs where `value` (JSON values, bigints, paths) does; the order of members plays no part. */
export function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value, canonical)).digest('base64url').slice(0, 12);
}

function canonical(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  // A path is its canonical text; its steps say the same again.
  if ('steps' in value && 'text' in value) return value.text;
  if (Object.getPrototypeOf(value) === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
