/**
 * The number of objects by namespace and health, of each published rowset (table `object_count`).
 *
 *   fill a rowset: RowsetCounts.add in memory -> publish: write -> events: change -> the rowset is no longer published: forget
 *
 * Invariant: for each published rowset, the rows of `object_count` are the counts of its rows in `object`. No row has a count of 0.
 */
import type { HealthStatus } from '../../catalog/health/health-status.ts';
import type { Database } from '../sqlite/database.ts';

/** The columns of an object by which objects are counted. */
interface Counted {
  readonly namespace: string;
  readonly health: HealthStatus;
}

/** The counts of a rowset that is not published. */
export class RowsetCounts {
  /** By health and namespace. */
  readonly #counts = new Map<HealthStatus, Map<string, number>>();

  add({ namespace, health }: Counted, by = 1): void {
    let byNamespace = this.#counts.get(health);
    if (byNamespace === undefined) {
      byNamespace = new Map();
      this.#counts.set(health, byNamespace);
    }
    byNamespace.set(namespace, (byNamespace.get(namespace) ?? 0) + by);
  }

  /** Writes the counts. Inside the transaction that publishes the rowset. */
  write(database: Database, rowset: number): void {
    for (const [health, byNamespace] of this.#counts) {
      for (const [namespace, objects] of byNamespace)
        if (objects > 0) change(database, rowset, { namespace, health }, objects);
    }
  }
}

/** Counts objects of a published rowset that were added (positive) or removed. Inside the transaction that changes the rows. */
export function change(database: Database, rowset: number, { namespace, health }: Counted, by: number): void {
  database
    .statement(
      `INSERT INTO object_count (rowset, namespace, health, objects) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET objects = objects + excluded.objects`,
    )
    .run(rowset, namespace, health, by);
  if (by < 0) {
    database
      .statement('DELETE FROM object_count WHERE rowset = ? AND namespace = ? AND health = ? AND objects = 0')
      .run(rowset, namespace, health);
  }
}

/** Removes the counts of a rowset that is no longer published. Inside a transaction. */
export function forget(database: Database, rowset: number): void {
  database.statement('DELETE FROM object_count WHERE rowset = ?').run(rowset);
}
