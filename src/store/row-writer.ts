/**
 * Writes the rows of one object: object, body, labels, annotation keys, owner edges, promoted keys. Runs inside the caller's
 * transaction and keeps no state; the change log is the caller's business.
 */
import { type Database, DatabaseError } from './database.ts';
import type { ReceivedObject } from './incoming.ts';
import type { PromotedTable } from './promoted-table.ts';
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
  readonly marks: string;
  readonly seq: number;
}

/** SQLite takes 1,000 arguments to a function; some are spoken for. */
const pathsAtOnce = 900;
/** Also bounds how many forms of a statement there are. */
const rowsAtOnce = 16;

export class RowWriter {
  readonly #database: Database;
  /** Texts of statements that are put together, by what they are put together from. */
  readonly #texts = new Map<string, string[]>();

  constructor(database: Database) {
    this.#database = database;
  }

  find(rowset: number, namespace: string, name: string): StoredObject | null {
    const row = this.#database
      .statement('SELECT id, uid, rv, marks, seq FROM object WHERE rowset = ? AND namespace = ? AND name = ?')
      .get(rowset, namespace, name);
    if (row === undefined) return null;
    const [id, uid, resourceVersion, marks, seq] = row;
    return {
      id: Number(id),
      uid: String(uid),
      resourceVersion: String(resourceVersion),
      marks: String(marks),
      seq: Number(seq),
    };
  }

  insert(target: RowTarget, id: number, received: ReceivedObject, seq: number): void {
    this.#database
      .statement(
        `INSERT INTO object (id, kind, cluster, rowset, namespace, name, uid, rv, created, deleting, seq, marks)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        id,
        target.kindId,
        target.cluster,
        target.rowset,
        received.namespace,
        received.name,
        received.uid,
        received.resourceVersion,
        received.created,
        received.deleting,
        seq,
        received.marks,
      );
    this.#writeBody((body) => `INSERT INTO body (body, text, id) VALUES (${body}, ?, ?)`, target, id, received);
    this.#writeMarks(target, id, received);
    this.#insertPromoted(target, id, received);
  }

  update(target: RowTarget, stored: StoredObject, received: ReceivedObject, seq: number): void {
    const { id } = stored;
    this.#database
      .statement('UPDATE object SET uid = ?, rv = ?, created = ?, deleting = ?, seq = ?, marks = ? WHERE id = ?')
      .run(received.uid, received.resourceVersion, received.created, received.deleting, seq, received.marks, id);
    this.#writeBody((body) => `UPDATE body SET body = ${body}, text = ? WHERE id = ?`, target, id, received);
    if (stored.marks !== received.marks) {
      this.#removeMarks(id);
      this.#writeMarks(target, id, received);
    }
    if (target.promoted.table === null) return;
    const keys = target.promoted.keysOf(received);
    if (!target.promoted.update(id, keys)) this.#insertPromoted(target, id, received);
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
      [
        'INSERT INTO label (kind, rowset, key, value, id) SELECT kind, ?, key, value, ? FROM label WHERE id = ?',
        [to.rowset, to.id, id],
      ],
      ['INSERT INTO annotation (kind, key, id) SELECT kind, key, ? FROM annotation WHERE id = ?', [to.id, id]],
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
      if (refused(error)) return true;
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
      if (!refused(error)) throw error;
      return redaction.inJavaScript(received.text) ?? stub(received, false);
    }
  }

  #writeBody(sql: (body: string) => string, target: RowTarget, id: number, received: ReceivedObject): void {
    const { redaction } = target;
    const { text, withheldPlaces: paths } = received;
    try {
      if (paths.length <= pathsAtOnce) {
        this.#database.statement(sql(expressionFor(redaction, paths))).run(text, ...paths, null, id);
        return;
      }
    } catch (error) {
      if (!refused(error)) throw error;
    }
    const kept = redaction.inJavaScript(received.text);
    try {
      this.#database.statement(sql(redaction.sql)).run(stub(received, true), kept, id);
    } catch (error) {
      if (!refused(error)) throw error;
      this.#database.statement(sql(redaction.sql)).run(stub(received, false), kept, id);
    }
  }

  #insertPromoted(target: RowTarget, id: number, received: ReceivedObject): void {
    if (target.promoted.table === null) return;
    const { rowset, cluster } = target;
    const { namespace, name } = received;
    target.promoted.insert(id, { rowset, cluster, namespace, name }, target.promoted.keysOf(received));
  }

  #writeMarks(target: RowTarget, id: number, received: ReceivedObject): void {
    const { kindId, rowset } = target;
    this.#insertRows(
      'label (kind, rowset, key, value, id)',
      received.labels.map(([key, value]) => [kindId, rowset, key, value, id]),
    );
    this.#insertRows(
      'annotation (kind, key, id)',
      received.annotationKeys.map((key) => [kindId, key, id]),
    );
    this.#insertRows(
      'edge (owner_uid, id, controller, kind)',
      received.owners.map((owner) => [owner.uid, id, owner.controller ? 1 : 0, kindId]),
    );
  }

  /** Several rows by one statement: an object has a handful, and each statement has its price. */
  #insertRows(into: string, rows: readonly (readonly SqlValue[])[]): void {
    for (let from = 0; from < rows.length; from += rowsAtOnce) {
      const some = rows.slice(from, from + rowsAtOnce);
      const [first = []] = some;
      this.#database.statement(this.#insertText(into, first.length, some.length)).run(...some.flat());
    }
  }

  /** The same string each time, so that looking up its statement does not hash it anew. */
  #insertText(into: string, columns: number, rows: number): string {
    const texts = this.#texts.get(into) ?? [];
    this.#texts.set(into, texts);
    const known = texts[rows];
    if (known !== undefined) return known;
    const row = `(${Array(columns).fill('?').join(', ')})`;
    const text = `INSERT INTO ${into} VALUES ${Array(rows).fill(row).join(', ')}`;
    texts[rows] = text;
    return text;
  }

  #removeMarks(id: number): void {
    this.#database.statement('DELETE FROM label WHERE id = ?').run(id);
    this.#database.statement('DELETE FROM annotation WHERE id = ?').run(id);
    this.#database.statement('DELETE FROM edge WHERE id = ?').run(id);
  }
}

function expressionFor(redaction: Redaction, paths: readonly string[]): string {
  return paths.length === 0 ? redaction.sql : `jsonb_remove(${redaction.sql}, ${paths.map(() => '?').join(', ')})`;
}

/** SQLite has no code of its own for JSON that it will not take (too deep, for one). */
function refused(error: unknown): boolean {
  return error instanceof DatabaseError && error.cause instanceof Error && error.cause.message === 'malformed JSON';
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
