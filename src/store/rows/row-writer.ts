/**
 * Writes the rows of objects: object, body, labels, owner edges, references, selectors, promoted keys. Runs inside the caller's transaction. Keeps no
 * state except statement texts. The caller writes the change log.
 */

import type { HealthStatus } from '../../catalog/health/health-status.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { withoutDeepParts } from '../objects/deep-parts.ts';
import type { ReceivedObject } from '../objects/incoming.ts';
import type { Redaction } from '../objects/redaction.ts';
import type { RelationRows } from '../relations/relation-rows.ts';
import { type Database, type NamedValues, refusesJson } from '../sqlite/database.ts';
import { type RowForm, RowInserter } from '../sqlite/row-inserter.ts';
import { allHealthColumns, healthValues } from '../types/kind-layout.ts';
import type { PreparedObject } from '../types/prepared-object.ts';
import type { SqlValue } from '../types/statement.ts';
import { type DeferredEntries, entriesOf, type IndexEntries } from './deferred-entries.ts';
import { type PromotedTable, sameKey } from './promoted-table.ts';

/** The kind, cluster and rowset of the rows to write. */
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
  readonly health: HealthStatus;
}

/** Most paths in one call of jsonb_remove. SQLite allows 1,000 arguments, including the JSON itself. */
const pathsAtOnce = 900;

// OR ROLLBACK: an existing row is a defect, and ends the transaction. So SQLite need not be able to undo the statement alone.
const byLabelForm: RowForm = {
  into: 'OR ROLLBACK INTO object_by_label',
  shared: ['kind'],
  own: ['key', 'value', 'id'],
};
const byUidForm: RowForm = { into: 'OR ROLLBACK INTO object_by_uid', shared: [], own: ['uid', 'id'] };
const edgeForm: RowForm = { into: 'OR ROLLBACK INTO edge', shared: ['kind'], own: ['owner_uid', 'id', 'controller'] };
const bodyForm: RowForm = { into: 'OR ROLLBACK INTO body', shared: [], own: ['body'] };
const objectForm: RowForm = {
  into: 'INTO object',
  shared: ['kind', 'cluster', 'rowset', 'seq'],
  own: ['namespace', 'name', 'uid', 'rv', 'created', 'deleting', 'marks', ...allHealthColumns],
};
const newObjectForm: RowForm = { ...objectForm, into: 'OR IGNORE INTO object' };

/** The labels of an object, in the columns of object_by_label. */
const labelsOfObject = `SELECT o.kind, l.key, l.value, o.id FROM object AS o CROSS JOIN json_each(o.marks, '$[0]') AS l WHERE o.id = ?`;
const removeByLabel = `DELETE FROM object_by_label WHERE (kind, key, value, id) IN (${labelsOfObject})`;

/** An object that can be stored. It was read in this thread, or prepared from its bytes in this or another thread. */
export type StorableObject = ReceivedObject | PreparedObject;

/** An object and its object id. */
export interface NewRow {
  readonly id: number;
  readonly received: StorableObject;
}

export class RowWriter {
  readonly #database: Database;
  readonly #inserter: RowInserter;
  readonly #relations: RelationRows;
  /** Row forms for bodies that SQLite makes from texts, by redaction. */
  readonly #textForms = new WeakMap<Redaction, RowForm>();

  constructor(database: Database, relations: RelationRows) {
    this.#database = database;
    this.#relations = relations;
    this.#inserter = new RowInserter(database);
  }

  find(rowset: number, namespace: string, name: string): StoredObject | null {
    return this.#stored('rowset = ? AND namespace = ? AND name = ?', rowset, namespace, name);
  }

  /** The object with this id, if it is in this rowset. */
  findById(rowset: number, id: number): StoredObject | null {
    return this.#stored('id = ? AND +rowset = ?', id, rowset);
  }

  #stored(where: string, ...params: readonly SqlValue[]): StoredObject | null {
    const row = this.#database
      .statement(`SELECT id, uid, rv, created, marks, seq, health FROM object WHERE ${where}`)
      .get(...params);
    if (row === undefined) return null;
    const [id, uid, resourceVersion, created = null, marks, seq, health] = row;
    return {
      id: Number(id),
      uid: String(uid),
      resourceVersion: String(resourceVersion),
      created,
      marks: String(marks),
      seq: Number(seq),
      health: health as HealthStatus,
    };
  }

  insert(target: RowTarget, row: NewRow, seq: number): void {
    this.#inserter.insertOne(objectForm, sharedOf(target, seq), row.id, objectRow(row));
    this.#insertParts(target, [row]);
    this.insertEntries(target, entriesOf([row]));
    this.#writeRelations(target, row);
    this.#relations.rolledUp.add(row.id, target.kindId);
    this.#relations.rolledUp.changed(row.id);
  }

  /** Writes the index entries of objects by uid and by label. */
  insertEntries({ kindId }: RowTarget, { uids, labels }: IndexEntries): void {
    this.#inserter.insert(byUidForm, {}, uids);
    this.#inserter.insert(byLabelForm, { kind: kindId }, labels);
  }

  /**
   * Writes objects, several with one statement. Does not write objects whose name is already stored, and returns them in order. The
   * ids must be consecutive and higher than all others. Index entries by uid and label go to `deferred`, for `insertEntries`. Housekeeping
   * writes the references and selectors later.
   */
  insertNew(
    target: RowTarget,
    rows: readonly NewRow[],
    seq: number,
    deferred: DeferredEntries,
  ): readonly StorableObject[] {
    const [first] = rows;
    if (first === undefined) return [];
    this.#relations.places.reopen(target.kindId, first.id - 1);
    const shared = sharedOf(target, seq);
    const values: SqlValue[] = [];
    for (const row of rows) values.push(...objectRow(row));
    const inserted = this.#inserter.insertWithIds(newObjectForm, shared, idsOf(rows), values);
    if (inserted === rows.length) {
      this.#insertParts(target, rows);
      deferred.add(rows);
      return [];
    }
    this.#database.statement('DELETE FROM object WHERE id >= ?').run(first.id);
    const { stored = [], left = [] } = Object.groupBy(rows, (row) =>
      this.#inserter.insertOne(newObjectForm, shared, row.id, objectRow(row)) === 0 ? 'left' : 'stored',
    );
    this.#insertParts(target, stored);
    deferred.add(stored);
    return left.map(({ received }) => received);
  }

  update(target: RowTarget, stored: StoredObject, received: StorableObject, seq: number): void {
    const { id } = stored;
    const { uid, created, resourceVersion, deleting, marks, health } = received;
    // SQLite rewrites the index entries of each assigned column, even of an unchanged one. `created` rarely changes.
    const same = sameKey(stored.created, created);
    const remarked = stored.marks !== marks || stored.uid !== uid;
    const { rolledUp } = this.#relations;
    if (remarked) {
      rolledUp.changed(id);
      this.#removeMarks(id, stored.uid);
    }
    this.#database
      .statement(
        `UPDATE object SET ${same ? '' : 'created = ?, '}uid = ?, rv = ?, deleting = ?, seq = ?, marks = ?, ${allHealthColumns.join(' = ?, ')} = ? WHERE id = ?`,
      )
      .run(...(same ? [] : [created]), uid, resourceVersion, deleting, seq, marks, ...healthValues(health), id);
    const related = !this.#isRelatedAlike(target, id, received);
    this.#writeBody((body) => `UPDATE body SET body = ${body}, text = ? WHERE id = ?`, target, id, received);
    if (remarked) {
      this.#writeOwners(target, [{ id, received }]);
      this.insertEntries(target, entriesOf([{ id, received }]));
    }
    if (remarked || stored.health !== health.status) rolledUp.changed(id);
    if (stored.uid !== uid) rolledUp.renew(id, target.kindId);
    if (related) this.#writeRelations(target, { id, received });
    if (target.promoted.table === null) return;
    const keys = keysOf(target, received);
    if (!target.promoted.update(id, keys)) this.#insertPromoted(target, [{ id, received }]);
  }

  remove(
    { kindId, promoted }: Pick<RowTarget, 'kindId' | 'promoted'>,
    { id, uid }: Pick<StoredObject, 'id' | 'uid'>,
  ): void {
    this.#relations.rolledUp.changed(id);
    this.#relations.rolledUp.remove(id);
    this.#removeMarks(id, uid);
    this.#relations.remove(id, kindId);
    promoted.remove(id);
    this.#database.statement('DELETE FROM body WHERE id = ?').run(id);
    this.#database.statement('DELETE FROM object WHERE id = ?').run(id);
  }

  /** Copies an object's rows into another rowset, under a new id. */
  copy(
    { kindId, promoted }: Pick<RowTarget, 'kindId' | 'promoted'>,
    id: number,
    to: { readonly id: number; readonly rowset: number },
  ): void {
    const copies: readonly [string, readonly SqlValue[]][] = [
      [
        `INSERT INTO object (id, kind, cluster, rowset, namespace, name, uid, rv, created, deleting, seq, marks, ${allHealthColumns.join(', ')})
         SELECT ?, kind, cluster, ?, namespace, name, uid, rv, created, deleting, seq, marks, ${allHealthColumns.join(', ')}
         FROM object WHERE id = ?`,
        [to.id, to.rowset, id],
      ],
      ['INSERT INTO body (id, body, text) SELECT ?, body, text FROM body WHERE id = ?', [to.id, id]],
      ['INSERT INTO object_by_uid (uid, id) SELECT uid, id FROM object WHERE id = ?', [to.id]],
      [`INSERT INTO object_by_label (kind, key, value, id) ${labelsOfObject}`, [to.id]],
      [
        'INSERT INTO edge (owner_uid, id, controller, kind) SELECT owner_uid, ?, controller, kind FROM edge WHERE id = ?',
        [to.id, id],
      ],
    ];
    for (const [sql, params] of copies) this.#database.statement(sql).run(...params);
    promoted.copy(id, to);
    this.#relations.copy(id, kindId, to.id);
  }

  /** True if the stored body differs from the body of the received object, or if SQLite cannot compare them. */
  bodyDiffers(target: RowTarget, id: number, received: ReceivedObject): boolean {
    const { text, redactedPaths: paths } = received;
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

  /** The text without dropped and redacted paths, which may be written to the disk. */
  redactedText(redaction: Redaction, received: ReceivedObject): string {
    const { text, redactedPaths: paths } = received;
    try {
      if (paths.length > pathsAtOnce) return redaction.inJavaScript(text);
      const row = this.#database.statement(`SELECT json(${expressionFor(redaction, paths)})`).get(text, ...paths);
      return String(row?.[0]);
    } catch (error) {
      if (!refusesJson(error)) throw error;
      return redaction.inJavaScript(text);
    }
  }

  #writeBody(sql: (body: string) => string, target: RowTarget, id: number, received: StorableObject): void {
    if ('body' in received) {
      this.#database.statement(sql('?')).run(received.body, null, id);
      return;
    }
    const { redaction } = target;
    const { text, redactedPaths: paths } = received;
    try {
      if (paths.length <= pathsAtOnce) {
        this.#database.statement(sql(expressionFor(redaction, paths))).run(text, ...paths, null, id);
        return;
      }
    } catch (error) {
      if (!refusesJson(error)) throw error;
    }
    const kept = redaction.inJavaScript(text);
    this.#database.statement(sql('jsonb(?)')).run(withoutDeepParts(kept), kept, id);
  }

  /** Writes bodies, owner edges and promoted keys of objects whose rows in `object` exist already. */
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
    this.#writeOwners(target, rows);
    this.#insertPromoted(target, rows);
  }

  /** Writes all bodies together. False if that is not possible; they must be written one by one then. */
  #insertBodies({ redaction }: RowTarget, rows: readonly NewRow[]): boolean {
    const bodies: SqlValue[] = [];
    const texts: SqlValue[] = [];
    for (const { received } of rows) {
      if ('body' in received) bodies.push(received.body);
      else if (received.redactedPaths.length === 0) texts.push(received.text);
    }
    const isText = texts.length > 0;
    if (bodies.length + texts.length < rows.length || (isText && bodies.length > 0)) return false;
    try {
      const form = isText ? this.#textForm(redaction) : bodyForm;
      this.#inserter.insertWithIds(form, {}, idsOf(rows), isText ? texts : bodies);
      return true;
    } catch (error) {
      if (refusesJson(error)) return false;
      throw error;
    }
  }

  #textForm(redaction: Redaction): RowForm {
    // No OR ROLLBACK: SQLite may refuse a text. It undoes the statement then, and the rows are written one by one.
    const form = this.#textForms.get(redaction) ?? { ...bodyForm, into: 'INTO body', first: redaction.sql };
    this.#textForms.set(redaction, form);
    return form;
  }

  #insertPromoted(target: RowTarget, rows: readonly NewRow[]): void {
    const { form } = target.promoted;
    if (form === null) return;
    const values: SqlValue[] = [];
    for (const { received } of rows) values.push(received.namespace, received.name, ...keysOf(target, received));
    const { rowset, cluster } = target;
    this.#inserter.insertWithIds(form, { rowset, cluster }, idsOf(rows), values);
  }

  #writeRelations({ kindId, cluster }: RowTarget, { id, received }: NewRow): void {
    if (!this.#relations.reads(kindId)) return;
    const { namespace } = received;
    const body = 'value' in received ? received.value : this.#parsed(received.body);
    this.#relations.write({ id, kindId, cluster, namespace }, body);
  }

  /** True if the stored body has the references and selectors of the received one, and both are JSONB. Parsing one takes much longer. */
  #isRelatedAlike({ kindId }: RowTarget, id: number, received: StorableObject): boolean {
    if (!('body' in received) || !this.#relations.reads(kindId)) return false;
    const [body, text] = this.#database.statement('SELECT body, text FROM body WHERE id = ?').get(id) ?? [];
    return body instanceof Uint8Array && text === null && this.#relations.areEqual(kindId, body, received.body);
  }

  #parsed(jsonb: Uint8Array): unknown {
    return parseExact(String(this.#database.statement('SELECT json(?)').get(jsonb)?.[0]));
  }

  #writeOwners({ kindId }: RowTarget, rows: readonly NewRow[]): void {
    const edges: SqlValue[] = [];
    for (const { id, received } of rows) {
      for (const { uid, controller } of received.owners) edges.push(uid, id, controller ? 1 : 0);
    }
    this.#inserter.insert(edgeForm, { kind: kindId }, edges);
  }

  /** Call before the object's row changes, because the labels are read from it. */
  #removeMarks(id: number, uid: string): void {
    const remove = (sql: string, ...params: readonly SqlValue[]) => this.#database.statement(sql).run(...params);
    remove('DELETE FROM object_by_uid WHERE uid = ? AND id = ?', uid, id);
    remove(removeByLabel, id);
    remove('DELETE FROM edge WHERE id = ?', id);
  }
}

function sharedOf({ kindId, cluster, rowset }: RowTarget, seq: number): NamedValues {
  return { kind: kindId, cluster, rowset, seq };
}

function objectRow({ received }: NewRow): readonly SqlValue[] {
  const { namespace, name, uid, resourceVersion, created, deleting, marks, health } = received;
  return [namespace, name, uid, resourceVersion, created, deleting, marks, ...healthValues(health)];
}

function idsOf(rows: readonly NewRow[]): readonly number[] {
  return rows.map(({ id }) => id);
}

function keysOf({ promoted }: RowTarget, received: StorableObject): readonly SqlValue[] {
  return 'keys' in received ? received.keys : promoted.keysOf(received);
}

function expressionFor(redaction: Redaction, paths: readonly string[]): string {
  return paths.length === 0 ? redaction.sql : `jsonb_remove(${redaction.sql}, ${paths.map(() => '?').join(', ')})`;
}
