/**
 * The guard of a scan's loop, which lets it be cancelled or given up (src/store/sqlite/sql-functions.ts).
 *
 * Asked at one of so many rows. Which ones, follows from the object's id times a number: along an index, the ids of all rows may
 * leave the same rest (every seventh Pod is of one namespace, say), and by their rest alone none of them might ever ask.
 */
import { type Fragment, raw } from '../../store/types/sql.ts';

/** True; calls `tick()` at about one of `rows` rows, a power of two. @param id of the row, an SQL expression of this house. */
export function tickAt(id: string, rows: 8 | 256): Fragment {
  return raw(`(((${id} * 40503 >> 16) & ${rows - 1}) <> 0 OR tick() = 0)`);
}
