/**
 * Writes the rows of one object: object, body, labels, owner edges, promoted keys. Runs inside the caller's
 * transaction and keeps no state; the change log is the caller's business.
 */
import { type Database, refusesJson } from './database.ts';
import type { ReceivedObject } from './incoming.ts';
import type { PreparedObject } from './prepare.ts';
import { type PromotedTable, sameKey } from './promoted-table.ts';
import type { Redaction } from './redaction.ts';
import type { SqlValue } from './types.ts';

/** Where an object's rows go. */
export interface RowTarget {
  readonly kindId: number;
  readonly cluster: string;
  readonly rowset: number;
  readonly promoted: PromotedTable;
  readonly redaction: Redaction;
}

export interface StoredObject {
  readonly id: number;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Microseconds since 1970; compared, never shown. */
  readonly created: SqlValue;
  readonly marks: string;
  readonly seq: number;
}

/** SQLite takes 1,000 arguments to a function; some are spoken for. */
const pathsAtOnce = 900;
/** Rows of one statement: halves of it for what is left over, so that there are few forms of a statement. */
const rowsAtOnce = 64;

// A row that is there already is a defect, which ends the transaction: so SQLite need not be able to undo the statement alone,
// and keeps no copies of the pages that it writes to.
const intoLabel = 'OR ROLLBACK INTO label (kind, key, value, id)';
const intoEdge = 'OR ROLLBACK INTO edge (owner_uid, id, controller, kind)';
const intoBody = 'INTO body (body, id)';
const objectColumns = 'object (id, kind, cluster, rowset, namespace, name, uid, rv, created, deleting, seq, marks)';
const objectWidth = 12;

/** An object that can be stored, whichever thread has read it. */
export type StorableObject = ReceivedObject | PreparedObject;

/** An object and the id that it is stored under. */
export interface NewRow {
  readonly id: number;
  readonly received: StorableObject;
}

export class RowWriter {
  readonly #database: Database;
  /** Texts of statements for several rows, by the rows' form. */
  readonly #texts = new Map<string, string[]>();

  constructor(database: Database) {
    this.#database = database;
  }

  find(rowset: number, namespace: string, name: string): StoredObject | null {
    const row = this.#database
      .statement('SELECT id, uid, rv, created, marks, seq FROM object WHERE rowset = ? AND namespace = ? AND name = ?')
      .get(rowset, namespace, name);
    if (row === undefined) return null;
    const [id, uid, resourceVersion, created = null, marks, seq] = row;
    return {
      id: Number(id),
      uid: String(uid),
      resourceVersion: String(resourceVersion),
      created,
      marks: String(marks),
      seq: Number(seq),
    };
  }

  insert(target: RowTarget, row: NewRow, seq: number): void {
    this.#insertRows(`INTO ${objectColumns}`, objectWidth, objectRow(target, row, seq));
    this.#insertParts(target, [row]);
  }

  /** Writes objects, several by one statement, but those whose name is there already: they are given back, in order. */
  insertNew(target: RowTarget, rows: readonly NewRow[], seq: number): readonly StorableObject[] {
    const values: SqlValue[] = [];
    for (const row of rows) values.push(...objectRow(target, row, seq));
    const inserted = this.#insertRows(`OR IGNORE INTO ${objectColumns}`, objectWidth, values);
    if (inserted === rows.length) {
      this.#insertParts(target, rows);
      return [];
    }
    const known = this.#database.statement('SELECT 1 FROM object WHERE id = ?');
    const { stored = [], left = [] } = Object.groupBy(rows, ({ id }) =>
      known.get(id) === undefined ? 'left' : 'stored',
    );
    this.#insertParts(target, stored);
    return left.map(({ received }) => received);
  }

  update(target: RowTarget, stored: StoredObject, received: StorableObject, seq: number): void {
    const { id } = stored;
    const { uid, created } = received;
    // SQLite writes the index entries of every column that is assigned, changed or not, and these two hardly ever change.
    const same = stored.uid === uid && sameKey(stored.created, created);
    this.#database
      .statement(
        `UPDATE object SET ${same ? '' : 'uid = ?, created = ?, '}rv = ?, deleting = ?, seq = ?, marks = ? WHERE id = ?`,
      )
      .run(...(same ? [] : [uid, created]), received.resourceVersion, received.deleting, seq, received.marks, id);
    this.#writeBody((body) => `UPDATE body SET body = ${body}, text = ? WHERE id = ?`, target, id, received);
    if (stored.marks !== received.marks) {
      this.#removeMarks(id);
      this.#writeMarks(target, [{ id, received }]);
    }
    if (target.promoted.table === null) return;
    const keys = keysOf(target, received);
    if (!target.promoted.update(id, keys)) this.#insertPromoted(target, [{ id, received }]);
  }

  remove(promoted: PromotedTable, id: number): void {
    this.#removeMarks(id);
    promoted.remove(id);
    this.#database.statement('DELETE FROM body WHERE id = ?').run(id);
    this.#database.statement('DELETE FROM object WHERE id = ?').run(id);
  }

  /** Copies an object's rows into another rowset, under a new id. */
  copy(promoted: PromotedTable, id: number, to: { readonly id: number; readonly rowset: number }): void {
    const copies: readonly [string, readonly SqlValue[]][] = [
      [
        `INSERT INTO object (id, kind, cluster, rowset, namespace, name, uid, rv, created, deleting, seq, marks)
         SELECT ?, kind, cluster, ?, namespace, name, uid, rv, created, deleting, seq, marks FROM object WHERE id = ?`,
        [to.id, to.rowset, id],
      ],
      ['INSERT INTO body (id, body, text) SELECT ?, body, text FROM body WHERE id = ?', [to.id, id]],
      ['INSERT INTO label (kind, key, value, id) SELECT kind, key, value, ? FROM label WHERE id = ?', [to.id, id]],
      [
        'INSERT INTO edge (owner_uid, id, controller, kind) SELECT owner_uid, ?, controller, kind FROM edge WHERE id = ?',
        [to.id, id],
      ],
    ];
    for (const [sql, params] of copies) this.#database.statement(sql).run(...params);
    promoted.copy(id, to);
  }

  /** Does the stored body differ from what the received one would be stored as? */
  bodyDiffers(target: RowTarget, id: number, received: ReceivedObject): boolean {
    const { text, withheldPlaces: paths } = received;
    if (paths.length > pathsAtOnce) return true;
    try {
      const row = this.#database
        .statement(`SELECT body IS ${expressionFor(target.redaction, paths)} AND text IS NULL FROM body WHERE id = ?`)
        .get(text, ...paths, id);
      return row?.[0] !== 1;
    } catch (error) {
      if (refusesJson(error)) return true;
      throw error;
    }
  }

  /** The text that may reach the disk: without what is dropped and withheld. */
  redactedText(redaction: Redaction, received: ReceivedObject): string {
    const { text, withheldPlaces: paths } = received;
    try {
      if (paths.length > pathsAtOnce) return redaction.inJavaScript(received.text) ?? stub(received, false);
      const row = this.#database.statement(`SELECT json(${expressionFor(redaction, paths)})`).get(text, ...paths);
      return String(row?.[0]);
    } catch (error) {
      if (!refusesJson(error)) throw error;
      return redaction.inJavaScript(received.text) ?? stub(received, false);
    }
  }

  #writeBody(sql: (body: string) => string, target: RowTarget, id: number, received: StorableObject): void {
    if ('body' in received) {
      this.#database.statement(sql('?')).run(received.body, null, id);
      return;
    }
    const { redaction } = target;
    const { text, withheldPlaces: paths } = received;
    try {
      if (paths.length <= pathsAtOnce) {
        this.#database.statement(sql(expressionFor(redaction, paths))).run(text, ...paths, null, id);
        return;
      }
    } catch (error) {
      if (!refusesJson(error)) throw error;
    }
    const kept = redaction.inJavaScript(received.text);
    try {
      this.#database.statement(sql(redaction.sql)).run(stub(received, true), kept, id);
    } catch (error) {
      if (!refusesJson(error)) throw error;
      this.#database.statement(sql(redaction.sql)).run(stub(received, false), kept, id);
    }
  }

  /** What belongs to objects whose own rows are written. */
  #insertParts(target: RowTarget, rows: readonly NewRow[]): void {
    if (!this.#insertBodies(target, rows)) {
      for (const { id, received } of rows) {
        this.#writeBody(
          (body) => `INSERT OR REPLACE INTO body (body, text, id) VALUES (${body}, ?, ?)`,
          target,
          id,
          received,
        );
      }
    }
    this.#writeMarks(target, rows);
    this.#insertPromoted(target, rows);
  }

  /** False when one of them needs more care, and all are to be written one by one. */
  #insertBodies(target: RowTarget, rows: readonly NewRow[]): boolean {
    const texts: SqlValue[] = [];
    const bodies: SqlValue[] = [];
    for (const { id, received } of rows) {
      if ('body' in received) bodies.push(received.body, id);
      else if (received.withheldPlaces.length === 0) texts.push(received.text, id);
      else return false;
    }
    try {
      this.#insertRows(intoBody, 2, texts, `(${target.redaction.sql}, ?)`);
      this.#insertRows(intoBody, 2, bodies);
      return true;
    } catch (error) {
      if (refusesJson(error)) return false;
      throw error;
    }
  }

  #insertPromoted(target: RowTarget, rows: readonly NewRow[]): void {
    const { rowset, cluster } = target;
    const { into } = target.promoted;
    if (into === null || rows.length === 0) return;
    const values: SqlValue[] = [];
    for (const { id, received } of rows) {
      const { namespace, name } = received;
      values.push(id, rowset, cluster, namespace, name, ...keysOf(target, received));
    }
    this.#insertRows(into, values.length / rows.length, values);
  }

  #writeMarks({ kindId }: RowTarget, rows: readonly NewRow[]): void {
    const labels: SqlValue[] = [];
    const edges: SqlValue[] = [];
    for (const { id, received } of rows) {
      for (const [key, value] of received.labels) labels.push(kindId, key, value, id);
      for (const { uid, controller } of received.owners) edges.push(uid, id, controller ? 1 : 0, kindId);
    }
    this.#insertRows(intoLabel, 4, labels);
    this.#insertRows(intoEdge, 4, edges);
  }

  /**
   * Several rows by one statement, since each statement has its price. `values`: of all rows, so many of each; one list of them, since
   * there are dozens for each object. Returns how many rows were written.
   */
  #insertRows(into: string, width: number, values: readonly SqlValue[], form?: string): number {
    let written = 0;
    const rows = values.length / width;
    for (let from = 0; from < rows; ) {
      let count = rowsAtOnce;
      while (count > rows - from) count /= 2;
      const some = values.slice(from * width, (from + count) * width);
      written += this.#database.statement(this.#insertText(into, width, count, form)).run(...some).changes;
      from += count;
    }
    return written;
  }

  /** The same string each time, so that looking up its statement does not hash it anew. */
  #insertText(into: string, columns: number, rows: number, form?: string): string {
    const key = form ?? into;
    const texts = this.#texts.get(key) ?? [];
    this.#texts.set(key, texts);
    const known = texts[rows];
    if (known !== undefined) return known;
    const row = form ?? `(${Array(columns).fill('?').join(', ')})`;
    const text = `INSERT ${into} VALUES ${Array(rows).fill(row).join(', ')}`;
    texts[rows] = text;
    return text;
  }

  #removeMarks(id: number): void {
    this.#database.statement('DELETE FROM label WHERE id = ?').run(id);
    this.#database.statement('DELETE FROM edge WHERE id = ?').run(id);
  }
}

function objectRow(target: RowTarget, { id, received }: NewRow, seq: number): readonly SqlValue[] {
  const { kindId, cluster, rowset } = target;
  const { namespace, name, uid, resourceVersion, created, deleting, marks } = received;
  return [id, kindId, cluster, rowset, namespace, name, uid, resourceVersion, created, deleting, seq, marks];
}

function keysOf({ promoted }: RowTarget, received: StorableObject): readonly SqlValue[] {
  return 'keys' in received ? received.keys : promoted.keysOf(received);
}

function expressionFor(redaction: Redaction, paths: readonly string[]): string {
  return paths.length === 0 ? redaction.sql : `jsonb_remove(${redaction.sql}, ${paths.map(() => '?').join(', ')})`;
}

/** What stands in `body.body` for a text that SQLite refuses. */
function stub(received: ReceivedObject, withMetadata: boolean): string {
  const { apiVersion, kind, metadata } = received.value as Readonly<Record<string, unknown>>;
  const { name, namespace, uid, resourceVersion } = received;
  return JSON.stringify({
    apiVersion,
    kind,
    metadata: withMetadata ? metadata : { name, ...(namespace === '' ? {} : { namespace }), uid, resourceVersion },
  });
}
