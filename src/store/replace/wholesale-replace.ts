/**
 * Replaces a set with a staged list that differs too much for one transaction. A second rowset is filled in small transactions and
 * published in one step.
 *
 *   new rowset -> the list: changed objects from their staged texts, the others copied inside SQLite
 *              -> objects that only events added meanwhile: copied -> published; the log gets one RESET
 *
 * The event loop has a turn between two transactions. After a failure the rowset stays unpublished, and housekeeping removes its rows.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { must } from '../../base/must.ts';
import type { HealthStatus } from '../../catalog/health/health-status.ts';
import { readIncoming } from '../objects/incoming.ts';
import { newTally, type Tally } from '../rows/event-applier.ts';
import { RowsetCounts } from '../rows/object-counts.ts';
import { WriteBudget } from '../rows/write-budget.ts';
import type { WriteContext } from '../rows/write-context.ts';
import type { Row } from '../types/statement.ts';
import type { Baseline } from './baseline.ts';
import { fill, newRowset, publish } from './rowset.ts';
import type { StagedList, StagedObject } from './staged-list.ts';

const rowsAtOnce = 100;

/** Fills and publishes a rowset of the staged objects. `shape` is the shape of their bodies. Throws CONFLICT when the set was replaced. */
export async function replaceWholesale(
  context: WriteContext,
  baseline: Baseline,
  staged: StagedList,
  { resourceVersion, shape }: { readonly resourceVersion: string; readonly shape: string },
): Promise<Tally> {
  const { filling, session } = context;
  const resource = baseline.resource();
  const rowset = session.run(() => newRowset(context, resource));
  filling.add(rowset);
  try {
    const filler = new RowsetFiller(context, baseline, rowset);
    const tally = newTally();
    const objects = (await filler.fillFromList(staged, tally)) + (await filler.fillFromEvents());
    const current = baseline.resource();
    tally.deleted = Math.max(0, current.objects + tally.added - objects);
    const version = baseline.newVersion(current, resourceVersion);
    publish(context, current, { rowset, resourceVersion: version, objects, counts: filler.counts, shape });
    return tally;
  } finally {
    filling.delete(rowset);
  }
}

class RowsetFiller {
  readonly #context: WriteContext;
  readonly #baseline: Baseline;
  readonly #rowset: number;
  readonly counts = new RowsetCounts();

  constructor(context: WriteContext, baseline: Baseline, rowset: number) {
    this.#context = context;
    this.#baseline = baseline;
    this.#rowset = rowset;
  }

  /** Returns the number of filled objects. */
  async fillFromList(staged: StagedList, tally: Tally): Promise<number> {
    let objects = 0;
    let last: readonly [string, string] = ['', ''];
    for (;;) {
      const rows = staged.after(last, rowsAtOnce);
      if (rows.length === 0) return objects;
      objects += await this.#inSlices(rows, (row) => {
        const [namespace, name, text] = [String(row[0]), String(row[1]), row[2]];
        last = [namespace, name];
        return this.#fillOne(
          {
            namespace,
            name,
            text: text === null ? null : String(text),
            uid: String(row[3]),
            resourceVersion: String(row[4]),
          },
          tally,
        );
      });
    }
  }

  /** Copies the objects that events added after the list began and that the list does not have. Returns their number. */
  async fillFromEvents(): Promise<number> {
    const { session, rows: writer } = this.#context;
    const { rowset, since } = this.#baseline;
    let objects = 0;
    let last = 0;
    for (;;) {
      const rows = session.database
        .statement('SELECT object FROM change WHERE seq > ? AND object > ? AND kind = ? ORDER BY object LIMIT +?')
        .all(since, last, this.#baseline.resource().kind.id, rowsAtOnce);
      if (rows.length === 0) return objects;
      objects += await this.#inSlices(rows, ([object]) => {
        last = Number(object);
        const row = session.database
          .statement('SELECT namespace, name, health FROM object WHERE id = ? AND rowset = ? AND seq > ?')
          .get(last, rowset, since);
        if (row === undefined) return 0;
        const [namespace, name] = [String(row[0]), String(row[1])];
        if (writer.find(this.#rowset, namespace, name) !== null) return 0;
        return this.#copy({ id: last, namespace, health: row[2] as HealthStatus });
      });
    }
  }

  /** Processes the rows in transactions within the bounds, with a turn of the event loop between two. */
  async #inSlices(rows: readonly Row[], work: (row: Row) => number): Promise<number> {
    const { session, clock, bounds } = this.#context;
    const budget = new WriteBudget(clock, bounds);
    let done = 0;
    for (let next = 0; next < rows.length; ) {
      this.#baseline.resource();
      this.#context.disk.admitBulk();
      budget.renew();
      const slice = session.run(() => {
        let objects = 0;
        let index = next;
        for (; index < rows.length; ) {
          const row = must(rows[index], 'a row');
          objects += work(row);
          index += 1;
          if (budget.spend(typeof row[2] === 'string' ? row[2].length : 0)) break;
        }
        return { objects, index };
      });
      done += slice.objects;
      next = slice.index;
      await this.#context.wal.room();
      await nextTurn();
    }
    return done;
  }

  /** Returns 1 if the object is in the new rowset now, otherwise 0. */
  #fillOne(staged: StagedObject, tally: Tally): number {
    const { resources, rows } = this.#context;
    const resource = this.#baseline.resource();
    const stored = rows.find(this.#baseline.rowset, staged.namespace, staged.name);
    if (staged.text === null || (stored !== null && stored.seq > this.#baseline.since)) {
      tally.ignored += 1;
      return stored === null ? 0 : this.#copy({ ...stored, namespace: staged.namespace });
    }
    const target = resources.target(resource, this.#rowset);
    const { text, uid, resourceVersion } = staged;
    const received = readIncoming({ text, uid, resourceVersion }, resource);
    if (this.#baseline.wasOvertaken(target, received)) {
      tally.ignored += 1;
      return 0;
    }
    if (stored === null || stored.uid !== staged.uid) tally.added += 1;
    else tally.modified += 1;
    fill(this.#context, target, received, this.counts);
    return 1;
  }

  #copy(object: { readonly id: number; readonly namespace: string; readonly health: HealthStatus }): 1 {
    const { session, rows } = this.#context;
    const to = { id: session.nextObjectId(), rowset: this.#rowset };
    const { kind } = this.#baseline.resource();
    rows.copy({ kindId: kind.id, promoted: kind.promoted }, object.id, to);
    this.counts.add(object);
    return 1;
  }
}
