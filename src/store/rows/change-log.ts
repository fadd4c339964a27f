/**
 * The change log's writing side: one entry for each committed change, with the body before it, copied inside SQLite.
 *
 * Invariants: entries have the sequence numbers of their commits, without gaps above the floor; everything after `logFloor` is
 * there. The oldest entries are removed first, when the log exceeds its bytes or they exceed its age. An idle writer removes them
 * in small transactions of housekeeping. A busy writer removes them in the transactions of events, so the bounds always hold.
 */
import type { Clock } from '../../base/clock.ts';
import type { WriteSession } from './write-session.ts';

export interface LogBounds {
  /** Bytes of bodies and entries; default 256 MiB. */
  readonly maxBytes: number;
  /** Milliseconds; default one hour. */
  readonly maxAgeMs: number;
  /** Bytes that are kept of it when room is short; default 16 MiB. */
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

/** What an entry costs besides its body: the row, two index entries. */
const entryBytes = 200;
/** Events that pay together for old entries. */
const eventsPerCut = 16;

/**
 * The newest deletion in the log of a uid, in a kind and a cluster. The plus keeps SQLite from going through all of the kind's entries,
 * which have the order too: each object that is added asks for this.
 */
export const deletionOf = `SELECT seq, rv FROM change
  WHERE uid = ? AND type = 'DELETED' AND +kind = ? AND cluster = ? ORDER BY seq DESC LIMIT 1`;

export class ChangeLog {
  readonly #session: WriteSession;
  readonly #clock: Clock;
  readonly #bounds: LogBounds;
  /** Events that have not paid for old entries yet. */
  #owed = 0;

  constructor(session: WriteSession, clock: Clock, bounds: LogBounds) {
    this.#session = session;
    this.#clock = clock;
    this.#bounds = bounds;
  }

  /** Call before the rows change, so that the body before is still there. Returns the sequence number. */
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

  /** Says that all that was known of a kind in a cluster is void. */
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

  /** The newest deletion of this object that the log knows, or null. */
  wasDeleted(
    kindId: number,
    cluster: string,
    uid: string,
  ): { readonly seq: number; readonly resourceVersion: string } | null {
    const row = this.#session.database.statement(deletionOf).get(uid, kindId, cluster);
    return row === undefined ? null : { seq: Number(row[0]), resourceVersion: String(row[1]) };
  }

  /** Forgets the bodies of a kind in a cluster: they may hold what must no longer be on the disk. */
  forgetBodies(kindId: number, cluster: string): void {
    this.#session.database
      .statement('UPDATE change SET before = NULL WHERE kind = ? AND cluster = ? AND before IS NOT NULL')
      .run(kindId, cluster);
  }

  /** Is anything over the bounds? `tight`: over what is left of the log when room is short. */
  isOver(tight: boolean): boolean {
    const first = this.#session.database.statement('SELECT at FROM change ORDER BY seq LIMIT 1').get();
    return first !== undefined && this.#over(Number(first[0]), tight);
  }

  /**
   * While events keep the writer busy, they cut the log: each event removes two old entries. Several do so together, because one by
   * one they would write the same pages at the log's beginning again and again. Inside a transaction. Returns how many were removed.
   */
  pay(events: number, tight: boolean): number {
    this.#owed += events;
    if (events === 0 || (this.#owed < eventsPerCut && !tight)) return 0;
    const owed = this.#owed;
    this.#owed = 0;
    return this.isOver(tight) ? this.cut(owed * 2, tight) : 0;
  }

  /** Removes up to `limit` of the oldest entries that are over the bounds. Inside a transaction. Returns how many. */
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
