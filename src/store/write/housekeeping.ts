/**
 * The writer's housekeeping. Each step stays within the bounds of a transaction. It removes old entries of the log, stale rows and
 * staged rows of finished replaces. It fills new slots, computes roll-ups and updates the search index.
 *
 * When the store is tight (disk-budget.ts), it removes data in this order, and neither fills slots nor updates the search index:
 *   1. stale rows and staged rows of finished replaces: no loss
 *   2. the change log, down to its least bytes: a reader that needs older changes gets a new snapshot instead
 *   3. the oldest Events of a collection, down to `leastEvents`: the API server deletes them within hours anyway. Not while a rowset
 *      is being filled.
 * Work that still does not fit fails with a StoreFault, and readers get the objects that are stored already.
 */
import { isDeepStrictEqual } from 'node:util';
import { healthOf } from '../../catalog/health/health.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { change } from '../rows/object-counts.ts';
import type { SearchIndex } from '../rows/search-index.ts';
import type { StoredKind } from '../rows/stored-resource.ts';
import { WriteBudget } from '../rows/write-budget.ts';
import type { WriteContext } from '../rows/write-context.ts';
import { allHealthColumns, healthValues, storedHealth } from '../types/kind-layout.ts';
import type { SqlValue } from '../types/statement.ts';
import { retainSome } from './retention.ts';

const batch = 300;
/** Most object ids, of all kinds, that one step of a backfill scans. */
const idsAtOnce = 5000;
/** Objects of a kind whose references are found by an index of the kind. */
const smallKind = 2000;
const stored = allHealthColumns.map((column) => `o.${column}`).join(', ');
/** Number of Events that a collection keeps even when the store is tight. */
const leastEvents = 1000;

export class Housekeeping {
  readonly #context: WriteContext;
  readonly #searchIndex: SearchIndex;
  readonly #budget: WriteBudget;
  #searchFirst = false;

  constructor(context: WriteContext, searchIndex: SearchIndex) {
    this.#context = context;
    this.#searchIndex = searchIndex;
    this.#budget = new WriteBudget(context.clock, context.bounds);
  }

  /** Runs the most urgent step; false when nothing is left to do. */
  step(): boolean {
    const { disk } = this.#context;
    if (disk.tight()) return this.purge() || this.#clearStaging() || this.#trim(true) || this.#shedEvents();
    return (
      this.#trim(false) ||
      this.#backfill() ||
      this.#fillHealth() ||
      this.#fillRelations() ||
      this.purge() ||
      this.#clearStaging() ||
      this.#sweepTargets() ||
      this.#inTurns()
    );
  }

  /** Each change of an object may need both. So one of them does not wait until nothing is left of the other. */
  #inTurns(): boolean {
    this.#searchFirst = !this.#searchFirst;
    return this.#searchFirst ? this.#search() || this.#fillRollUps() : this.#fillRollUps() || this.#search();
  }

  /** Does not run while a rowset is being filled: it would slow the fill down, and the new rows are not published yet. */
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

  /** Removes some of the oldest Events of the collection with the most Events. */
  #shedEvents(): boolean {
    const { disk, filling, follows, resources } = this.#context;
    if (follows || filling.size > 0) return false;
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

  /** Removes some rows of one stale rowset (`only`, if given). False if there is none. */
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
        if (kind !== undefined) {
          rows.remove({ kindId: kind.id, promoted: kind.promoted }, { id: Number(id), uid: String(uid) });
        }
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

  /** Fills the slots of one kind that are not ready, for some of its rows. */
  #backfill(): boolean {
    const kind = this.#context.resources.kinds().find(({ promoted }) => promoted.slots.some((slot) => !slot.ready));
    if (kind === undefined) return false;
    this.#budget.renew();
    this.#context.resources.change(() => this.#backfillSome(kind));
    return true;
  }

  #backfillSome(kind: StoredKind): void {
    const { session } = this.#context;
    const { promoted } = kind;
    const waiting = promoted.slots.filter((slot) => !slot.ready);
    const from = Math.min(...waiting.map((slot) => slot.backfilled));
    const columns = `o.rowset, o.cluster, o.namespace, o.name, coalesce(b.text, json(b.body)), ${stored}`;
    const reached = this.#someObjects(
      kind.id,
      from,
      columns,
      ([id, rowset, cluster, namespace, name, json, ...health]) => {
        const text = String(json);
        const value = parseExact(text) as Readonly<Record<string, unknown>>;
        const keys = promoted.keysOf({ text, value, health: storedHealth(health) });
        if (promoted.update(Number(id), keys)) return;
        const row = {
          rowset: Number(rowset),
          cluster: String(cluster),
          namespace: String(namespace),
          name: String(name),
        };
        promoted.insert(Number(id), row, keys);
      },
    );
    promoted.backfilledTo(reached);
    if (reached === null) session.counters.layoutVersion += 1;
  }

  /**
   * Calls `each` for some objects of a kind, in the order of their ids, within the budget.
   * @param from only objects with a greater id
   * @param columns of `object AS o` and `body AS b`, after the id
   * @returns the id up to which all objects were given; null if no object is left
   */
  #someObjects(
    kindId: number,
    from: number,
    columns: string,
    each: (row: readonly SqlValue[]) => void,
    small = false,
  ): number | null {
    const { counters, database } = this.#context.session;
    const to = small ? counters.nextObject : from + idsAtOnce;
    // The ids of a small kind are found by an index of the kind. The plus prevents its use for a large one: no index has a kind's objects by
    // id, so each step would sort all of them.
    const rows = database
      .statement(
        `SELECT o.id, ${columns} FROM object o CROSS JOIN body b ON b.id = o.id
         WHERE ${small ? 'o.kind = ? AND +o.id > ? AND +o.id <= ?' : '+o.kind = ? AND o.id > ? AND o.id <= ?'} ORDER BY o.id LIMIT +?`,
      )
      .all(kindId, from, to, batch);
    for (const row of rows) {
      each(row);
      if (this.#budget.spend(0)) return Number(row[0]);
    }
    const last = rows.at(-1);
    if (last !== undefined && rows.length === batch) return Number(last[0]);
    return to >= counters.nextObject ? null : to;
  }

  /** Computes the health of objects again whose kind has other rules now. Their collections are reset when all of them have it. */
  #fillHealth(): boolean {
    const { filling, resources } = this.#context;
    if (filling.size > 0) return false;
    const kind = resources.kinds().find(({ health }) => health.from !== null);
    if (kind === undefined) return false;
    this.#budget.renew();
    resources.change(() => this.#fillSomeHealth(kind, kind.health.from ?? 0));
    return true;
  }

  #fillSomeHealth(kind: StoredKind, from: number): void {
    const { log, relations, resources, session } = this.#context;
    const { database } = session;
    const collections = resources.all().filter((each) => each.kind === kind);
    const rulesOf = new Map(collections.map(({ handle, health }) => [handle.cluster, health]));
    const published = new Set(collections.map(({ rowset }) => rowset));
    const columns = `o.rowset, o.cluster, o.namespace, coalesce(b.text, json(b.body)), ${stored}`;
    const reached = this.#someObjects(kind.id, from, columns, ([id, rowset, cluster, namespace, json, ...columns]) => {
      const text = String(json);
      const value = parseExact(text) as Readonly<Record<string, unknown>>;
      const before = storedHealth(columns);
      const health = healthOf(value, rulesOf.get(String(cluster)));
      if (isDeepStrictEqual(before, health)) return;
      database
        .statement(`UPDATE object SET ${allHealthColumns.join(' = ?, ')} = ? WHERE id = ?`)
        .run(...healthValues(health), Number(id));
      kind.promoted.update(Number(id), kind.promoted.keysOf({ text, value, health }));
      if (!published.has(Number(rowset)) || before.status === health.status) return;
      relations.rolledUp.changed(Number(id));
      change(database, Number(rowset), { namespace: String(namespace), health: before.status }, -1);
      change(database, Number(rowset), { namespace: String(namespace), health: health.status }, 1);
    });
    resources.healthFilled(kind, { ...kind.health, from: reached });
    if (reached !== null) return;
    // Readers that follow changes do not see the new health otherwise.
    const synced = collections.filter((each) => each.synced);
    for (const [cluster, version] of new Map(synced.map((each) => [each.handle.cluster, each.lastResourceVersion])))
      log.reset(kind.id, { cluster, collection: '', reason: 'derived', resourceVersion: version ?? '' });
  }

  /** Whether objects may lack references or selectors, so that relations cannot be used. */
  relationsPending(): boolean {
    const { relations, resources } = this.#context;
    return resources.kinds().some(({ id }) => relations.places.fillFrom(id) !== null);
  }

  /**
   * Writes references and selectors of objects that may lack them, of small kinds first. Not while a rowset is being filled: it would slow
   * the fill down.
   */
  #fillRelations(): boolean {
    const { filling, relations, resources, session } = this.#context;
    if (filling.size > 0) return false;
    const open = resources.kinds().flatMap((kind) => {
      const from = relations.places.fillFrom(kind.id);
      return from === null ? [] : [{ kind, from, objects: resources.objectsOf(kind) }];
    });
    const [next] = open.sort((a, b) => a.objects - b.objects);
    if (next === undefined) return false;
    this.#budget.renew();
    session.run(() => this.#fillSomeRelations(next.kind.id, next.from, next.objects <= smallKind));
    return true;
  }

  #fillSomeRelations(kindId: number, from: number, small: boolean): void {
    const { relations } = this.#context;
    const reached = this.#someObjects(
      kindId,
      from,
      'o.cluster, o.namespace, coalesce(b.text, json(b.body))',
      ([id, cluster, namespace, json]) => {
        const object = { id: Number(id), kindId, cluster: String(cluster), namespace: String(namespace) };
        relations.write(object, parseExact(String(json)));
      },
      small,
    );
    relations.places.filled(kindId, reached);
  }

  /** Computes roll-ups that are wanted and not known. Not while a rowset is being filled: its publication forgets all of them. */
  #fillRollUps(): boolean {
    const { filling, relations, resources, session } = this.#context;
    const { rolledUp } = relations;
    if (filling.size > 0) return false;
    const lacking = rolledUp.lacking();
    if (lacking === null && !rolledUp.isOpen()) return false;
    this.#budget.renew();
    session.run(() => {
      if (lacking === null) return rolledUp.fill(() => this.#budget.spend(0));
      const { kindId, from } = lacking;
      const kind = resources.kinds().find(({ id }) => id === kindId);
      const small = kind === undefined || resources.objectsOf(kind) <= smallKind;
      const reached = this.#someObjects(kindId, from, '1', ([id]) => rolledUp.add(Number(id), kindId), small);
      rolledUp.filledTo(kindId, reached);
    });
    return true;
  }

  /** Removes targets that nothing mentions any more, once many references have been removed. */
  #sweepTargets(): boolean {
    const { relations, session } = this.#context;
    if (!relations.sweepIsDue()) return false;
    session.run(() => relations.sweep(batch));
    return true;
  }
}
