/**
 * The writer's housekeeping, in steps that each stay within the bounds of a transaction: old entries of the log, rows that no
 * longer count, staged rows of finished replaces, slots that wait for their values.
 */
import type { Clock } from '../base/clock.ts';
import { parseExact } from '../catalog/values.ts';
import type { ChangeLog } from './change-log.ts';
import type { Resources, StoredKind } from './resources.ts';
import type { RowWriter } from './row-writer.ts';
import { type WriteBounds, WriteBudget } from './write-budget.ts';
import type { WriteSession } from './write-session.ts';

export interface HousekeepingContext {
  readonly session: WriteSession;
  readonly resources: Resources;
  readonly rows: RowWriter;
  readonly log: ChangeLog;
  readonly clock: Clock;
  readonly bounds: WriteBounds;
  readonly filling: ReadonlySet<number>;
  readonly unstaged: number[];
}

const batch = 300;

export class Housekeeping {
  readonly #context: HousekeepingContext;
  readonly #budget: WriteBudget;

  constructor(context: HousekeepingContext) {
    this.#context = context;
    this.#budget = new WriteBudget(context.clock, context.bounds);
  }

  /** One step of what is most due; false when there is nothing to do. */
  step(): boolean {
    return this.#context.log.trim(batch) || this.#backfill() || this.purge() || this.#clearStaging();
  }

  /** Removes some rows of one stale rowset, of `only` if given. */
  purge(only?: number): boolean {
    const { session, resources, rows, filling } = this.#context;
    const { database } = session;
    const stale = database
      .statement('SELECT rowset, kind FROM stale_rowset ORDER BY rowset')
      .all()
      .find(([rowset]) => (only === undefined || rowset === only) && !filling.has(Number(rowset)));
    if (stale === undefined) return false;
    const [rowset, kindId] = [Number(stale[0]), Number(stale[1])];
    const kind = resources.kinds().find((kind) => kind.id === kindId);
    this.#budget.renew();
    session.run(() => {
      const ids = database.statement('SELECT id FROM object WHERE rowset = ? LIMIT ?').all(rowset, batch);
      if (ids.length === 0) database.statement('DELETE FROM stale_rowset WHERE rowset = ?').run(rowset);
      for (const [id] of ids) {
        if (kind !== undefined) rows.remove(kind.promoted, Number(id));
        if (this.#budget.spend(0)) break;
      }
    });
    return true;
  }

  #clearStaging(): boolean {
    const { session, unstaged } = this.#context;
    const [replace] = unstaged;
    if (replace === undefined) return false;
    const { changes } = session.database
      .statement('DELETE FROM staging.staged WHERE id IN (SELECT id FROM staging.staged WHERE replace = ? LIMIT ?)')
      .run(replace, batch);
    if (changes === 0) unstaged.shift();
    return true;
  }

  /** Gives the rows of one kind their values in slots that came later. */
  #backfill(): boolean {
    const kind = this.#context.resources.kinds().find(({ promoted }) => promoted.slots.some((slot) => !slot.ready));
    if (kind === undefined) return false;
    this.#budget.renew();
    try {
      this.#context.session.run(() => this.#backfillSome(kind));
    } catch (error) {
      this.#context.resources.reload();
      throw error;
    }
    return true;
  }

  #backfillSome(kind: StoredKind): void {
    const { session } = this.#context;
    const { promoted } = kind;
    const waiting = promoted.slots.filter((slot) => !slot.ready);
    const from = Math.min(...waiting.map((slot) => slot.backfilled));
    const rows = session.database
      .statement(
        `SELECT o.id, o.rowset, o.cluster, o.namespace, o.name, coalesce(b.text, json(b.body))
         FROM object o JOIN body b ON b.id = o.id WHERE o.kind = ? AND o.id > ? ORDER BY o.id LIMIT ?`,
      )
      .all(kind.id, from, batch);
    let last = from;
    for (const [id, rowset, cluster, namespace, name, json] of rows) {
      const text = String(json);
      last = Number(id);
      const keys = promoted.keysOf({ text, value: parseExact(text) as Readonly<Record<string, unknown>> });
      if (!promoted.update(last, keys)) {
        const row = {
          rowset: Number(rowset),
          cluster: String(cluster),
          namespace: String(namespace),
          name: String(name),
        };
        promoted.insert(last, row, keys);
      }
      if (this.#budget.spend(0)) break;
    }
    promoted.backfilledTo(rows.length === 0 ? null : last);
    if (rows.length === 0) session.counters.layoutVersion += 1;
  }
}
