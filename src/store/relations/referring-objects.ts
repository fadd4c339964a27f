/**
 * The objects that name another: from a target back to its references.
 *
 * Each batch is a statement of its own that continues after the last row of the batch before. So others can write between two batches. A
 * reference that comes meanwhile may be missed; it is a change of the referring object.
 */
import type { Database } from '../sqlite/database.ts';
import type { NamedTarget, ObjectName } from '../types/member-reads.ts';
import type { SqlValue } from '../types/statement.ts';

const atOnce = 200;

/** The objects of a kind with an owner reference to this uid. */
export function* ownedObjects(database: Database, kind: number, uid: string): Iterable<readonly ObjectName[]> {
  const statement = database.statement(
    `SELECT o.namespace, o.name, e.id FROM edge AS e CROSS JOIN object AS o ON o.id = e.id
     WHERE e.owner_uid = ? AND e.kind = ? AND e.id > ? ORDER BY e.id LIMIT +?`,
  );
  for (let after = 0; ; ) {
    const rows = statement.all(uid, kind, after, atOnce);
    if (rows.length > 0) yield rows.map(nameOf);
    if (rows.length < atOnce) return;
    after = Number(rows.at(-1)?.[2]);
  }
}

/** The objects of a kind that name an object by its name. */
export function* referringObjects(
  database: Database,
  kind: number,
  cluster: string,
  named: NamedTarget,
): Iterable<readonly ObjectName[]> {
  const statement = database.statement(
    `SELECT o.namespace, o.name, r.place, r.id FROM reference_by_target AS r CROSS JOIN object AS o ON o.id = r.id
     WHERE r.target = ? AND r.kind = ? AND (r.place, r.id) > (?, ?) ORDER BY r.place, r.id LIMIT +?`,
  );
  for (const target of targetsOf(database, cluster, named)) {
    for (let after: readonly [place: number, id: number] = [0, 0]; ; ) {
      const rows = statement.all(target, kind, ...after, atOnce);
      if (rows.length > 0) yield rows.map(nameOf);
      if (rows.length < atOnce) break;
      after = [Number(rows.at(-1)?.[2]), Number(rows.at(-1)?.[3])];
    }
  }
}

/** Ids of the targets that mean the object. The references to a cluster-scoped object have the namespaces of the referring objects. */
function* targetsOf(
  database: Database,
  cluster: string,
  { group, kind, namespaced, namespace, name }: NamedTarget,
): Iterable<number> {
  const named = database.statement('SELECT id FROM named_kind WHERE grp = ? AND kind = ?').get(group, kind)?.[0];
  if (named === undefined) return;
  if (namespaced) {
    const id = database
      .statement('SELECT id FROM target WHERE named = ? AND cluster = ? AND name = ? AND namespace = ?')
      .get(Number(named), cluster, name, namespace)?.[0];
    if (id !== undefined) yield Number(id);
    return;
  }
  const statement = database.statement(
    `SELECT id, namespace FROM target WHERE named = ? AND cluster = ? AND name = ? AND namespace > ? ORDER BY namespace LIMIT +?`,
  );
  const first = database
    .statement("SELECT id FROM target WHERE named = ? AND cluster = ? AND name = ? AND namespace = ''")
    .get(Number(named), cluster, name)?.[0];
  if (first !== undefined) yield Number(first);
  for (let after = ''; ; ) {
    const rows = statement.all(Number(named), cluster, name, after, atOnce);
    for (const [id] of rows) yield Number(id);
    if (rows.length < atOnce) return;
    after = String(rows.at(-1)?.[1]);
  }
}

function nameOf([namespace, name]: readonly SqlValue[]): ObjectName {
  return { namespace: String(namespace), name: String(name) };
}
