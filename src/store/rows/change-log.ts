/**
 * The write side of the change log: one entry for each committed change, with the previous body, copied inside SQLite.
 *
 * Invariant: for each kind, the log has every entry after the kind's floor (kind-logs.ts). Of a kind, the oldest entries are removed
 * first. When the log exceeds its bytes, `KindLogs.heaviest` says of which kind. Entries of any kind are removed when they exceed the
 * age. An idle writer removes entries in small transactions of housekeeping. A busy writer removes them in the transactions of events,
 * so the log exceeds its bounds by a few entries at most.
 *
 *   Pods: 100 MB of 20 s, Deployments: 1 MB of an hour   over the bytes   ->   the oldest Deployments are removed, until they have
 *                                                                              750 kB of 45 minutes; then Pods and Deployments in turn
 */
import type { Clock } from '../../base/clock.ts';
import type { ResetReason } from '../types/followed-log.ts';
import type { Row } from '../types/statement.ts';
import type { WriteSession } from './write-session.ts';

export interface LogBounds {
  /** Bytes of bodies and entries of all kinds; default 256 MiB. */
  readonly maxBytes: number;
  /** Milliseconds; default seven days. */
  readonly maxAgeMs: number;
  /** `maxBytes` while the store is tight (disk-budget.ts); default 16 MiB. */
  readonly leastBytes: number;
}

/** The place of an entry in a log that this one follows. */
export interface LogPlace {
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

interface Reset {
  readonly cluster: string;
  /** The namespace of the collection; the empty string for all namespaces. */
  readonly collection: string;
  readonly reason: ResetReason;
  readonly resourceVersion: string;
}

interface ChangedObject {
  readonly kindId: number;
  readonly cluster: string;
  readonly id: number;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** JSON of the managers that made the change (field-managers.ts); null if they are unknown. */
  readonly managers: string | null;
}

/** Estimated bytes of an entry besides its body: the row and its index entries. */
const entryBytes = 200;
/** Events between two removals of the oldest entries, while events keep the writer busy. */
const eventsPerCut = 16;
/**
 * The most entries that are removed for each event. In a steady state it is about one. It is more when large entries of one kind displace
 * small ones of another.
 */
const mostPerEvent = 8;
/** The most entries of one kind that are removed before the kinds are compared again, and their most share of its bytes. */
const step = 32;
const stepShare = 1 / 8;

/**
 * The newest deletion of a uid in the log, in a kind and a cluster. It runs for each added object, so it must use the index of
 * deletions. Without the plus, SQLite may scan all entries of the kind instead, because the index by kind has the same order.
 */
export const deletionOf = `SELECT seq, rv FROM change
  WHERE uid = ? AND type = 'DELETED' AND +kind = ? AND cluster = ? ORDER BY seq DESC LIMIT 1`;

/** The oldest entries of a kind, and the removal of those up to one. The index finds them among the entries of other kinds. */
export const oldestOfKind = `SELECT seq, octet_length(before), octet_length(managers), at FROM change INDEXED BY change_kind
  WHERE kind = ? ORDER BY seq LIMIT +?`;
export const removalOfKind = 'DELETE FROM change INDEXED BY change_kind WHERE kind = ? AND seq <= ?';

export class ChangeLog {
  readonly #session: WriteSession;
  readonly #clock: Clock;
  readonly #bounds: LogBounds;
  readonly #follows: boolean;
  /** Events since the last removal of the oldest entries. */
  #eventsSinceCut = 0;

  /** @param follows the entries are those of another log, each with its place in it */
  constructor(session: WriteSession, clock: Clock, { follows, ...bounds }: LogBounds & { readonly follows: boolean }) {
    this.#session = session;
    this.#clock = clock;
    this.#bounds = bounds;
    this.#follows = follows;
  }

  /** Call before the rows change, because it copies the previous body. Returns the sequence number. @param place in a followed log */
  append(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: ChangedObject, place?: LogPlace): number {
    const { seq, at } = this.#placed(object.kindId, place);
    const values = [
      seq,
      object.kindId,
      object.cluster,
      object.id,
      object.namespace,
      object.name,
      object.uid,
      type,
      object.resourceVersion,
      at,
      object.managers,
    ] as const;
    const row = this.#session.database
      .statement(
        `INSERT INTO change (seq, kind, cluster, object, namespace, name, uid, type, rv, at, managers, before)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${type === 'ADDED' ? 'NULL' : '(SELECT coalesce(text, body) FROM body WHERE id = ?)'})
         RETURNING octet_length(before)`,
      )
      .get(...values, ...(type === 'ADDED' ? [] : [object.id]));
    this.#session.logs.added(object.kindId, sizeOf(row?.[0], object.managers?.length), at);
    return seq;
  }

  /**
   * Appends a RESET: readers must read the kind's tables of this cluster again. A store that follows another one has its RESETs alone.
   * @param place in a followed log
   */
  reset(kindId: number, { cluster, collection, reason, resourceVersion }: Reset, place?: LogPlace): void {
    if (this.#follows && place === undefined) return;
    const { seq, at } = this.#placed(kindId, place);
    const told = JSON.stringify([reason, collection]);
    this.#session.database
      .statement(
        `INSERT INTO change (seq, kind, cluster, object, namespace, name, uid, type, rv, at, managers, before)
         VALUES (?, ?, ?, 0, '', '', NULL, 'RESET', ?, ?, ?, NULL)`,
      )
      .run(seq, kindId, cluster, resourceVersion, at, told);
    this.#session.logs.added(kindId, sizeOf(null, told.length), at);
  }

  #placed(kindId: number, place: LogPlace | undefined): LogPlace {
    if (this.#follows !== (place !== undefined)) throw new Error('an entry of the wrong log');
    const at = place?.at ?? this.#clock.now();
    return { seq: this.#session.nextSequence(kindId, place?.seq), at };
  }

  /** The newest deletion of this object in the log, or null. */
  wasDeleted(
    kindId: number,
    cluster: string,
    uid: string,
  ): { readonly seq: number; readonly resourceVersion: string } | null {
    const row = this.#session.database.statement(deletionOf).get(uid, kindId, cluster);
    return row === undefined ? null : { seq: Number(row[0]), resourceVersion: String(row[1]) };
  }

  /** Removes the bodies of a kind in a cluster from the log, because they may contain paths that are redacted now. */
  forgetBodies(kindId: number, cluster: string): void {
    const { database, logs } = this.#session;
    const bodies = 'kind = ? AND cluster = ? AND before IS NOT NULL';
    const sum = database.statement(`SELECT sum(octet_length(before)) FROM change WHERE ${bodies}`).get(kindId, cluster);
    database.statement(`UPDATE change SET before = NULL WHERE ${bodies}`).run(kindId, cluster);
    logs.shrunk(kindId, Number(sum?.[0] ?? 0));
  }

  /** True if the log or its oldest entry exceeds the bounds. `tight` lowers the bound to `leastBytes`. */
  isOver(tight: boolean): boolean {
    return this.#exceeds(tight) || this.#hasOld();
  }

  /**
   * Removes old entries while events keep the writer busy. The removals of several events are done together, because single ones would
   * write the same pages again and again. Inside a transaction. Returns the number of removed entries.
   */
  pay(events: number, tight: boolean): number {
    this.#eventsSinceCut += events;
    if (events === 0 || (this.#eventsSinceCut < eventsPerCut && !tight)) return 0;
    const due = this.#eventsSinceCut;
    this.#eventsSinceCut = 0;
    return this.isOver(tight) ? this.cut(due * mostPerEvent, tight) : 0;
  }

  /** Removes up to `limit` of the entries that exceed the bounds. Inside a transaction. Returns the number of removed entries. */
  cut(limit: number, tight: boolean): number {
    const { logs } = this.#session;
    let removed = this.#hasOld() ? this.#cutOld(limit) : 0;
    while (removed < limit && this.#exceeds(tight)) {
      const heaviest = logs.heaviest(this.#clock.now());
      if (heaviest === null) break;
      const bytes = Math.min(logs.bytes - this.#mostBytes(tight), heaviest.bytes * stepShare);
      const some = this.#cutKind(heaviest.kindId, Math.min(step, limit - removed), bytes);
      if (some === 0) break;
      removed += some;
    }
    return removed;
  }

  /** Removes up to `limit` entries that exceed the age. */
  #cutOld(limit: number): number {
    const oldest = this.#oldest();
    const rows = this.#session.database
      .statement('SELECT seq, octet_length(before), octet_length(managers), at, kind FROM change ORDER BY seq LIMIT +?')
      .all(limit);
    const end = rows.findIndex(([, , , at]) => Number(at) >= oldest);
    const old = end === -1 ? rows : rows.slice(0, end);
    for (const [kindId, ofKind] of Map.groupBy(old, (row) => Number(row[4]))) this.#remove(kindId, ofKind);
    return old.length;
  }

  /** Removes up to `limit` of the oldest entries of a kind, until these bytes are removed. */
  #cutKind(kindId: number, limit: number, bytes: number): number {
    const rows = this.#session.database.statement(oldestOfKind).all(kindId, limit);
    let rest = bytes;
    const some = rows.filter(([, body, managers]) => {
      const isDue = rest > 0;
      rest -= sizeOf(body, managers);
      return isDue;
    });
    this.#remove(kindId, some);
    return some.length;
  }

  /** Removes entries of a kind. `rows` are its oldest ones: sequence number, bytes of the body, bytes of the managers, time. */
  #remove(kindId: number, rows: readonly Row[]): void {
    const last = rows.at(-1);
    if (last === undefined) return;
    const floor = Number(last[0]);
    this.#session.database.statement(removalOfKind).run(kindId, floor);
    this.#session.logs.removed(kindId, {
      floor,
      at: rows.reduce((newest, [, , , at]) => Math.max(newest, Number(at)), 0),
      bytes: rows.reduce((sum, [, body, managers]) => sum + sizeOf(body, managers), 0),
    });
  }

  #exceeds(tight: boolean): boolean {
    return this.#session.logs.bytes > this.#mostBytes(tight);
  }

  #mostBytes(tight: boolean): number {
    const { maxBytes, leastBytes } = this.#bounds;
    return tight ? Math.min(maxBytes, leastBytes) : maxBytes;
  }

  /** Does the oldest entry exceed the age? */
  #hasOld(): boolean {
    const first = this.#session.database.statement('SELECT at FROM change ORDER BY seq LIMIT 1').get();
    return first !== undefined && Number(first[0]) < this.#oldest();
  }

  /** Milliseconds: earlier entries exceed the age. */
  #oldest(): number {
    return this.#clock.now() - this.#bounds.maxAgeMs;
  }
}

/** Estimated bytes of an entry with a body and managers of these bytes. */
function sizeOf(body: unknown, managers: unknown): number {
  return entryBytes + Number(body ?? 0) + Number(managers ?? 0);
}
