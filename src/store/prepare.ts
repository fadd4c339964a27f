/**
 * Makes listed objects ready for the store away from the writer's thread: what is indexed of them, and their bodies as they are
 * stored. Runs in a thread beside ingest (src/ingest/parse.worker.ts); it has an SQLite of its own, in memory and without a table,
 * for nothing but SQLite's own conversion of JSON.
 *
 *   FirstSync.recipe -> Preparer.prepare(texts) -> the writer's thread -> FirstSync.putPrepared
 *
 * Invariant: the rows of a prepared object are those of the same object when it is put as a text.
 */
import type { LeafType } from '../catalog/field-tree.ts';
import { parsePath } from '../catalog/path.ts';
import { Database, refusesJson } from './database.ts';
import { type KindNamesOnWire, type ReceivedObject, readIncoming } from './incoming.ts';
import { keysAt } from './promoted-table.ts';
import { createRedaction, type Redaction } from './redaction.ts';
import type { SqlValue } from './types.ts';

/** What an object's rows depend on besides the object. Plain data; two that are equal as JSON are the same. */
export interface Recipe {
  readonly names: KindNamesOnWire;
  readonly withheld: readonly string[];
  /** In the order of the promoted table's slots. */
  readonly slots: readonly { readonly path: string; readonly type: LeafType }[];
}

export interface PreparedObject extends Omit<ReceivedObject, 'text' | 'value' | 'withheldPlaces'> {
  /** Of the promoted slots. */
  readonly keys: readonly SqlValue[];
  /** JSONB, without what is dropped and withheld. */
  readonly body: Uint8Array;
}

export class Preparer {
  readonly #recipe: Recipe;
  readonly #database = new Database(':memory:');
  readonly #redaction: Redaction;
  readonly #slots: readonly { readonly path: ReturnType<typeof parsePath>; readonly type: LeafType }[];
  readonly #sql: string;

  constructor(recipe: Recipe) {
    this.#recipe = recipe;
    this.#redaction = createRedaction(recipe.withheld);
    this.#slots = recipe.slots.map(({ path, type }) => ({ path: parsePath(path), type }));
    this.#sql = `SELECT ${this.#redaction.sql}`;
  }

  /**
   * Null where the writer must see the text itself: SQLite refuses it, or what is withheld depends on the object. All are parsed before
   * the first becomes JSONB: in turns, each of the two finds the processor's caches full of the other. Throws INVALID.
   */
  prepare(texts: readonly string[]): readonly (PreparedObject | null)[] {
    const received = texts.map((text) => readIncoming({ text }, this.#recipe.names, this.#redaction));
    const keys = received.map((object) => keysAt(this.#slots, object));
    return received.map((object, index) => {
      const body = object.withheldPlaces.length > 0 ? null : this.#bodyOf(object.text);
      if (body === null) return null;
      const { namespace, name, uid, resourceVersion, created, deleting, labels, annotationKeys, owners, marks } =
        object;
      return {
        namespace,
        name,
        uid,
        resourceVersion,
        created,
        deleting,
        labels,
        annotationKeys,
        owners,
        marks,
        keys: keys[index] ?? [],
        body,
      };
    });
  }

  close(): void {
    this.#database.close();
  }

  #bodyOf(text: string): Uint8Array | null {
    try {
      const body = this.#database.statement(this.#sql).get(text)?.[0];
      return body instanceof Uint8Array ? body : null;
    } catch (error) {
      if (refusesJson(error)) return null;
      throw error;
    }
  }
}
