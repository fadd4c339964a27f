/**
 * The tick guard of a scan loop. It calls `tick()`, which throws when the scan must end (src/store/sqlite/sql-functions.ts).
 *
 *   tickAt('o.id', 256)   (((o.id * 40503 >> 16) & 255) <> 0 OR tick() = 0)
 *
 * The guard calls `tick()` at about one of `rows` rows, chosen by a hash of the object's id. The id modulo `rows` is not enough:
 * along an index, all ids may have the same remainder, and then no row ticks. Example: every eighth Pod is in one namespace.
 */
import { type Fragment, raw } from '../../store/types/sql.ts';

/** The guard, which is always true. `rows` is a power of two. @param id SQL text of the row's id; never a caller's text. */
export function tickAt(id: string, rows: 8 | 256): Fragment {
  return raw(`(((${id} * 40503 >> 16) & ${rows - 1}) <> 0 OR tick() = 0)`);
}
