/**
 * The writer's housekeeping, in steps that each stay within the bounds of a transaction: old entries of the log, rows that no
 * longer count, staged rows of finished replaces, slots that wait for their values, the search index.
 *
 * When the store is tight (disk-budget.ts), the cheapest loss comes first:
 *   1. rows that no longer count, staged rows of finished replaces: nothing
 *   2. the change log, down to its least bytes: who was away for longer gets a new snapshot instead of the changes
 *   3. Events, the oldest first, down to a few, and only for what is published: their server drops them within hours anyway
 * and neither backfill nor search index go on. What does not fit then is refused, and served as it was.
 */
import { parseExact } from '../../catalog/values/values.ts';
import type { SearchIndex } from '../rows/search-index.ts';
import type { StoredKind } from '../rows/stored-resource.ts';
import { WriteBudget } from '../rows/write-budget.ts';
import type { WriteContext } from '../rows/write-context.ts';
import { retainSome } from './retention.ts';

const batch = 300;
/** Objects of all kinds that a step of a backfill passes at most. */
const idsAtOnce = 5000;
/** Events that are kept of a cluster even when room is short. */
const leastEvents = 1000;

export class Housekeeping {
  readonly #context: WriteContext;
  readonly #searchIndex: SearchIndex;
  readonly #budget: WriteBudget;

  constructor(context: WriteContext, searchIndex: SearchIndex) {
    this.#context = context;
    this.#searchIndex = searchIndex;
    this.#budget = new WriteBudget(context.clock, context.bounds);
  }

  /** One step of what is most due; false when there is nothing to do. */
  step(): boolean {
    const { disk } = this.#context;
    if (disk.tight()) return this.purge() || this.#clearStaging() || this.#trim(true) || this.#shedEvents();
    return this.#trim(false) || this.#backfill() || this.purge() || this.#clearStaging() || this.#search();
  }

  /** The index waits for first syncs: it would slow them down, and their rows do not count yet. */
  #search(): boolean {
    return this.#context.filling.size === 0 && this.#searchIndex.advance(this.#budget);
  }

  #trim(tight: boolean): boolean {
    const { disk, log, session } = this.#context;
    if (!log.isOver(tight)) return false;
    const removed = session.run(() => log.cut(batch, tight));
    if (tight) disk.gaveUp('changes', removed);
    return removed === batch;
  }

  /** Removes some of the oldest Events of the cluster that has the most. */
  #shedEvents(): boolean {
    const { disk, filling, resources } = this.#context;
    if (filling.size > 0) return false;
    const [most] = resources
      .all()
      .filter(({ kind, objects, synced }) => synced && kind.key === 'events' && objects > leastEvents)
      .toSorted((a, b) => b.objects - a.objects);
    if (most === undefined) return false;
    const maxObjects = Math.max(leastEvents, most.objects - batch);
    const removed = retainSome(this.#context, most, { maxObjects, oldest: 0n });
    disk.gaveUp('events', removed);
    return removed > 0;
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
      const ids = database.statement('SELECT id, uid FROM object WHERE rowset = ? LIMIT +?').all(rowset, batch);
      if (ids.length === 0) database.statement('DELETE FROM stale_rowset WHERE rowset = ?').run(rowset);
      for (const [id, uid] of ids) {
        if (kind !== undefined) rows.remove(kind.promoted, { id: Number(id), uid: String(uid) });
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
      .statement('DELETE FROM staging.staged WHERE id IN (SELECT id FROM staging.staged WHERE replace = ? LIMIT +?)')
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
    const to = from + idsAtOnce;
    // No index has a kind's objects in the order of their ids: by one, all of them would be sorted for each step.
    const rows = session.database
      .statement(
        `SELECT o.id, o.rowset, o.cluster, o.namespace, o.name, coalesce(b.text, json(b.body))
         FROM object o CROSS JOIN body b ON b.id = o.id WHERE +o.kind = ? AND o.id > ? AND o.id <= ? ORDER BY o.id LIMIT +?`,
      )
      .all(kind.id, from, to, batch);
    let last = from;
    let whole = rows.length < batch;
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
      if (this.#budget.spend(0)) {
        whole = false;
        break;
      }
    }
    const over = whole && to >= session.counters.nextObject;
    promoted.backfilledTo(over ? null : whole ? to : last);
    if (over) session.counters.layoutVersion += 1;
  }
}
