/** The fingerprint of a list. A cursor is valid in another request only if the fingerprints are equal. */
import { createHash } from 'node:crypto';
import type { ListPlan } from './plan.ts';

/** A short hash of kinds, filter and order. Page size and projection are not part of it. */
export function fingerprintOf(plan: Pick<ListPlan, 'kinds' | 'filter' | 'orderBy'>): string {
  return digest({ kinds: plan.kinds.map(({ key }) => key).sort(), filter: plan.filter, orderBy: plan.orderBy });
}

/**
 * A short hash of `value` (JSON values, bigints, paths). The order of object members does not matter.
 * @param times `written`: relative times count as they are written, and not what they mean now. `meant`: what they mean counts too.
 */
export function digest(value: unknown, times: 'written' | 'meant' = 'written'): string {
  const text = JSON.stringify(value, (_key, each) => canonical(each, times));
  return createHash('sha256').update(text).digest('base64url').slice(0, 12);
}

function canonical(value: unknown, times: 'written' | 'meant'): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  // The canonical text identifies a path; its steps would repeat it.
  if ('steps' in value && 'text' in value) return value.text;
  if (Object.getPrototypeOf(value) === null) return value;
  // A relative time is another time at each request, and a cursor must stay valid: the absolute values are left out.
  const members =
    'relative' in value && times === 'written'
      ? Object.entries(value).filter(([name]) => name !== 'values')
      : Object.entries(value);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}
