/** Checks the kinds that a filter, an order or a group reads through relations. */
import type { Operation } from '../../operation/operation.ts';
import type { Hop } from '../../query/plan/hop.ts';
import { requireReady } from '../../query/read/readiness.ts';
import type { Lease } from '../../store/types/lease.ts';

/**
 * Asserts that the kinds at the ends of these hops are synced. Objects of a kind that is synced in some clusters only are noted as missing.
 * @throws PortolanError CACHE_NOT_READY or RESOURCE_REFUSED
 */
export async function requireRelated(operation: Operation, lease: Lease, hops: readonly Hop[]): Promise<void> {
  const keys = [...new Set(hops.map(({ to }) => to.key))];
  if (keys.length > 0) operation.noteMissing(await requireReady(lease, keys));
}
