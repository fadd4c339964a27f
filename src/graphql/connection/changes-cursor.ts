/** The cursor at which a subscription continues behind a list. */
import { allRows, noRows } from '../../access/scope.ts';
import { cursorMarks, encodeLiveCursor, writeLiveCursor } from '../../live/log/live-cursor.ts';
import type { View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';

/**
 * For a subscription over the kinds of the list. A subscription of one of several kinds continues too if the caller sees all objects of
 * the list's kinds; otherwise it begins with a snapshot.
 * @param keys resourceKeys of the list's kinds; null for any.
 */
export function changesCursorOf(lease: Lease, view: View, keys: readonly string[] | null): string {
  const place = { epoch: lease.epoch, sequence: lease.revision };
  if (keys === null) return encodeLiveCursor(place, view.scopeGroups() === null ? allRows : noRows);
  const visible = new Map(keys.map((key) => [key, view.get(key)?.visible ?? noRows]));
  return writeLiveCursor({ ...place, ...cursorMarks(visible) });
}
