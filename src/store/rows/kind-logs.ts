/**
 * The floor and the bytes of each kind in the change log. A copy of the table `kind_log` in the writer's memory.
 *
 * Invariants: the log has every entry of a kind after the kind's floor, and every change of the kind that was committed after `since`.
 * The copy is that of the last commit or of the running transaction. `save` writes the changed rows in the transaction that changed
 * them, and `undo` restores the copy of a failed one.
 */
import type { Database } from '../sqlite/database.ts';

interface KindLog {
  /** Sequence number of the newest removed entry; 0 if none was removed. */
  readonly floor: number;
  /** Milliseconds: when the entry at the floor was committed, or the first entry if none was removed. */
  readonly since: number;
  /** Milliseconds: when its oldest entry was committed. Not stored: it is in the log. */
  readonly oldest: number;
  /** Estimated bytes of its entries. */
  readonly bytes: number;
}

/** The time of the oldest entry of a kind. */
const oldestOf = (kind: string): string =>
  `SELECT at FROM change INDEXED BY change_kind WHERE kind = ${kind} ORDER BY seq LIMIT 1`;

export class KindLogs {
  readonly #database: Database;
  readonly #logs = new Map<number, KindLog>();
  /** The earlier state of the kinds that the running transaction changed. */
  readonly #before = new Map<number, KindLog | undefined>();
  #bytes = 0;

  constructor(database: Database) {
    this.#database = database;
    const stored = database
      .statement(`SELECT kind, floor, since, bytes, coalesce((${oldestOf('k.kind')}), since) FROM kind_log AS k`)
      .all() as readonly (readonly number[])[];
    for (const [kindId = 0, floor = 0, since = 0, bytes = 0, oldest = 0] of stored) {
      this.#put(kindId, { floor, since, oldest, bytes });
    }
  }

  /** Estimated bytes of all entries. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Inside a transaction: an entry of the kind was added at this time. */
  added(kindId: number, bytes: number, at: number): void {
    const known = this.#logs.get(kindId) ?? { floor: 0, since: at, oldest: at, bytes: 0 };
    const oldest = known.bytes === 0 ? at : known.oldest;
    this.#change(kindId, { ...known, oldest, bytes: known.bytes + bytes });
  }

  /** Inside a transaction: all entries of the kind up to `floor` were removed. `at` is the time of the newest of them. */
  removed(
    kindId: number,
    { floor, at, bytes }: { readonly floor: number; readonly at: number; readonly bytes: number },
  ): void {
    const known = this.#logs.get(kindId);
    this.#change(kindId, {
      floor,
      since: Math.max(known?.since ?? at, at),
      oldest: Number(this.#database.statement(oldestOf('?')).get(kindId)?.[0] ?? at),
      bytes: Math.max(0, (known?.bytes ?? 0) - bytes),
    });
  }

  /** Inside a transaction: entries of the kind lost these bytes, and stay. */
  shrunk(kindId: number, bytes: number): void {
    const known = this.#logs.get(kindId);
    if (known !== undefined) this.#change(kindId, { ...known, bytes: Math.max(0, known.bytes - bytes) });
  }

  /**
   * The kind whose oldest entries are removed next: the one with the most bytes times the age of its oldest entry. A kind with a hundred
   * times the bytes in a second then keeps ten times the bytes and a tenth of the time. With the most bytes alone, all kinds would keep
   * the same bytes in the end. The subscribers of a kind with many changes would have too short a time. Null if the log is empty.
   */
  heaviest(now: number): { readonly kindId: number; readonly bytes: number } | null {
    let most = 0;
    let heaviest: { readonly kindId: number; readonly bytes: number } | null = null;
    for (const [kindId, { oldest, bytes }] of this.#logs) {
      const weight = bytes * (Math.max(0, now - oldest) + 1);
      if (weight <= most) continue;
      most = weight;
      heaviest = { kindId, bytes };
    }
    return heaviest;
  }

  /** Inside a transaction: writes what it changed. */
  save(): void {
    for (const kindId of this.#before.keys()) {
      const log = this.#logs.get(kindId);
      if (log === undefined) continue;
      this.#database
        .statement('INSERT OR REPLACE INTO kind_log (kind, floor, since, bytes) VALUES (?, ?, ?, ?)')
        .run(kindId, log.floor, log.since, log.bytes);
    }
  }

  /** After the commit. */
  committed(): void {
    this.#before.clear();
  }

  /** After a rollback. */
  undo(): void {
    for (const [kindId, log] of this.#before) this.#put(kindId, log);
    this.#before.clear();
  }

  #change(kindId: number, log: KindLog): void {
    if (!this.#before.has(kindId)) this.#before.set(kindId, this.#logs.get(kindId));
    this.#put(kindId, log);
  }

  #put(kindId: number, log: KindLog | undefined): void {
    this.#bytes += (log?.bytes ?? 0) - (this.#logs.get(kindId)?.bytes ?? 0);
    if (log === undefined) this.#logs.delete(kindId);
    else this.#logs.set(kindId, log);
  }
}
