/**
 * The roles and bindings of all clusters, kept equal to the store.
 *
 *   readVersion(lease) -> current for this snapshot: nothing to do
 *                      -> newer entries in the change log: they are applied
 *                      -> another rowset, another epoch, or entries lost: everything is read again
 *
 * Invariant: after `catchUp(lease)`, the indexes are those of the lease's snapshot or newer. They are replaced as a whole or advance in
 * the order of the log; a read that fails leaves them as they were, or behind.
 */

import { RbacIndex } from '../../access/rbac-index.ts';
import { rbacKeys } from '../../access/rbac-objects.ts';
import { PortolanError } from '../../base/errors.ts';
import { readChanges, readLogFloor } from '../../store/read/changes.ts';
import type { LoggedChange } from '../../store/types/change.ts';
import type { Lease } from '../../store/types/lease.ts';
import { isIn, raw, sql } from '../../store/types/sql.ts';
import type { Row, Statement } from '../../store/types/statement.ts';

/** Changes applied between two looks at the log, and objects read by one statement. */
const batch = 2000;

/** A kind as it was read. */
interface ReadKind {
  readonly kindId: number;
  /** JSON list of its collections: cluster, namespace, rowset, synced. */
  readonly collections: string;
  /** All changes up to here are applied. */
  sequence: number;
}

interface Roles {
  readonly epoch: string;
  /** By resourceKey. */
  readonly kinds: ReadonlyMap<string, ReadKind>;
  readonly indexes: ReadonlyMap<string, RbacIndex>;
}

/** One row of the version: a kind in a snapshot. */
interface KindVersion {
  readonly key: string;
  readonly kindId: number;
  /** The sequence number of its newest change in the log; 0 without one. */
  readonly newest: number;
  readonly collections: string;
  /** JSON list of pairs: cluster, and since when its collection of the kind is stale. */
  readonly stale: string;
}

interface Collection {
  readonly cluster: string;
  readonly rowset: number;
  readonly synced: boolean;
}

export class StoredRoles {
  /** Reads the version of the roles in a snapshot. */
  readonly statement: Statement = sql`SELECT k.key, k.id, (SELECT max(c.seq) FROM change AS c WHERE c.kind = k.id),
      (SELECT json_group_array(json_array(r.cluster, r.namespace, r.rowset, r.synced) ORDER BY r.id) FROM resource AS r WHERE r.kind = k.id),
      (SELECT json_group_array(json_array(r.cluster, r.status ->> '$.staleSince')) FROM resource AS r
        WHERE r.kind = k.id AND r.status ->> '$.staleSince' IS NOT NULL)
    FROM kind AS k WHERE ${isIn(raw('k.key'), rbacKeys)} ORDER BY k.key`;
  #roles: Roles | null = null;
  #kindIds: ReadonlySet<number> = new Set();
  /** Clusters in which all four kinds are synced. */
  #complete: ReadonlySet<string> = new Set();
  /** Since when some of the kinds may lag behind the API server: milliseconds since the epoch, by cluster. */
  #stale: ReadonlyMap<string, number> = new Map();
  #staleText = '';
  #catching: Promise<unknown> = Promise.resolve();

  /** The ids of those of the four kinds that the store has. */
  get kindIds(): ReadonlySet<number> {
    return this.#kindIds;
  }

  /** The index of a cluster; null while not all four kinds are synced in it. */
  indexOf(cluster: string): RbacIndex | null {
    return this.#complete.has(cluster) ? (this.#roles?.indexes.get(cluster) ?? null) : null;
  }

  /** Since when the roles of the cluster may lag behind the API server: milliseconds since the epoch; null while they do not. */
  staleSince(cluster: string): number | null {
    return this.#stale.get(cluster) ?? null;
  }

  /** Are the indexes those of the snapshot in which `statement` gave these rows, or newer? */
  isCurrent(epoch: string, rows: readonly Row[]): boolean {
    const roles = this.#roles;
    if (roles === null || roles.epoch !== epoch) return false;
    const versions = versionsIn(rows);
    this.#noteStale(versions);
    return versions.every(({ key, kindId, newest, collections }) => {
      const known = roles.kinds.get(key);
      return known?.kindId === kindId && known.collections === collections && newest <= known.sequence;
    });
  }

  /** Catches up with the lease's snapshot. True if something changed. @throws what the lease throws. */
  catchUp(lease: Lease): Promise<boolean> {
    const caught = this.#catching.then(() => this.#catchUp(lease));
    this.#catching = caught.catch(() => {});
    return caught;
  }

  async #catchUp(lease: Lease): Promise<boolean> {
    const rows = await lease.all(this.statement);
    if (this.isCurrent(lease.epoch, rows)) return false;
    const versions = versionsIn(rows);
    if (!(await this.#apply(lease, versions))) await this.#readAll(lease, versions);
    return true;
  }

  /** Applies the newer entries of the log. False if the log does not tell all changes. */
  async #apply(lease: Lease, versions: readonly KindVersion[]): Promise<boolean> {
    const roles = this.#roles;
    if (roles === null || roles.epoch !== lease.epoch || versions.length !== roles.kinds.size) return false;
    for (const { key, kindId, newest, collections } of versions) {
      const known = roles.kinds.get(key);
      if (known === undefined || known.kindId !== kindId || known.collections !== collections) return false;
      if (newest <= known.sequence) continue;
      if (known.sequence < (await readLogFloor(lease, kindId))) return false;
      while (newest > known.sequence) {
        const changes = await readChanges(lease, { kindId, after: known.sequence, limit: batch });
        for (const change of changes) if (!applyChange(roles.indexes, key, change)) return false;
        known.sequence = changes.length < batch ? lease.revision : (changes.at(-1)?.seq ?? lease.revision);
      }
    }
    return true;
  }

  async #readAll(lease: Lease, versions: readonly KindVersion[]): Promise<void> {
    const indexes = new Map<string, RbacIndex>();
    const kinds = new Map<string, ReadKind>();
    const synced = new Map<string, Set<string>>();
    for (const { key, kindId, collections } of versions) {
      for (const { cluster, rowset, synced: isSynced } of collectionsIn(collections)) {
        if (!isSynced) continue;
        const index = indexes.get(cluster) ?? new RbacIndex();
        indexes.set(cluster, index);
        synced.set(cluster, (synced.get(cluster) ?? new Set()).add(key));
        await readRowset(lease, rowset, (namespace, name, body) => index.put(key, namespace, name, body));
      }
      kinds.set(key, { kindId, collections, sequence: lease.revision });
    }
    const unsynced = new Set(
      versions.flatMap(({ collections }) =>
        collectionsIn(collections).flatMap((each) => (each.synced ? [] : each.cluster)),
      ),
    );
    this.#roles = { epoch: lease.epoch, kinds, indexes };
    this.#kindIds = new Set(versions.map(({ kindId }) => kindId));
    this.#complete = new Set(
      [...synced].flatMap(([cluster, keys]) =>
        keys.size === rbacKeys.length && !unsynced.has(cluster) ? cluster : [],
      ),
    );
    this.#noteStale(versions);
  }

  #noteStale(versions: readonly KindVersion[]): void {
    const text = versions.map(({ stale }) => stale).join();
    if (text === this.#staleText) return;
    this.#staleText = text;
    const stale = new Map<string, number>();
    for (const { stale: pairs } of versions) {
      for (const [cluster, since] of JSON.parse(pairs) as readonly [string, number][]) {
        stale.set(cluster, Math.min(since, stale.get(cluster) ?? since));
      }
    }
    this.#stale = stale;
  }
}

function versionsIn(rows: readonly Row[]): readonly KindVersion[] {
  return rows.map(([key, kindId, newest, collections, stale]) => ({
    key: String(key),
    kindId: Number(kindId),
    newest: Number(newest ?? 0),
    collections: String(collections),
    stale: String(stale),
  }));
}

function collectionsIn(text: string): readonly Collection[] {
  const found = JSON.parse(text) as readonly [cluster: string, namespace: string, rowset: number, synced: number][];
  return found.map(([cluster, , rowset, synced]) => ({ cluster, rowset, synced: synced === 1 }));
}

/** Calls `take` for each object of a rowset. */
async function readRowset(
  lease: Lease,
  rowset: number,
  take: (namespace: string, name: string, body: unknown) => void,
): Promise<void> {
  let after = ['', ''];
  for (;;) {
    const [namespace = '', name = ''] = after;
    const rows = await lease.all(
      sql`SELECT o.namespace, o.name, coalesce(b.text, json(b.body)) FROM object AS o CROSS JOIN body AS b ON b.id = o.id
        WHERE o.rowset = ${BigInt(rowset)} AND (o.namespace, o.name) > (${namespace}, ${name})
        ORDER BY o.namespace, o.name LIMIT ${BigInt(batch)}`,
    );
    for (const [inNamespace, of, body] of rows) take(String(inNamespace), String(of), JSON.parse(String(body)));
    const last = rows.at(-1);
    if (rows.length < batch || last === undefined) return;
    after = [String(last[0]), String(last[1])];
  }
}

/** False for an entry that does not tell the change. */
function applyChange(indexes: ReadonlyMap<string, RbacIndex>, key: string, change: LoggedChange): boolean {
  const { type, cluster, namespace, name, after } = change;
  const index = indexes.get(cluster);
  if (type === 'RESET' || index === undefined) return false;
  if (type === 'DELETED') {
    index.remove(key, namespace ?? '', name);
    return true;
  }
  if (after === null) return false;
  index.put(key, namespace ?? '', name, JSON.parse(after));
  return true;
}

/** The error for a cluster whose roles are not known. */
export function rightsUnknown(cluster: string, why: string): PortolanError {
  return new PortolanError(
    'UPSTREAM_UNAVAILABLE',
    `What callers may see in the cluster ${cluster} is not known: ${why}.`,
    { details: { cluster } },
  );
}
