/**
 * The search index: it finds the objects that may contain a term. Housekeeping updates it, so that no event and no list waits for it.
 * Searches scan objects that are not indexed yet.
 *
 *   a new object        its id is greater than `watermark` -> indexed, and the watermark advances
 *   a changed object    a trigger adds its id to `search_pending` -> indexed again
 *   a deleted object    the same -> removed
 *
 * Invariant: an object up to the watermark that is not pending has its current text in `search_text` and in `search_index`. The index
 * may return an object that no longer contains a term. It never misses an indexed object that contains the term.
 */

import { searchText, writtenPaths } from '../../catalog/paths/search-text.ts';
import type { Path } from '../../catalog/tree/path.ts';
import { parseExact } from '../../catalog/values/values.ts';
import type { SqlValue } from '../types/statement.ts';
import type { WriteBudget } from './write-budget.ts';
import type { WriteSession } from './write-session.ts';

const batch = 100;

export class SearchIndex {
  readonly #session: WriteSession;
  readonly #paths: readonly Path[];
  /** Sum of the revision and the next object id at the last complete run. While it is the same, no object needs indexing. */
  #seen = -1;

  /** Clears the index if the searched paths have changed. */
  constructor(session: WriteSession, paths: readonly Path[]) {
    this.#session = session;
    this.#paths = paths;
    const { database } = session;
    const written = writtenPaths(paths);
    if (database.statement('SELECT paths FROM search_state').get()?.[0] === written) return;
    session.run(() => {
      database.exec('DELETE FROM search_text');
      database.exec('DELETE FROM search_pending');
      database.exec("INSERT INTO search_index (search_index) VALUES ('delete-all')");
      database.statement('UPDATE search_state SET watermark = 0, paths = ?').run(written);
    });
  }

  /** One step within the budget; false when all objects are indexed. */
  advance(budget: WriteBudget): boolean {
    const { counters } = this.#session;
    const now = counters.revision + counters.nextObject;
    if (now === this.#seen) return false;
    budget.renew();
    const done = this.#session.run(() => this.#indexNew(budget) && this.#indexPending(budget));
    if (done) this.#seen = now;
    return !done;
  }

  #indexNew(budget: WriteBudget): boolean {
    const { database } = this.#session;
    const rows = database
      .statement(
        `SELECT o.id, o.seq, coalesce(b.text, json(b.body)) FROM object o JOIN body b ON b.id = o.id
         WHERE o.id > (SELECT watermark FROM search_state) ORDER BY o.id LIMIT +?`,
      )
      .all(batch);
    let last: SqlValue = null;
    for (const [id = null, seq = null, body] of rows) {
      this.#put(id, seq, String(body));
      last = id;
      if (budget.spend(0)) break;
    }
    if (last === null) return true;
    database.statement('UPDATE search_state SET watermark = ?').run(last);
    return false;
  }

  #indexPending(budget: WriteBudget): boolean {
    const { database } = this.#session;
    const rows = database
      .statement(
        `SELECT p.id, o.seq, coalesce(b.text, json(b.body)) FROM search_pending p
         LEFT JOIN object o ON o.id = p.id LEFT JOIN body b ON b.id = o.id LIMIT +?`,
      )
      .all(batch);
    for (const [id = null, seq = null, body] of rows) {
      if (seq === null) {
        database.statement('DELETE FROM search_text WHERE id = ?').run(id);
        database.statement('DELETE FROM search_index WHERE rowid = ?').run(id);
      } else {
        this.#put(id, seq, String(body));
      }
      database.statement('DELETE FROM search_pending WHERE id = ?').run(id);
      if (budget.spend(0)) return false;
    }
    return rows.length < batch;
  }

  #put(id: SqlValue, seq: SqlValue, body: string): void {
    const { database } = this.#session;
    const text = searchText(parseExact(body), this.#paths);
    const stored = database.statement('SELECT text FROM search_text WHERE id = ?').get(id);
    database.statement('INSERT OR REPLACE INTO search_text (id, seq, text) VALUES (?, ?, ?)').run(id, seq, text);
    if (stored?.[0] === text) return;
    database.statement('INSERT OR REPLACE INTO search_index (rowid, text) VALUES (?, ?)').run(id, text);
  }
}
