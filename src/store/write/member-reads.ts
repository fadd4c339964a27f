/** Reads stored objects in the writer's thread: objects of abstract kinds are made from them. The rows are those of the newest commit. */

import { ownedObjects, referringObjects } from '../relations/referring-objects.ts';
import type { WriteContext } from '../rows/write-context.ts';
import { allHealthColumns, storedHealth } from '../types/kind-layout.ts';
import type {
  DatedObject,
  MemberChanges,
  MemberObject,
  MemberReads,
  NamedTarget,
  ObjectName,
} from '../types/member-reads.ts';
import type { ResourceHandle } from '../types/progress.ts';
import type { SqlValue } from '../types/statement.ts';

const columns = `o.namespace, o.name, o.uid, o.rv, coalesce(b.text, json(b.body)), ${allHealthColumns.map((column) => `o.${column}`).join(', ')}`;
const published = 'o.rowset IN (SELECT rowset FROM resource WHERE kind = +? AND cluster = +? AND synced = 1)';

/** See MemberReads (src/store/types/member-reads.ts). */
export class StoredMembers implements MemberReads {
  readonly #context: WriteContext;

  constructor(context: WriteContext) {
    this.#context = context;
  }

  collections(): readonly ResourceHandle[] {
    return this.#context.resources.all().map(({ handle }) => handle);
  }

  isSynced(cluster: string, key: string): boolean {
    const some = this.#context.resources.all().filter(({ handle }) => handle.cluster === cluster && handle.key === key);
    return some.length > 0 && some.every(({ synced }) => synced);
  }

  page(
    cluster: string,
    key: string,
    after: { readonly namespace: string; readonly name: string } | null,
    limit: number,
  ): readonly MemberObject[] {
    const kind = this.kindId(key);
    if (kind === null) return [];
    return this.#context.session.database
      .statement(
        `SELECT ${columns} FROM object o CROSS JOIN body b ON b.id = o.id
         WHERE o.kind = ? AND o.cluster = ? AND (o.namespace, o.name) > (?, ?) AND +${published}
         ORDER BY o.namespace, o.name LIMIT +?`,
      )
      .all(kind, cluster, after?.namespace ?? '', after?.name ?? '', kind, cluster, limit)
      .map(memberObject);
  }

  oldest(cluster: string, key: string, limit: number): readonly DatedObject[] {
    const kind = this.kindId(key);
    if (kind === null) return [];
    return this.#context.session.database
      .statement(
        `SELECT o.namespace, o.name, o.created FROM object o
         WHERE o.kind = ? AND o.cluster = ? AND +${published}
         ORDER BY o.created IS NULL, o.created, o.namespace, o.name LIMIT +?`,
      )
      .all(kind, cluster, kind, cluster, limit)
      .map(([namespace, name, created]) => ({
        namespace: String(namespace),
        name: String(name),
        created: created == null ? null : Number(created),
      }));
  }

  one(cluster: string, key: string, namespace: string, name: string): MemberObject | null {
    const kind = this.kindId(key);
    if (kind === null) return null;
    const row = this.#context.session.database
      .statement(
        `SELECT ${columns} FROM object o CROSS JOIN body b ON b.id = o.id
         WHERE o.kind = ? AND o.cluster = ? AND o.namespace = ? AND o.name = ? AND +${published}`,
      )
      .get(kind, cluster, namespace, name, kind, cluster);
    return row === undefined ? null : memberObject(row);
  }

  changes(cluster: string, key: string, after: number, limit: number): MemberChanges | null {
    const { session } = this.#context;
    const kind = this.kindId(key);
    if (kind === null) return { names: [], upTo: session.counters.revision };
    const { database } = session;
    const floor = database.statement('SELECT floor FROM kind_log WHERE kind = ?').get(kind)?.[0] ?? 0;
    if (Number(floor) > after) return null;
    const rows = database
      .statement(
        'SELECT seq, type, cluster, namespace, name, uid FROM change WHERE kind = ? AND seq > ? ORDER BY seq LIMIT +?',
      )
      .all(kind, after, limit);
    const own = rows.filter(([, , of]) => of === cluster);
    if (own.some(([, type]) => type === 'RESET')) return null;
    const names = new Map<string, { readonly namespace: string; readonly name: string; readonly uids: string[] }>();
    for (const [, , , namespace, name, uid] of own) {
      const id = JSON.stringify([namespace, name]);
      const changed = names.get(id) ?? { namespace: String(namespace), name: String(name), uids: [] };
      if (typeof uid === 'string') changed.uids.push(uid);
      names.set(id, changed);
    }
    const last = rows.length === limit ? Number(rows.at(-1)?.[0]) : session.counters.revision;
    return { names: [...names.values()], upTo: last };
  }

  knowsReferences(key: string): boolean {
    const kind = this.kindId(key);
    return kind === null || this.#context.relations.places.fillFrom(kind) === null;
  }

  *referrers(cluster: string, key: string, target: NamedTarget): Iterable<readonly ObjectName[]> {
    const kind = this.kindId(key);
    if (kind !== null) yield* referringObjects(this.#context.session.database, kind, cluster, target);
  }

  *owned(key: string, uid: string): Iterable<readonly ObjectName[]> {
    const kind = this.kindId(key);
    if (kind !== null) yield* ownedObjects(this.#context.session.database, kind, uid);
  }

  kindId(key: string): number | null {
    return this.#context.resources.kinds().find((kind) => kind.key === key)?.id ?? null;
  }
}

function memberObject([namespace, name, uid, resourceVersion, text, ...health]: readonly SqlValue[]): MemberObject {
  return {
    namespace: String(namespace),
    name: String(name),
    uid: String(uid),
    resourceVersion: String(resourceVersion),
    text: String(text),
    health: storedHealth(health),
  };
}
