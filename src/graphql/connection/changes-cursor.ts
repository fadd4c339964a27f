/** The cursor at which a subscription continues behind a list. */
import { allRows, noRows, type Scope } from '../../access/scope.ts';
import { encodeLiveCursor } from '../../live/live-cursor.ts';
import type { View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';

/**
 * A subscription follows one kind. If the list has several, and the caller does not see all of their objects, the subscription begins
 * with a snapshot.
 * @param keys resourceKeys of the list's kinds; null for any.
 */
export function changesCursorOf(lease: Lease, view: View, keys: readonly string[] | null): string {
  return encodeLiveCursor({ epoch: lease.epoch, sequence: lease.revision }, listed(view, keys));
}

function listed(view: View, keys: readonly string[] | null): Scope {
  const [only, ...others] = keys ?? [];
  if (only !== undefined && others.length === 0) return view.get(only)?.visible ?? noRows;
  return view.scopeGroups() === null ? allRows : noRows;
}
