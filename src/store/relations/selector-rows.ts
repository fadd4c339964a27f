/**
 * Writes the label selectors of objects, one row for each selector.
 *
 *   { app: web, tier: front }          key app, value web, needs [[["app","web"],["tier","front"]],[]]
 *   { app: web }                       key app, value web, needs null: the pair says all
 *   { matchExpressions: [old DoesNotExist] }   key '', value '', needs [[],[{"key":"old",…}]]
 *   {} where it selects all            key '', value '', needs null
 *
 * An object that is selected has the label `key` with `value`, so its labels find the selectors that may select it. `needs` is what
 * the SQL function `selects` checks. A selector that selects nothing has no row.
 */
import { type LabelSelector, readSelector } from '../../catalog/bodies/read-selector.ts';
import type { Database } from '../sqlite/database.ts';
import type { RelatingObject, StoredPlaces } from './place-rows.ts';

interface SelectorRow {
  readonly key: string;
  readonly value: string;
  readonly needs: string | null;
}

export class SelectorRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Writes the differences between the stored selectors of an object and those of its body. Returns the number of changed rows. */
  write({ id, cluster, namespace }: RelatingObject, body: unknown, places: StoredPlaces['selectors']): number {
    let changed = 0;
    for (const { id: placeId, place, dropped } of places) {
      const read = dropped ? null : readSelector(place, body);
      const wanted = read === null ? null : rowOf(read);
      const held = this.#database
        .statement('SELECT key, value, needs FROM selector WHERE id = ? AND place = ?')
        .get(id, placeId);
      if (wanted === null ? held === undefined : isRow(wanted, held)) continue;
      changed += 1;
      this.#database.statement('DELETE FROM selector WHERE id = ? AND place = ?').run(id, placeId);
      if (wanted === null) continue;
      this.#database
        .statement(
          'INSERT INTO selector (place, cluster, namespace, key, value, id, needs) VALUES (?, ?, ?, ?, ?, ?, ?)',
        )
        .run(placeId, cluster, namespace, wanted.key, wanted.value, id, wanted.needs);
    }
    return changed;
  }

  /** Removes the selectors of an object. */
  remove(id: number): void {
    this.#database.statement('DELETE FROM selector WHERE id = ?').run(id);
  }

  /** Copies the selectors of an object to its copy in another rowset. */
  copy(id: number, to: number): void {
    this.#database
      .statement(
        `INSERT INTO selector (place, cluster, namespace, key, value, id, needs)
         SELECT place, cluster, namespace, key, value, ?, needs FROM selector WHERE id = ?`,
      )
      .run(to, id);
  }
}

function rowOf({ pairs, rest }: LabelSelector): SelectorRow {
  // A long pair is probably rarer than a short one, so fewer labels lead to the selector.
  const lengthOf = ([key, value]: readonly [string, string]): number => key.length + value.length;
  const [longest] = pairs.toSorted((a, b) => lengthOf(b) - lengthOf(a));
  const [key, value] = longest ?? ['', ''];
  const all = pairs.length <= 1 && rest.length === 0;
  return { key, value, needs: all ? null : JSON.stringify([pairs, rest]) };
}

function isRow({ key, value, needs }: SelectorRow, row: readonly unknown[] | undefined): boolean {
  return row !== undefined && row[0] === key && row[1] === value && row[2] === needs;
}
