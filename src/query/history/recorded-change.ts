/** Recorded changes: entries of the change log as answers show them, without bodies. */
import { type FieldManager, readManagers } from '../../store/objects/field-managers.ts';
import { entryIn, textOrNull } from '../../store/read/changes.ts';
import type { LoggedEntry } from '../../store/types/change.ts';
import type { Lease } from '../../store/types/lease.ts';
import { sql } from '../../store/types/sql.ts';
import { tickAt } from '../sql/tick.ts';

export interface RecordedChange extends LoggedEntry {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly managers: readonly FieldManager[];
}

/** An entry's managers, and when it was committed. */
interface Managed {
  /** JSON of `newestManagers`. */
  readonly managers: string | null;
  readonly at: number;
}

/** By how much the clocks of the API server and of the gateway may differ. */
const skewMs = 60_000;
/** Times of managers are whole seconds: a manager that changes an object again so soon may leave the same time. */
const sameTimeMs = 2000;

/**
 * Who made a change. Managers whose time is newer than before the change did. A manager that changes the object twice in a second has the
 * same time twice. A deletion mark and other changes that no manager records
 * leave all times, and name no manager.
 * @param before the entry before it of the same object; null if the log has none.
 */
function whoChanged(change: Managed, before: Managed | null): readonly FieldManager[] {
  const managers = readManagers(change.managers);
  if (before === null || before.managers === null) {
    return managers.filter(({ time }) => Math.abs(change.at - Date.parse(time)) <= skewMs);
  }
  const key = ({ manager, operation, subresource, time }: FieldManager): string =>
    JSON.stringify([manager, operation, subresource, time]);
  const known = new Set(readManagers(before.managers).map(key));
  const added = managers.filter((manager) => !known.has(key(manager)));
  return added.length === 0 && change.at - before.at > sameTimeMs ? [] : added.length === 0 ? managers : added;
}

/**
 * The entries with these sequence numbers, by number. Read the numbers in the same lease from a statement with the caller's scope, or of
 * an object that the caller sees.
 */
export async function recordedChanges(
  lease: Lease,
  seqs: readonly number[],
): Promise<ReadonlyMap<number, RecordedChange>> {
  const rows = await lease.all(
    sql`SELECT c.seq, c.type, c.kind, c.cluster, c.object, c.namespace, c.name, c.uid, c.rv, c.at, c.managers, p.managers, p.at
      FROM json_each(${JSON.stringify(seqs)}) AS w CROSS JOIN change AS c ON c.seq = w.value
      LEFT JOIN change AS p ON p.seq =
        (SELECT n.seq FROM change AS n INDEXED BY change_object WHERE n.object = c.object AND n.seq < c.seq ORDER BY n.seq DESC LIMIT 1)
      WHERE ${tickAt('w.key', 256)}`,
  );
  return new Map(
    rows.map((row) => {
      const entry = entryIn(row);
      const [managers, before, beforeAt] = row.slice(10);
      const previous = beforeAt === null ? null : { managers: textOrNull(before), at: Number(beforeAt) };
      const change: RecordedChange = {
        ...entry,
        type: entry.type as RecordedChange['type'],
        managers: whoChanged({ managers: textOrNull(managers), at: entry.at }, previous),
      };
      return [change.seq, change];
    }),
  );
}
