/**
 * The places of kinds, where references and selectors stand, and which objects have been read for them.
 *
 * Life of a place:
 *   1. A relation declares it. In a kind without objects it is complete at once; otherwise `backfilled` begins at 0.
 *   2. Each event writes the rows of its object at all places. Housekeeping does so for older objects, in the order of their ids.
 *   3. No relation has it any more: it is dropped, and housekeeping removes its rows. Then its own row is deleted.
 *
 * Objects of a first list are written without references and selectors; `reopen` makes housekeeping read them.
 */
import { placeOfText } from '../../catalog/relations/place-text.ts';
import type { ReferencePlace, SelectorPlace } from '../../catalog/relations/relation.ts';
import type { Path } from '../../catalog/tree/path.ts';
import { JsonbPaths } from '../jsonb/jsonb-reader.ts';
import { splitPath } from '../jsonb/jsonb-walk.ts';
import type { Database } from '../sqlite/database.ts';

/** An object whose references and selectors are written. */
export interface RelatingObject {
  readonly id: number;
  readonly kindId: number;
  readonly cluster: string;
  /** Empty if it is cluster-scoped. */
  readonly namespace: string;
}

/** Most members that are compared: one object may have all of them. */
const mostMembers = 31;

interface Place<P> {
  readonly id: number;
  /** placeText */
  readonly text: string;
  readonly place: P;
  /** Objects with a higher id may lack its rows; null when it is complete. */
  readonly backfilled: number | null;
  readonly dropped: boolean;
}

/** The places of one kind, dropped ones included. */
export interface StoredPlaces {
  readonly references: readonly Place<ReferencePlace>[];
  readonly selectors: readonly Place<SelectorPlace>[];
  readonly all: readonly Place<ReferencePlace | SelectorPlace>[];
  /** The members of a body that have all places; null if they are too many to be found. */
  readonly members: JsonbPaths | null;
}

export interface RunningTransaction {
  /** Sets a callback for the case that the transaction is rolled back. */
  ifUndone(undo: () => void): void;
  /** Readers must read the places of kinds again. */
  layoutChanged(): void;
}

/** The members where these paths begin, as far as they lead through no list. */
function membersOf(paths: readonly Path[]): JsonbPaths | null {
  const starts = paths.map((path) => splitPath(path).start);
  const isWithin = (path: readonly string[], other: readonly string[]) => other.every((name, at) => name === path[at]);
  const outer = starts.filter((path, at) =>
    starts.every((other, index) => !isWithin(path, other) || (isWithin(other, path) && at <= index)),
  );
  return outer.some((path) => path.length === 0) || outer.length > mostMembers ? null : new JsonbPaths(outer);
}

export class PlaceRows {
  readonly #database: Database;
  readonly #transaction: RunningTransaction;
  /** By kind id. */
  readonly #places = new Map<number, StoredPlaces>();

  constructor(database: Database, transaction: RunningTransaction) {
    this.#database = database;
    this.#transaction = transaction;
  }

  of(kindId: number): StoredPlaces {
    const known = this.#places.get(kindId);
    if (known !== undefined) return known;
    const rows = this.#database
      .statement('SELECT id, spec, backfilled, dropped FROM reference_place WHERE kind = ? ORDER BY id')
      .all(kindId);
    const references: Place<ReferencePlace>[] = [];
    const selectors: Place<SelectorPlace>[] = [];
    for (const [id, spec, backfilled = null, dropped] of rows) {
      const text = String(spec);
      const stored = {
        id: Number(id),
        text,
        backfilled: backfilled === null ? null : Number(backfilled),
        dropped: dropped === 1,
      };
      const place = placeOfText(text);
      if ('form' in place) selectors.push({ ...stored, place });
      else references.push({ ...stored, place });
    }
    const paths = [...references.map(({ place }) => place.at), ...selectors.map(({ place }) => place.path)];
    const places = { references, selectors, all: [...references, ...selectors], members: membersOf(paths) };
    this.#places.set(kindId, places);
    return places;
  }

  /** Sets the places of a kind. `hasRows`: the kind has objects, so new places must be filled. */
  assign(kindId: number, texts: readonly string[], hasRows: boolean): void {
    const before = this.of(kindId).all;
    const wanted = new Set(texts);
    const fresh = [...wanted].filter((text) => !before.some((each) => each.text === text && !each.dropped));
    const gone = before.filter(({ text, dropped }) => !dropped && !wanted.has(text));
    if (fresh.length === 0 && gone.length === 0) return;
    for (const text of fresh) {
      this.#database
        .statement(
          `INSERT INTO reference_place (kind, spec, backfilled, dropped) VALUES (?, ?, ?, 0)
           ON CONFLICT (kind, spec) DO UPDATE SET backfilled = excluded.backfilled, dropped = 0`,
        )
        .run(kindId, text, hasRows ? 0 : null);
    }
    for (const { id } of gone) {
      const sql = hasRows
        ? 'UPDATE reference_place SET backfilled = 0, dropped = 1 WHERE id = ?'
        : 'DELETE FROM reference_place WHERE id = ?';
      this.#database.statement(sql).run(id);
    }
    this.#changed(kindId);
    this.#transaction.layoutChanged();
  }

  /** Objects with an id above `id` were written without the rows of places. */
  reopen(kindId: number, id: number): void {
    const { all } = this.of(kindId);
    if (all.every(({ backfilled }) => backfilled !== null && backfilled <= id)) return;
    this.#database
      .statement('UPDATE reference_place SET backfilled = min(coalesce(backfilled, ?), ?) WHERE kind = ?')
      .run(id, id, kindId);
    this.#changed(kindId);
    if (all.some(({ backfilled }) => backfilled === null)) this.#transaction.layoutChanged();
  }

  /** The least id above which objects of the kind may lack rows; null when all places are complete. */
  fillFrom(kindId: number): number | null {
    const open = this.of(kindId).all.flatMap(({ backfilled }) => backfilled ?? []);
    return open.length === 0 ? null : Math.min(...open);
  }

  /** Records that all objects up to `id` have their rows; null: all objects do. Dropped places end then. */
  filled(kindId: number, id: number | null): void {
    if (id === null) {
      this.#database.statement('DELETE FROM reference_place WHERE kind = ? AND dropped = 1').run(kindId);
      this.#database.statement('UPDATE reference_place SET backfilled = NULL WHERE kind = ?').run(kindId);
      this.#transaction.layoutChanged();
    } else {
      this.#database
        .statement('UPDATE reference_place SET backfilled = max(backfilled, ?) WHERE kind = ?')
        .run(id, kindId);
    }
    this.#changed(kindId);
  }

  /** The places of the kind were changed in the running transaction. */
  #changed(kindId: number): void {
    this.#places.delete(kindId);
    this.#transaction.ifUndone(() => this.#places.delete(kindId));
  }
}
