/**
 * Inserts several rows by one statement, since each statement and each parameter has its price: what all rows have in common is
 * bound once.
 *
 * SQLite keeps copies of the pages that a statement of several rows writes to, so that it can be undone alone, where one of its rows
 * may fail half-way; with a key of integers that it is given, any row may. So only the first row is given its key, by a statement of
 * its own, and the others take the keys that follow it.
 */
import { must } from '../../base/must.ts';
import type { SqlValue } from '../types/statement.ts';
import type { Database, NamedValues } from './database.ts';

/** Rows of one statement: halves of it for what is left over, so that there are few forms of a statement. */
export const rowsAtOnce = 64;

/** How rows of a table are written. The same object each time: what is made of it is kept. */
export interface RowForm {
  /** What stands behind INSERT: the table, and what becomes of a row that is there already. */
  readonly into: string;
  /** Columns that all rows of a call share. */
  readonly shared: readonly string[];
  /** Columns of each row, in the order of its values. */
  readonly own: readonly string[];
  /** What is stored in the first of them, as an expression over one parameter; the parameter itself by default. */
  readonly first?: string;
}

export class RowInserter {
  readonly #database: Database;
  /** Texts of statements, by their number of rows: the same string each time, so that looking up its statement does not hash it anew. */
  readonly #texts = new WeakMap<RowForm, string[]>();
  readonly #keyedTexts = new WeakMap<RowForm, string>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** `values`: of all rows, one behind the other; one list of them, since there are dozens for each object. Returns how many rows were written. */
  insert(form: RowForm, shared: NamedValues, values: readonly SqlValue[]): number {
    const width = form.own.length;
    const rows = values.length / width;
    let written = 0;
    for (let from = 0; from < rows; ) {
      let count = rowsAtOnce;
      while (count > rows - from) count /= 2;
      const some = values.slice(from * width, (from + count) * width);
      written += this.#database.statement(this.#textOf(form, count)).run(...some, shared).changes;
      from += count;
    }
    return written;
  }

  /**
   * The same for a table whose key is the integer `id`, and rows with these. No row of the table may have a higher one. Where fewer
   * rows are written than were given, these are not their ids: remove what is there from the first on.
   */
  insertWithIds(form: RowForm, shared: NamedValues, ids: readonly number[], values: readonly SqlValue[]): number {
    const width = form.own.length;
    const [first = 0] = ids;
    let written = 0;
    if (ids.every((id, at) => id === first + at)) {
      written = ids.length > 0 ? this.insertOne(form, shared, first, values.slice(0, width)) : 0;
      if (written > 0) written += this.insert(form, shared, values.slice(width));
    } else {
      for (const [at, id] of ids.entries())
        written += this.insertOne(form, shared, id, values.slice(at * width, (at + 1) * width));
    }
    return written;
  }

  /** One row with this id. */
  insertOne(form: RowForm, shared: NamedValues, id: number, values: readonly SqlValue[]): number {
    return this.#database.statement(this.#keyedTextOf(form)).run(...values, { ...shared, id }).changes;
  }

  #textOf(form: RowForm, rows: number): string {
    const texts = this.#texts.get(form) ?? [];
    this.#texts.set(form, texts);
    texts[rows] ??= textOf(form, [], rows);
    return must(texts[rows], 'a statement');
  }

  #keyedTextOf(form: RowForm): string {
    const text = this.#keyedTexts.get(form) ?? textOf(form, ['id'], 1);
    this.#keyedTexts.set(form, text);
    return text;
  }
}

function textOf({ into, shared, own, first = '?' }: RowForm, keys: readonly string[], rows: number): string {
  const named = [...keys, ...shared];
  const row = [...own.map((_, at) => (at === 0 ? first : '?')), ...named.map((name) => `@${name}`)].join(', ');
  return `INSERT ${into} (${[...own, ...named].join(', ')}) VALUES ${Array(rows).fill(`(${row})`).join(', ')}`;
}
