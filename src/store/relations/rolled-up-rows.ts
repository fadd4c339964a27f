/**
 * Stored roll-ups: the worst health of all that an object owns, for the kinds whose lists are filtered or ordered by it.
 *
 *   a query needs roll-ups of a kind -> want -> housekeeping: add, then fill -> row { id, severity }
 *   health or owners of an object change -> changed: severity = NULL for all that owns it, over several steps -> housekeeping: fill
 *
 * Invariant: a severity that is there is right in the transaction that wrote it and in all later ones that did not remove it. So readers use
 * it if it is there, and compute it otherwise. The severity is about what the object owns, and not about the object itself.
 *
 * Bounds: a change removes the severities of at most `mostOwners` objects one by one; beyond that, all of its namespace and of cluster-scoped
 * objects go. An object that owns more than `mostOwned` objects has no stored severity.
 */
import type { Database } from '../sqlite/database.ts';
import { deepestOwned, ownedTreeSql } from '../types/owned-tree.ts';
import { isPublishedOfAny } from '../types/published.ts';
import { raw, sql } from '../types/sql.ts';
import type { RunningTransaction } from './place-rows.ts';

/** Owners of a changed object, over all steps, and references to them that are followed. */
const mostOwners = 200;
const mostReferences = 1000;
/** Objects that an object with a stored severity owns, over all steps. */
const mostOwned = 2000;
/** The severity of an object that owns too many objects. Readers compute it. */
const notStored = -1;

/** Of one object: the severity, and the rows of its tree without the root. */
const severityOf = sql`SELECT (${ownedTreeSql(
  { id: raw('r.id'), uid: raw('r.uid'), cluster: raw('r.cluster'), namespace: raw('r.namespace') },
  isPublishedOfAny(raw('o')),
  raw(`LIMIT ${mostOwned + 2}`),
)} SELECT json_array(max(severity), count(*) - 1) FROM tree) FROM object AS r WHERE r.id = ?`.sql;

export class RolledUpRows {
  readonly #database: Database;
  readonly #transaction: Pick<RunningTransaction, 'ifUndone'>;
  /** By kind id: objects with a greater id may lack a row; null if none lacks one. */
  readonly #filled = new Map<number, number | null>();
  /** The id of the last object that `fill` computed. */
  #cursor = 0;

  constructor(database: Database, transaction: Pick<RunningTransaction, 'ifUndone'>) {
    this.#database = database;
    this.#transaction = transaction;
    this.#load();
  }

  /** Stores the roll-ups of a kind from now on. False if they are stored already. Inside a transaction. */
  want(kindId: number): boolean {
    if (this.#filled.has(kindId)) return false;
    this.filledTo(kindId, 0);
    return true;
  }

  /** A kind whose objects may lack rows, and the id of the last object that has one. */
  lacking(): { readonly kindId: number; readonly from: number } | null {
    for (const [kindId, from] of this.#filled) if (from !== null) return { kindId, from };
    return null;
  }

  /** Saves how far the objects of a kind have rows; null for all. Inside a transaction. */
  filledTo(kindId: number, id: number | null): void {
    this.#transaction.ifUndone(this.#load);
    this.#database.statement('INSERT OR REPLACE INTO rolled_kind (kind, filled) VALUES (?, ?)').run(kindId, id);
    this.#filled.set(kindId, id);
  }

  /** Call when an object was stored, and then `changed`. */
  add(id: number, kindId: number): void {
    if (!this.#filled.has(kindId)) return;
    this.#database.statement('INSERT OR IGNORE INTO rolled_up (id, severity) VALUES (?, NULL)').run(id);
  }

  /** Call when an object got another uid, and with it owns other objects. */
  renew(id: number, kindId: number): void {
    this.remove(id);
    this.add(id, kindId);
  }

  /** Call when an object goes, after `changed`. */
  remove(id: number): void {
    if (this.#filled.size > 0) this.#database.statement('DELETE FROM rolled_up WHERE id = ?').run(id);
  }

  /**
   * Call when the health or the owners of an object changed: before the rows of its owners go, and after new ones came. Its
   * owners have no known severity then.
   */
  changed(id: number): void {
    if (this.#filled.size === 0) return;
    const owners = new Set<number>();
    let references = 0;
    let level: readonly number[] = [id];
    for (let depth = 0; depth < deepestOwned && level.length > 0; depth += 1) {
      const next: number[] = [];
      for (const owned of level) {
        const rows = this.#database
          .statement(
            'SELECT u.id FROM edge AS e CROSS JOIN object_by_uid AS u ON u.uid = e.owner_uid WHERE e.id = ? LIMIT +?',
          )
          .all(owned, mostReferences + 1 - references);
        references += rows.length;
        for (const [row] of rows) {
          const owner = Number(row);
          if (owners.has(owner)) continue;
          owners.add(owner);
          next.push(owner);
        }
        if (references > mostReferences || owners.size > mostOwners) {
          this.#forgetAround(id);
          return;
        }
      }
      level = next;
    }
    const forget = this.#database.statement(
      'UPDATE rolled_up SET severity = NULL WHERE id = ? AND severity IS NOT NULL',
    );
    for (const owner of owners) forget.run(owner);
  }

  /** Call when a rowset is published or no longer published. Inside a transaction. */
  forgetAll(): void {
    if (this.#filled.size === 0) return;
    this.#database.statement('DELETE FROM rolled_up').run();
    for (const kindId of this.#filled.keys()) this.filledTo(kindId, 0);
  }

  /** Are there severities that are not known? */
  isOpen(): boolean {
    if (this.#filled.size === 0) return false;
    return this.#database.statement('SELECT 1 FROM rolled_up WHERE severity IS NULL LIMIT 1').get() !== undefined;
  }

  /** Computes severities that are not known, until `isDue`. Inside a transaction. */
  fill(isDue: () => boolean): void {
    const next = this.#database.statement(
      'SELECT id FROM rolled_up WHERE severity IS NULL AND id > ? ORDER BY id LIMIT 100',
    );
    // In turns, so that objects whose severity is lost again and again do not keep the others waiting.
    let rows = next.all(this.#cursor);
    if (rows.length === 0) rows = next.all(0);
    for (const [row] of rows) {
      const id = Number(row);
      this.#cursor = id;
      this.#compute(id);
      if (isDue()) break;
    }
  }

  #compute(id: number): void {
    const [found] = this.#database.statement(severityOf).get(id) ?? [];
    const [severity = notStored, owned = 0] = JSON.parse(String(found ?? '[]')) as readonly number[];
    this.#database
      .statement('UPDATE rolled_up SET severity = ? WHERE id = ?')
      .run(owned > mostOwned ? notStored : severity, id);
  }

  /** Forgets what the object's namespace and the cluster as such have. Owners are nowhere else. */
  #forgetAround(id: number): void {
    for (const kindId of this.#filled.keys()) {
      this.#database
        .statement(
          `UPDATE rolled_up SET severity = NULL WHERE severity IS NOT NULL AND id IN (
             SELECT o.id FROM object AS x CROSS JOIN object AS o ON o.kind = ? AND o.cluster = x.cluster AND o.namespace IN (x.namespace, '')
             WHERE x.id = ?)`,
        )
        .run(kindId, id);
    }
  }

  readonly #load = (): void => {
    this.#filled.clear();
    for (const [kindId, filled = null] of this.#database.statement('SELECT kind, filled FROM rolled_kind').all())
      this.#filled.set(Number(kindId), filled === null ? null : Number(filled));
  };
}
