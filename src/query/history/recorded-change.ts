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

/** By how much the clocks of the API server and of the gateway may differ. */
const skewMs = 5000;

/**
 * Who made a change: managers whose time is newer than before the change. A manager that was not among the newest and has their time is
 * newer too. A manager that changes the object twice in a second has the same time twice, and the second change has no manager. So do
 * changes that no manager records: a deletion mark, and a removal of fields. After the removal of all fields of the newest manager, an
 * older one is the newest.
 * @param managers of the change
 * @param known those of the entry before it of the same object
 * @param at when the change was committed, in milliseconds since the epoch
 */
function whoChanged(
  managers: readonly FieldManager[],
  known: readonly FieldManager[],
  at: number,
): readonly FieldManager[] {
  const [newest] = known;
  if (newest === undefined) return managers.filter(({ time }) => Math.abs(at - Date.parse(time)) <= skewMs);
  const key = ({ manager, operation, subresource, time }: FieldManager): string =>
    JSON.stringify([manager, operation, subresource, time]);
  const keys = new Set(known.map(key));
  return managers.filter((manager) => Date.parse(manager.time) >= Date.parse(newest.time) && !keys.has(key(manager)));
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
    sql`SELECT c.seq, c.type, c.kind, c.cluster, c.object, c.namespace, c.name, c.uid, c.rv, c.at, c.managers, p.managers
      FROM json_each(${JSON.stringify(seqs)}) AS w CROSS JOIN change AS c ON c.seq = w.value
      LEFT JOIN change AS p ON p.seq =
        (SELECT n.seq FROM change AS n INDEXED BY change_object WHERE n.object = c.object AND n.seq < c.seq ORDER BY n.seq DESC LIMIT 1)
      WHERE ${tickAt('w.key', 256)}`,
  );
  return new Map(
    rows.map((row) => {
      const entry = entryIn(row);
      const [managers, before] = row.slice(10).map((text) => readManagers(textOrNull(text)));
      const change: RecordedChange = {
        ...entry,
        type: entry.type as RecordedChange['type'],
        managers: whoChanged(managers ?? [], before ?? [], entry.at),
      };
      return [change.seq, change];
    }),
  );
}
