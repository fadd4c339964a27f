/**
 * A follower of a store's change log, for tests. Folding the log from the follower's position must give the table, whatever happened to
 * the file. A follower below the log's floor reads the table instead.
 */
import { expect } from 'vitest';
import { readChanges, readLogFloor } from '../../src/store/read/changes.ts';
import { Database } from '../../src/store/sqlite/database.ts';
import { registerSqlFunctions } from '../../src/store/sqlite/sql-functions.ts';
import type { LoggedChange } from '../../src/store/types/change.ts';
import type { Lease } from '../../src/store/types/lease.ts';
import type { Row, Statement } from '../../src/store/types/statement.ts';

/** The objects by identity (`cluster/kind/namespace/name`). */
export type Table = Map<string, { readonly id: number; readonly uid: string; readonly body: string }>;

/** A lease on a separate connection, without threads. */
export function leaseOn(file: string): Lease & { end(): void } {
  const database = new Database(file, { readonly: true });
  registerSqlFunctions(database, { tick: () => {} });
  database.exec('BEGIN');
  const all = async ({ sql, params }: Statement): Promise<readonly Row[]> => database.statement(sql).all(...params);
  const [revision, epoch, layoutVersion] =
    database
      .statement(`SELECT revision, (SELECT value FROM meta WHERE key = 'epoch'), layout_version FROM state`)
      .get() ?? [];
  return {
    revision: Number(revision),
    epoch: String(epoch),
    layoutVersion: Number(layoutVersion),
    all,
    fill: async () => [],
    end: () => database.close(),
  };
}

/** The published objects whose identity has this prefix. */
export async function tableNow(lease: Lease, beginning = ''): Promise<Table> {
  const rows = await lease.all({
    sql: `SELECT o.kind, o.cluster, o.namespace, o.name, o.id, o.uid, coalesce(b.text, json(b.body))
          FROM object o JOIN body b USING (id)
          WHERE o.rowset IN (SELECT rowset FROM resource r WHERE r.kind = o.kind AND r.cluster = o.cluster AND synced = 1)`,
    params: [],
  });
  const table: Table = new Map();
  for (const [kind, cluster, namespace, name, id, uid, body] of rows) {
    const key = `${cluster}/${kind}/${namespace}/${name}`;
    if (key.startsWith(beginning)) table.set(key, { id: Number(id), uid: String(uid), body: String(body) });
  }
  return table;
}

/** Folds the log's changes into a table. At a RESET entry it reads the collection's table again. */
export class Follower {
  table: Table = new Map();
  at = 0;
  readonly file: string;
  constructor(file: string) {
    this.file = file;
  }

  /** Reads the log to its end, and expects the folded table to equal the store's tables. */
  async follow(): Promise<void> {
    const lease = leaseOn(this.file);
    try {
      if (this.at < (await readLogFloor(lease))) {
        this.table = await tableNow(lease);
      } else {
        const changes = await readChanges(lease, { after: this.at, limit: 1_000_000 });
        expect(changes.map((change) => change.seq)).toEqual(changes.map((_, index) => this.at + 1 + index));
        const lastReset = new Map<string, number>();
        for (const change of changes) if (change.type === 'RESET') lastReset.set(collectionOf(change), change.seq);
        for (const change of changes) {
          const reset = lastReset.get(collectionOf(change)) ?? 0;
          if (change.seq < reset) continue;
          if (change.seq === reset) await this.#readAnew(lease, collectionOf(change), change.seq);
          else fold(this.table, change);
        }
      }
      this.at = lease.revision;
      expect(sorted(this.table)).toEqual(sorted(await tableNow(lease)));
    } finally {
      lease.end();
    }
  }

  /** Restores the collection's objects as of the RESET: the present objects with the later changes undone. */
  async #readAnew(lease: Lease, collection: string, seq: number): Promise<void> {
    for (const key of [...this.table.keys()]) if (key.startsWith(collection)) this.table.delete(key);
    const then = await tableNow(lease, collection);
    const since = await readChanges(lease, { after: seq, limit: 1_000_000 });
    for (const change of [...since].reverse()) if (collectionOf(change) === collection) undo(then, change);
    for (const [key, object] of then) this.table.set(key, object);
  }
}

/** The identity prefix of one kind in one cluster, which is the scope of a RESET. */
function collectionOf(change: LoggedChange): string {
  return `${change.cluster}/${change.kindId}/`;
}

function keyOf(change: LoggedChange): string {
  return `${collectionOf(change)}${change.namespace ?? ''}/${change.name}`;
}

function fold(table: Table, change: LoggedChange): void {
  const held = table.get(keyOf(change));
  if (change.type === 'ADDED') expect(held).toBeUndefined();
  else expect([held?.id, held?.uid, held?.body]).toEqual([change.objectId, change.uid, change.before]);
  if (change.type === 'DELETED') table.delete(keyOf(change));
  else table.set(keyOf(change), { id: change.objectId, uid: String(change.uid), body: String(change.after) });
}

function undo(table: Table, change: LoggedChange): void {
  if (change.type === 'ADDED') table.delete(keyOf(change));
  else table.set(keyOf(change), { id: change.objectId, uid: String(change.uid), body: String(change.before) });
}

function sorted(table: Table): unknown[] {
  return [...table.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
}
