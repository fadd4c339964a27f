/**
 * Inserts several rows with one statement, because each statement and each parameter costs time. Columns that all rows share are
 * bound once.
 *
 * If a statement with several rows can fail half-way, SQLite keeps a copy of each page that the statement changes. A row with an explicit
 * integer key can fail. So only the first row gets an explicit key, with a statement of its own. The other rows take the keys that
 * follow.
 *
 *   ids 7, 8, 9  ->  INSERT … id 7  ->  INSERT … two rows without ids: SQLite assigns 8 and 9
 */
import { must } from '../../base/must.ts';
import type { SqlValue } from '../types/statement.ts';
import type { Database, NamedValues } from './database.ts';

/** Most rows of one statement. Remaining rows use halves of it (32, 16, …), so that few statement texts exist. */
export const rowsAtOnce = 64;

/** Describes how to write rows of a table. Pass the same object each time: statement texts are cached by it. */
export interface RowForm {
  /** The text after INSERT: the conflict clause and the table. */
  readonly into: string;
  /** Columns that all rows of a call share. */
  readonly shared: readonly string[];
  /** Columns of each row, in the order of its values. */
  readonly own: readonly string[];
  /** SQL expression over one parameter for the first own column; the parameter itself by default. */
  readonly first?: string;
}

export class RowInserter {
  readonly #database: Database;
  /** Statement texts by number of rows. The same string object each time, so that its hash is computed only once. */
  readonly #texts = new WeakMap<RowForm, string[]>();
  readonly #keyedTexts = new WeakMap<RowForm, string>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the number of rows written. `values` has the values of all rows in one flat list: each object has dozens. */
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
   * Inserts rows with these ids into a table whose key is the integer `id`. No row of the table may have a higher id.
   * When fewer rows are written than given, the rows have other ids: the caller must remove all rows from the first id on.
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

  /** Inserts one row with this id. */
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
