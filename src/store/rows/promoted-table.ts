/**
 * The promoted table of one kind: paths as indexed columns that contain order keys (docs/values.md).
 *
 * Life of a slot:
 *   1. A path is promoted (promotions.ts) and gets a free column with an index. In a kind without rows the slot is ready at once.
 *   2. Every write fills the column. Housekeeping fills older rows from the bodies, in the order of object ids. Then the slot is ready.
 *   3. The path is no longer promoted: the column is free. A later slot overwrites its old values before it is ready.
 *
 * Indexes are created with the table, some of them for free columns, and stay with their column. Creating or dropping an index of
 * many rows takes longer than a transaction may last.
 *
 * Invariant: when a slot is ready, each object of the kind has a row with the correct key in that column.
 */

import type { PromotionReason } from '../../catalog/resources/catalog.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import type { Path } from '../../catalog/tree/path.ts';
import type { ReceivedObject } from '../objects/incoming.ts';
import type { Database } from '../sqlite/database.ts';
import type { RowForm } from '../sqlite/row-inserter.ts';
import { createPromotedTable, createSlotIndex, createSpareIndex } from '../sqlite/schema.ts';
import { keysAt } from '../sqlite/stored-keys.ts';
import type { SqlValue } from '../types/statement.ts';

/** The columns for paths. The table `slot` has the path of each used column. */
const slotColumns: readonly string[] = Object.freeze(Array.from({ length: 16 }, (_, index) => `c${index}`));

/** A path that should have a column. */
export interface WantedPath {
  readonly path: Path;
  readonly type: LeafType;
  readonly reason: PromotionReason;
  /** Time of the last query that needed it, in milliseconds since the epoch; 0 for a declared path. */
  readonly used: number;
}

export interface Slot extends WantedPath {
  readonly column: string;
  readonly ready: boolean;
  readonly backfilled: number;
}

/** Number of free columns that get an index when the table is created. */
const spareIndexes = 4;
/** Creating an index over this number of rows takes a few milliseconds. */
const fewRows = 20_000;

export class PromotedTable {
  readonly #database: Database;
  readonly #kindId: number;
  #table: string | null;
  #slots: Slot[];
  /** The row form for the current slots; null until it is needed. */
  #form: RowForm | null = null;

  constructor(database: Database, kindId: number, table: string | null, slots: readonly Slot[]) {
    this.#database = database;
    this.#kindId = kindId;
    this.#table = table;
    this.#slots = [...slots];
  }

  get table(): string | null {
    return this.#table;
  }

  get slots(): readonly Slot[] {
    return this.#slots;
  }

  /** Creates the table with the indexes of its slots. */
  create(): void {
    const table = `p${this.#kindId}`;
    this.#database.exec(createPromotedTable(table, slotColumns));
    for (const slot of this.#slots) this.#database.exec(createSlotIndex(table, slot.column));
    for (const column of this.#free().slice(0, spareIndexes)) this.#database.exec(createSpareIndex(table, column));
    this.#database.statement('UPDATE kind SET promoted_table = ? WHERE id = ?').run(table, this.#kindId);
    this.#table = table;
    this.#form = null;
  }

  /** Call when the transaction that created the table was rolled back. */
  uncreate(): void {
    this.#table = null;
    this.#form = null;
  }

  /**
   * Assigns a column to each wanted path, in this order, and releases the columns of all other paths. A path for which no column is
   * left gets none. Returns true if readers must read the layout again. `rows` is the approximate number of the kind's rows.
   */
  assign(wanted: readonly WantedPath[], rows: number): boolean {
    let changed = false;
    const kept = wanted.slice(0, slotColumns.length);
    for (const slot of this.#slots.filter((slot) => !kept.some((each) => isSame(each, slot)))) {
      this.#release(slot);
      changed = true;
    }
    for (const each of kept) {
      const known = this.#slots.find((slot) => isSame(slot, each));
      if (known === undefined) changed = this.#take(each, rows) || changed;
      else if (known.reason !== each.reason || known.used !== each.used) {
        this.#note(known, each);
        changed ||= known.reason !== each.reason;
      }
    }
    if (rows > 0 && this.#table === null && this.#slots.length > 0) this.create();
    return changed;
  }

  /** True if a path can get a column without releasing another one. */
  hasRoom(rows: number): boolean {
    return this.#columnFor(rows) !== undefined;
  }

  #take({ path, type, reason, used }: WantedPath, rows: number): boolean {
    // A declared path always gets a column, even when creating its index is slow.
    const column = this.#columnFor(reason === 'QUERIES' ? rows : 0);
    if (column === undefined) return false;
    const slot: Slot = { column, path, type, reason, used, ready: rows === 0, backfilled: 0 };
    this.#database
      .statement(
        'INSERT INTO slot (kind, column_name, path, type, reason, used, ready, backfilled) VALUES (?, ?, ?, ?, ?, ?, ?, 0)',
      )
      .run(this.#kindId, column, path.text, type, reason, used, slot.ready ? 1 : 0);
    this.#slots.push(slot);
    this.#form = null;
    if (this.#table !== null && !this.#indexed(this.#table).has(column)) {
      this.#database.exec((rows === 0 ? createSlotIndex : createSpareIndex)(this.#table, column));
    }
    return true;
  }

  #note(slot: Slot, { reason, used }: WantedPath): void {
    this.#slots = this.#slots.map((other) => (other === slot ? { ...slot, reason, used } : other));
    this.#database
      .statement('UPDATE slot SET reason = ?, used = ? WHERE kind = ? AND column_name = ?')
      .run(reason, used, this.#kindId, slot.column);
  }

  /** The column for the next path: a free one with an index, or any free one if creating an index takes little time. */
  #columnFor(rows: number): string | undefined {
    const free = this.#free();
    if (this.#table === null) return free[0];
    const indexed = this.#indexed(this.#table);
    return free.find((column) => indexed.has(column)) ?? (rows <= fewRows ? free[0] : undefined);
  }

  #free(): readonly string[] {
    return slotColumns.filter((name) => this.#slots.every((slot) => slot.column !== name));
  }

  /** The columns that have an index. */
  #indexed(table: string): ReadonlySet<string> {
    const rows = this.#database
      .statement(`SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?`)
      .all(table);
    return new Set(rows.map(([name]) => String(name).slice(table.length + 1)));
  }

  #release(slot: Slot): void {
    this.#database.statement('DELETE FROM slot WHERE kind = ? AND column_name = ?').run(this.#kindId, slot.column);
    this.#slots = this.#slots.filter((other) => other !== slot);
    this.#form = null;
  }

  /** The keys of an object, in the order of the slots. */
  keysOf(received: Pick<ReceivedObject, 'text' | 'value' | 'health'>): SqlValue[] {
    return keysAt(this.#slots, received);
  }

  insert(
    id: number,
    row: { rowset: number; cluster: string; namespace: string; name: string },
    keys: readonly SqlValue[],
  ): void {
    if (this.#table === null) return;
    const columns = ['id', ...Object.keys(row), ...this.#slots.map((slot) => slot.column)];
    const values = [id, ...Object.values(row), ...keys];
    this.#database
      .statement(`INSERT INTO ${this.#table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`)
      .run(...values);
  }

  /**
   * The row form of the table: namespace, name and keys of each row; null without a table. As in row-writer.ts, an existing row ends
   * the transaction.
   */
  get form(): RowForm | null {
    if (this.#table === null) return null;
    this.#form ??= {
      into: `OR ROLLBACK INTO ${this.#table}`,
      shared: ['rowset', 'cluster'],
      own: ['namespace', 'name', ...this.#slots.map((slot) => slot.column)],
    };
    return this.#form;
  }

  /** Writes only the keys that differ, so that SQLite updates only their indexes. False if the row does not exist yet. */
  update(id: number, keys: readonly SqlValue[]): boolean {
    if (this.#table === null || this.#slots.length === 0) return true;
    const columns = this.#slots.map((slot) => slot.column);
    const stored = this.#database.statement(`SELECT ${columns.join(', ')} FROM ${this.#table} WHERE id = ?`).get(id);
    if (stored === undefined) return false;
    const changed = keys.flatMap((key, index) => (sameKey(stored[index] ?? null, key) ? [] : [index]));
    if (changed.length === 0) return true;
    const assignments = changed.map((index) => `${columns[index]} = ?`).join(', ');
    this.#database
      .statement(`UPDATE ${this.#table} SET ${assignments} WHERE id = ?`)
      .run(...changed.map((index) => keys[index] ?? null), id);
    return true;
  }

  remove(id: number): void {
    if (this.#table !== null) this.#database.statement(`DELETE FROM ${this.#table} WHERE id = ?`).run(id);
  }

  copy(id: number, to: { readonly id: number; readonly rowset: number }): void {
    if (this.#table === null) return;
    const columns = slotColumns.join(', ');
    this.#database
      .statement(
        `INSERT INTO ${this.#table} (id, rowset, cluster, namespace, name, ${columns})
         SELECT ?, ?, cluster, namespace, name, ${columns} FROM ${this.#table} WHERE id = ?`,
      )
      .run(to.id, to.rowset, id);
  }

  /** Saves the last backfilled object id of the slots that are not ready; null makes them ready. */
  backfilledTo(id: number | null): void {
    this.#slots = this.#slots.map((slot) =>
      slot.ready ? slot : { ...slot, ready: id === null, backfilled: id ?? slot.backfilled },
    );
    this.#database
      .statement('UPDATE slot SET ready = ?, backfilled = coalesce(?, backfilled) WHERE kind = ? AND ready = 0')
      .run(id === null ? 1 : 0, id, this.#kindId);
  }
}

function isSame(a: WantedPath, b: WantedPath): boolean {
  return a.path.text === b.path.text && a.type === b.type;
}

/** Compares a stored key with a new one. Integers beyond 2^53 are read with rounding, so they count as different. */
export function sameKey(stored: SqlValue, key: SqlValue): boolean {
  if (typeof key === 'bigint')
    return typeof stored === 'number' && Number.isSafeInteger(stored) && BigInt(stored) === key;
  return stored === key;
}
