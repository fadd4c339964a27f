/**
 * The recorded changes of a set: those of its record and of all members that it has had, in one order.
 *
 *   recorded changes of the record   members web (uid 7c); web (7c), api (91)   ->   the changes of the record, of 7c and of 91, newest first
 *
 * Objects that became members later are there with all their changes, also with those from before.
 */
import { records, text } from '../../base/json.ts';
import { must } from '../../base/must.ts';
import { resourceKey } from '../../catalog/resources/resource.ts';
import { recordOf } from '../../catalog/values/displayed-value.ts';
import type { ChangesSource } from '../../reads/history/recorded-changes.ts';
import { loadChangesOf, loadHistory } from '../../reads/history/recorded-changes.ts';
import type { ObjectSource } from '../../reads/lists/object-source.ts';
import { recordsKey } from '../record/set-record.ts';

/** Recorded changes of the record that are looked through for former members. */
const mostChanges = 200;

/** @param source a record whose `spec` was read @param changeCost values of one change @throws PortolanError QUERY_TOO_COSTLY */
export async function setHistory(
  source: ObjectSource,
  args: { readonly first: number; readonly after: string | null },
  changeCost: number,
): Promise<ChangesSource> {
  const { operation, row } = source;
  const own = must(operation.generation.kind(recordsKey), 'the kind of the record');
  const keys = new Map([[row.uid ?? '', own.key]]);
  /** @param charged members that were charged before the record was read */
  const take = (record: ObjectSource | null, charged: number): void => {
    const members = membersOf(record);
    operation.cost.charge(Math.max(0, members.length - charged));
    for (const member of members) {
      const [uid, plural] = [text(member['uid']), text(member['resource'])];
      if (uid !== undefined && plural !== undefined) {
        keys.set(uid, resourceKey({ group: text(member['group']) ?? '', plural }));
      }
    }
  };
  const first = Math.min(mostChanges, operation.source.limits.maxPageSize);
  const { edges } = await loadHistory(source, { first, after: null }, 1);
  const present = membersOf(source).length;
  // Before the bodies are read. Most states have about as many members as the present one.
  operation.cost.charge((edges.length + 1) * present);
  // The state before a change is that after the next older one. Together, their bodies are read by one statement.
  const oldest = edges.at(-1)?.node.before() ?? null;
  const states = await Promise.all([...edges.map(({ node }) => node.after()), oldest]);
  take(source, 0);
  for (const record of states) take(record, present);
  const kinds = [...new Set(keys.values())].flatMap((key) => operation.generation.kind(key) ?? []);
  const { cluster, namespace } = row;
  const objects = {
    kinds,
    clusters: [cluster],
    namespaces: [namespace ?? ''],
    uids: [...keys.keys()],
    subject: `set ${row.objectId}`,
  };
  return loadChangesOf(operation, objects, args, changeCost);
}

function membersOf(record: ObjectSource | null): readonly Readonly<Record<string, unknown>>[] {
  return records(recordOf(record?.body['spec'])?.['members']);
}
