/**
 * The list of a replace in the staging file: the key of each object, and the text of each changed object.
 *
 * The staging file is created anew when the store is opened, so nothing of a list survives a crash. Housekeeping removes the rows of
 * finished lists, by their number.
 */
import type { ReceivedObject } from '../objects/incoming.ts';
import type { WriteSession } from '../rows/write-session.ts';
import type { Row } from '../types/statement.ts';

export interface StagedCounts {
  objects: number;
  /** Objects with a text. */
  differences: number;
  /** Characters of their texts. */
  bytes: number;
}

/** A staged object. `text` is null if the stored row is unchanged. */
export interface StagedObject {
  readonly namespace: string;
  readonly name: string;
  readonly text: string | null;
  readonly uid: string;
  readonly resourceVersion: string;
}

export class StagedList {
  /** The sum over committed transactions. */
  readonly counts: StagedCounts = { objects: 0, differences: 0, bytes: 0 };
  readonly #session: WriteSession;
  readonly #number: number;

  /** `number` distinguishes this list from others in the staging file. */
  constructor(session: WriteSession, number: number) {
    this.#session = session;
    this.#number = number;
  }

  /** Adds or overwrites the object of this name. Inside a transaction. Counts it in `counts`; call `add` with them after the commit. */
  put({ namespace, name, uid, resourceVersion }: ReceivedObject, text: string | null, counts: StagedCounts): void {
    const { database } = this.#session;
    const before = database
      .statement('SELECT text IS NOT NULL FROM staging.staged WHERE replace = ? AND namespace = ? AND name = ?')
      .get(this.#number, namespace, name);
    database
      .statement(
        `INSERT INTO staging.staged (replace, namespace, name, uid, rv, text) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (replace, namespace, name) DO UPDATE SET uid = excluded.uid, rv = excluded.rv, text = excluded.text`,
      )
      .run(this.#number, namespace, name, uid, resourceVersion, text);
    if (before === undefined) counts.objects += 1;
    counts.differences += (text === null ? 0 : 1) - (before?.[0] === 1 ? 1 : 0);
    counts.bytes += text?.length ?? 0;
  }

  /** Adds the counts of a committed transaction. */
  add({ objects, differences, bytes }: StagedCounts): void {
    this.counts.objects += objects;
    this.counts.differences += differences;
    this.counts.bytes += bytes;
  }

  /** Removes an object, in a transaction of its own. Does nothing if it is not staged. */
  remove(namespace: string, name: string): void {
    const { database } = this.#session;
    const staged = database
      .statement('SELECT id, text IS NOT NULL FROM staging.staged WHERE replace = ? AND namespace = ? AND name = ?')
      .get(this.#number, namespace, name);
    if (staged === undefined) return;
    const [id, differs] = staged;
    this.#session.run(() => database.statement('DELETE FROM staging.staged WHERE id = ?').run(Number(id)));
    this.counts.objects -= 1;
    if (differs === 1) this.counts.differences -= 1;
  }

  /** Rows of `object` after this name: id, namespace, name, sequence number, and 1 where the list has that name. */
  compare(rowset: number, after: readonly [namespace: string, name: string], limit: number): readonly Row[] {
    return this.#session.database
      .statement(
        `SELECT o.id, o.namespace, o.name, o.seq,
           EXISTS (SELECT 1 FROM staging.staged s WHERE s.replace = ? AND s.namespace = o.namespace AND s.name = o.name)
         FROM object o WHERE o.rowset = ? AND (o.namespace, o.name) > (?, ?) ORDER BY o.namespace, o.name LIMIT +?`,
      )
      .all(this.#number, rowset, ...after, limit);
  }

  /** Text, uid and resourceVersion of all changed objects, in the order in which they were put. */
  differences(): readonly Row[] {
    return this.#session.database
      .statement('SELECT text, uid, rv FROM staging.staged WHERE replace = ? AND text IS NOT NULL ORDER BY id')
      .all(this.#number);
  }

  /** The next objects after this name, in the order of names. */
  after(last: readonly [namespace: string, name: string], limit: number): readonly Row[] {
    return this.#session.database
      .statement(
        `SELECT namespace, name, text, uid, rv FROM staging.staged WHERE replace = ? AND (namespace, name) > (?, ?)
         ORDER BY namespace, name LIMIT +?`,
      )
      .all(this.#number, ...last, limit);
  }
}
