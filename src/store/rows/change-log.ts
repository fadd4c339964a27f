/**
 * The write side of the change log: one entry for each committed change, with the previous body, copied inside SQLite.
 *
 * Invariant: the log has every entry after `logFloor`, and their sequence numbers have no gaps. The oldest entries are removed first,
 * when the log exceeds its bytes or they exceed its age. An idle writer removes them in small transactions of housekeeping. A busy
 * writer removes them in the transactions of events, so the log exceeds its bounds by a few entries at most.
 */
import type { Clock } from '../../base/clock.ts';
import type { WriteSession } from './write-session.ts';

export interface LogBounds {
  /** Bytes of bodies and entries; default 256 MiB. */
  readonly maxBytes: number;
  /** Milliseconds; default one hour. */
  readonly maxAgeMs: number;
  /** `maxBytes` while the store is tight (disk-budget.ts); default 16 MiB. */
  readonly leastBytes: number;
}

interface ChangedObject {
  readonly kindId: number;
  readonly cluster: string;
  readonly id: number;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Estimated bytes of an entry besides its body: the row and its index entries. */
const entryBytes = 200;
/** Events between two removals of old entries, while events keep the writer busy. */
const eventsPerCut = 16;

/**
 * The newest deletion of a uid in the log, in a kind and a cluster. It runs for each added object, so it must use the index of
 * deletions. Without the plus, SQLite may scan all entries of the kind instead, because the index by kind has the same order.
 */
export const deletionOf = `SELECT seq, rv FROM change
  WHERE uid = ? AND type = 'DELETED' AND +kind = ? AND cluster = ? ORDER BY seq DESC LIMIT 1`;

export class ChangeLog {
  readonly #session: WriteSession;
  readonly #clock: Clock;
  readonly #bounds: LogBounds;
  /** Events since the last removal of old entries. */
  #eventsSinceCut = 0;

  constructor(session: WriteSession, clock: Clock, bounds: LogBounds) {
    this.#session = session;
    this.#clock = clock;
    this.#bounds = bounds;
  }

  /** Call before the rows change, because it copies the previous body. Returns the sequence number. */
  append(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: ChangedObject): number {
    const seq = this.#session.nextSequence(object.kindId);
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
      this.#clock.now(),
    ] as const;
    const row = this.#session.database
      .statement(
        `INSERT INTO change (seq, kind, cluster, object, namespace, name, uid, type, rv, at, before)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${type === 'ADDED' ? 'NULL' : '(SELECT coalesce(text, body) FROM body WHERE id = ?)'})
         RETURNING octet_length(before)`,
      )
      .get(...values, ...(type === 'ADDED' ? [] : [object.id]));
    this.#session.counters.logBytes += entryBytes + Number(row?.[0] ?? 0);
    return seq;
  }

  /** Appends a RESET: readers must read the kind's tables of this cluster again. Returns the sequence number. */
  reset(kindId: number, cluster: string, resourceVersion: string): number {
    const seq = this.#session.nextSequence(kindId);
    this.#session.database
      .statement(
        `INSERT INTO change (seq, kind, cluster, object, namespace, name, uid, type, rv, at, before)
         VALUES (?, ?, ?, 0, '', '', NULL, 'RESET', ?, ?, NULL)`,
      )
      .run(seq, kindId, cluster, resourceVersion, this.#clock.now());
    this.#session.counters.logBytes += entryBytes;
    return seq;
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
    this.#session.database
      .statement('UPDATE change SET before = NULL WHERE kind = ? AND cluster = ? AND before IS NOT NULL')
      .run(kindId, cluster);
  }

  /** True if the log or its oldest entry exceeds the bounds. `tight` lowers the bound to `leastBytes`. */
  isOver(tight: boolean): boolean {
    const first = this.#session.database.statement('SELECT at FROM change ORDER BY seq LIMIT 1').get();
    return first !== undefined && this.#over(Number(first[0]), tight);
  }

  /**
   * Removes old entries while events keep the writer busy: two for each event. The removals of several events are done together,
   * because single ones would write the same first pages of the log again and again. Inside a transaction. Returns the number of
   * removed entries.
   */
  pay(events: number, tight: boolean): number {
    this.#eventsSinceCut += events;
    if (events === 0 || (this.#eventsSinceCut < eventsPerCut && !tight)) return 0;
    const due = this.#eventsSinceCut;
    this.#eventsSinceCut = 0;
    return this.isOver(tight) ? this.cut(due * 2, tight) : 0;
  }

  /** Removes up to `limit` of the oldest entries that exceed the bounds. Inside a transaction. Returns the number of removed entries. */
  cut(limit: number, tight: boolean): number {
    const { database, counters } = this.#session;
    const rows = database
      .statement('SELECT seq, octet_length(before), at FROM change ORDER BY seq LIMIT +?')
      .all(limit);
    let removed = 0;
    for (const [seq, bytes, at] of rows) {
      if (!this.#over(Number(at), tight)) break;
      counters.logBytes = Math.max(0, counters.logBytes - entryBytes - Number(bytes ?? 0));
      counters.logFloor = Number(seq);
      removed += 1;
    }
    if (removed > 0) database.statement('DELETE FROM change WHERE seq <= ?').run(counters.logFloor);
    return removed;
  }

  #over(at: number, tight: boolean): boolean {
    const { maxBytes, maxAgeMs, leastBytes } = this.#bounds;
    const bytes = this.#session.counters.logBytes;
    return bytes > (tight ? Math.min(maxBytes, leastBytes) : maxBytes) || at < this.#clock.now() - maxAgeMs;
  }
}
