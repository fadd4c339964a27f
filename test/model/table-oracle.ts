/**
 * Reads the store as its readers do, on connections of its own, and compares it with what the model's server was.
 *
 *   I1, I7: whenever anybody looks, each table is the server's collection as it was at the table's lastResourceVersion, body by body
 *   I2, I4: each entry of the change log fits what is held, and the entries lead from what was held to the table
 *   I3:     no lastResourceVersion is below an earlier one, where versions have an order: a front end that is behind may send an older
 *           bookmark, and without an order nobody can tell
 */
import { expect } from 'vitest';
import { readChanges } from '../../src/store/read/changes.ts';
import { Database } from '../../src/store/sqlite/database.ts';
import { registerSqlFunctions } from '../../src/store/sqlite/sql-functions.ts';
import type { Lease } from '../../src/store/types/lease.ts';
import type { Row } from '../../src/store/types/statement.ts';
import { entriesAmiss } from '../kit/store-file.ts';
import type { ModelServer } from './model-server.ts';
import { type ModelObject, revisionOf } from './model-storage.ts';

interface Published {
  readonly id: number;
  readonly key: string;
  readonly kind: number;
  readonly version: string;
  readonly rowset: number;
}

interface Seen extends Published {
  readonly rows: readonly Row[];
}

const publishedSql = `SELECT r.id, k.key, r.kind, r.last_rv, r.rowset FROM resource r JOIN kind k ON k.id = r.kind
  WHERE r.cluster = ? AND r.synced = 1`;
const rowsSql = `SELECT o.namespace, o.name, o.uid, o.rv, coalesce(b.text, json(b.body)), o.id
  FROM object o JOIN body b ON b.id = o.id WHERE o.rowset = ? ORDER BY o.namespace || '/' || o.name`;

export class TableOracle {
  readonly #server: ModelServer;
  readonly #cluster: string;
  readonly #reader: Database;
  readonly #lender: Database;
  /** By id of the resource in the store. */
  readonly #versions = new Map<number, number>();
  /** What somebody holds who follows the log: `uid@version` by resourceKey and then identity. */
  readonly #held = new Map<string, Map<string, string>>();
  #at: number;
  #dataVersion = -1;
  #lent: readonly Published[] | null = null;

  constructor(server: ModelServer, cluster: string, file: string) {
    this.#server = server;
    this.#cluster = cluster;
    this.#reader = new Database(file, { readonly: true });
    this.#lender = new Database(file, { readonly: true });
    registerSqlFunctions(this.#reader, { tick: () => {} });
    this.#at = this.revision();
    for (const { key, rowset } of this.#published(this.#reader)) this.#held.set(key, heldOf(this.#rows(rowset)));
  }

  close(): void {
    this.#reader.close();
    this.#lender.close();
  }

  revision(): number {
    return Number(this.#reader.statement('SELECT revision FROM state').get()?.[0]);
  }

  /**
   * Looks at all that can be seen now (I1, I3, I7) and folds what the log has that is new (I2, I4); nothing where nothing was committed
   * since. While the server's past is in doubt, tables may be of either time, and only the log is followed. Returns the new entries as
   * `TYPE namespace/name uid@version`.
   */
  observe(): readonly string[] {
    const version = Number(this.#reader.pragma('data_version'));
    if (version === this.#dataVersion) return [];
    this.#dataVersion = version;
    return this.#inSnapshot(this.#reader, () => {
      const published = this.#published(this.#reader).map((each) => ({ ...each, rows: this.#rows(each.rowset) }));
      if (!this.#server.confused) for (const each of published) this.#compare(each, each.rows);
      if (!this.#server.confused) for (const each of published) this.#noteVersion(each);
      return this.#follow(published);
    });
  }

  #noteVersion({ id, key, version }: Published): void {
    if (!/^\d+$/.test(version)) return;
    const revision = revisionOf(version);
    const before = this.#versions.get(id) ?? 0;
    if (revision < before) throw new Error(`I3: ${key} went back from ${before} to ${revision}`);
    this.#versions.set(id, revision);
  }

  /** The server's past has been settled: versions may be lower than before. */
  understood(): void {
    this.#versions.clear();
    this.#dataVersion = -1;
  }

  /** Borrows a snapshot that stays while all goes on. */
  lend(): void {
    if (this.#lent !== null || this.#server.confused) return;
    this.#lender.exec('BEGIN');
    this.#lent = this.#published(this.#lender);
  }

  /** Reads the rows of the borrowed snapshot: they are of the moment when it was taken. */
  giveBack(): void {
    const lent = this.#lent;
    if (lent === null) return;
    this.#lent = null;
    try {
      if (!this.#server.confused) {
        for (const each of lent) this.#compare(each, this.#lender.statement(rowsSql).all(each.rowset));
      }
    } finally {
      this.#lender.exec('COMMIT');
    }
  }

  #follow(published: readonly Seen[]): readonly string[] {
    const entries = this.#reader
      .statement(
        `SELECT c.seq, c.type, k.key, c.namespace || '/' || c.name, c.uid, c.rv FROM change c JOIN kind k ON k.id = c.kind
         WHERE c.seq > ? AND c.cluster = ? ORDER BY c.seq`,
      )
      .all(this.#at, this.#cluster);
    if (entries.length === 0) return [];
    this.#at = Number(entries.at(-1)?.[0]);
    this.#fold(entries, published);
    for (const { key, rows } of published) {
      const held = [...(this.#held.get(key) ?? [])].map(([identity, what]) => `${identity} ${what}`).sort();
      const found = rows.map(identified).sort();
      if (held.join('\n') !== found.join('\n')) throw different(key, 'what the log tells (I2)', found, held);
    }
    return entries.map(([, type, , identity, uid, version]) => `${type} ${identity} ${uid}@${version}`);
  }

  /** The whole log of this cluster from its floor, bodies included, gives the tables. */
  async followAnew(): Promise<void> {
    const { database, lease } = this.#lease();
    try {
      const kinds = new Map<number, string>();
      for (const [id, key] of database.statement('SELECT id, key FROM kind').all()) kinds.set(Number(id), String(key));
      const changes = await readChanges(lease, { after: 0, limit: 1_000_000 });
      const tables = new Map<string, Map<string, { id: number; body: string }>>();
      for (const change of changes) {
        if (change.cluster !== this.#cluster) continue;
        const key = kinds.get(change.kindId) ?? '';
        const identity = `${change.namespace ?? ''}/${change.name}`;
        if (change.type === 'RESET') {
          tables.delete(key);
          continue;
        }
        const table = tables.get(key) ?? new Map<string, { id: number; body: string }>();
        tables.set(key, table);
        const known = table.get(identity);
        // What a RESET left is known from its first change on.
        if (known !== undefined || change.type === 'ADDED') {
          expect(['before', identity, change.before]).toEqual(['before', identity, known?.body ?? null]);
        }
        if (change.type === 'DELETED') table.delete(identity);
        else table.set(identity, { id: change.objectId, body: change.after ?? '' });
      }
      for (const { key, rowset } of this.#published(database)) {
        const rows = database.statement(rowsSql).all(rowset);
        const bodies = new Map(rows.map((row) => [`${row[0]}/${row[1]}`, String(row[4])]));
        for (const [identity, { body }] of tables.get(key) ?? []) {
          expect([key, identity, bodies.get(identity)]).toEqual([key, identity, body]);
        }
      }
    } finally {
      lease.end();
    }
  }

  /** I1 against what the server has now; throws when it is not there yet. */
  equalsServer(): void {
    const published = this.#published(this.#reader);
    const expected = this.#server.served.map(({ key }) => key).sort();
    expect(published.map(({ key }) => key).sort()).toEqual(expected);
    for (const { key, rowset } of published) {
      const now = this.#server.storage.stateAt(key, this.#server.storage.revision);
      const found = this.#rows(rowset).map(lineOfRow);
      if (found.join('\n') !== now.map(lineOf).join('\n')) throw different(key, 'now', found, now.map(lineOf));
    }
  }

  /** Rows that count no more must not be left for ever. */
  leftovers(): unknown {
    return this.#reader
      .statement(
        `SELECT (SELECT count(*) FROM stale_rowset),
           (SELECT count(*) FROM object o WHERE NOT EXISTS (SELECT 1 FROM resource r WHERE r.rowset = o.rowset)),
           (SELECT count(*) FROM body b WHERE NOT EXISTS (SELECT 1 FROM object o WHERE o.id = b.id)),
           (SELECT count(*) FROM resource r WHERE r.synced = 1 AND
              r.objects <> (SELECT count(*) FROM object o WHERE o.rowset = r.rowset)),
           (${entriesAmiss})`,
      )
      .get();
  }

  #compare({ key, version }: Published, rows: readonly Row[]): void {
    const expected = this.#server.storage.stateAt(key, revisionOf(version)).map(lineOf);
    const found = rows.map(lineOfRow);
    if (found.join('\n') !== expected.join('\n')) throw different(key, version, found, expected);
  }

  #fold(entries: readonly Row[], published: readonly Seen[]): void {
    const resets = new Map<string, number>();
    for (const [seq, type, key] of entries) if (type === 'RESET') resets.set(String(key), Number(seq));
    // Who hears of a RESET reads the tables anew; entries around it are in them already.
    for (const key of resets.keys()) {
      this.#held.set(key, heldOf(published.find((each) => each.key === key)?.rows ?? []));
    }
    for (const [, type, of, identity, uid, version] of entries) {
      const key = String(of);
      if (resets.has(key)) continue;
      const table = this.#held.get(key) ?? new Map<string, string>();
      this.#held.set(key, table);
      const known = table.get(String(identity));
      const same = known?.startsWith(`${uid}@`) === true;
      // A server that went back in time gives a version twice.
      const again = known === `${uid}@${version}` && !this.#server.confused;
      const fits = type === 'ADDED' ? known === undefined : same && (type === 'DELETED' || !again);
      if (!fits) throw new Error(`I4: ${type} ${identity} ${uid}@${version} does not fit what is held, ${known}`);
      if (type === 'DELETED') table.delete(String(identity));
      else table.set(String(identity), `${uid}@${version}`);
    }
  }

  #published(database: Database): Published[] {
    return database
      .statement(publishedSql)
      .all(this.#cluster)
      .map(([id, key, kind, version, rowset]) => ({
        id: Number(id),
        key: String(key),
        kind: Number(kind),
        version: String(version),
        rowset: Number(rowset),
      }));
  }

  #rows(rowset: number): Row[] {
    return this.#reader.statement(rowsSql).all(rowset);
  }

  #lease(): { database: Database; lease: Lease & { end(): void } } {
    const database = this.#reader;
    database.exec('BEGIN');
    const lease = {
      revision: this.revision(),
      epoch: '',
      all: async ({ sql, params }: { sql: string; params: readonly never[] }) => database.statement(sql).all(...params),
      fill: async () => [],
      end: () => database.exec('COMMIT'),
    };
    return { database, lease: lease as unknown as Lease & { end(): void } };
  }

  #inSnapshot<T>(database: Database, work: () => T): T {
    database.exec('BEGIN');
    try {
      return work();
    } finally {
      database.exec('COMMIT');
    }
  }
}

function lineOf({ namespace, name, uid, version, text }: ModelObject): string {
  return `${namespace}/${name} ${uid}@${version} ${text}`;
}

function lineOfRow([namespace, name, uid, version, text]: Row): string {
  return `${namespace}/${name} ${uid}@${version} ${text}`;
}

function identified([namespace, name, uid, version]: Row): string {
  return `${namespace}/${name} ${uid}@${version}`;
}

function heldOf(rows: readonly Row[]): Map<string, string> {
  return new Map(rows.map(([namespace, name, uid, version]) => [`${namespace}/${name}`, `${uid}@${version}`]));
}

function different(key: string, at: string, found: readonly string[], expected: readonly string[]): Error {
  const missing = expected.filter((line) => !found.includes(line));
  const more = found.filter((line) => !expected.includes(line));
  return new Error(
    `I1, I7: the table of ${key} is not the collection at ${at}. Missing: ${missing.join(' | ') || 'nothing'}. Too much: ${more.join(' | ') || 'nothing'}.`,
  );
}
