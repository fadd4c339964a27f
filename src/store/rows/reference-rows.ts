/**
 * Writes the references of objects: which objects their bodies mention by name.
 *
 *   a body -> findReferences -> targets (made when first mentioned) -> rows of `reference` and `reference_by_target`
 *
 * Life of a place:
 *   1. A relation declares it. In a kind without objects it is complete at once; otherwise `backfilled` begins at 0.
 *   2. Each event writes the references of its object at all places. `fill` does so for older objects, in the order of their ids.
 *   3. No relation has it any more: it is dropped, and `fill` removes its references. Then its row is deleted.
 *
 * Objects of a first list are written without references, and `reopen` makes `fill` find them. Targets that nothing mentions any more
 * are removed by `sweep`.
 *
 * Invariant: if a place is complete, `reference` has exactly the references of the stored bodies at this place.
 */
import { findReferences } from '../../catalog/relations/find-references.ts';
import { placeOfText, placeText } from '../../catalog/relations/place-text.ts';
import type { NamedKind, ReferencePlace } from '../../catalog/relations/relation.ts';
import type { Database } from '../sqlite/database.ts';

/** The object whose references are written. */
export interface ReferringObject {
  readonly id: number;
  readonly kindId: number;
  readonly cluster: string;
  /** Empty if it is cluster-scoped. */
  readonly namespace: string;
}

export interface StoredPlace {
  readonly id: number;
  readonly text: string;
  readonly place: ReferencePlace;
  /** Objects with a higher id may lack its references; null when it is complete. */
  readonly backfilled: number | null;
  readonly dropped: boolean;
}

export class ReferenceRows {
  readonly #database: Database;
  readonly #ifUndone: (undo: () => void) => void;
  /** By kind id. */
  readonly #places = new Map<number, readonly StoredPlace[]>();

  /** @param ifUndone sets a callback for the case that the running transaction is rolled back. */
  constructor(database: Database, ifUndone: (undo: () => void) => void) {
    this.#database = database;
    this.#ifUndone = ifUndone;
  }

  /** The places of a kind, dropped ones included. */
  placesOf(kindId: number): readonly StoredPlace[] {
    const known = this.#places.get(kindId);
    if (known !== undefined) return known;
    const places = this.#database
      .statement('SELECT id, spec, backfilled, dropped FROM reference_place WHERE kind = ? ORDER BY id')
      .all(kindId)
      .map(
        ([id, spec, backfilled, dropped]): StoredPlace => ({
          id: Number(id),
          text: String(spec),
          place: placeOfText(String(spec)),
          backfilled: backfilled === null || backfilled === undefined ? null : Number(backfilled),
          dropped: dropped === 1,
        }),
      );
    this.#places.set(kindId, places);
    return places;
  }

  /** Sets the places of a kind. `hasRows`: the kind has objects, so new places must be filled. True if anything changed. */
  assign(kindId: number, places: readonly ReferencePlace[], hasRows: boolean): boolean {
    const before = this.placesOf(kindId);
    const wanted = new Set(places.map(placeText));
    const fresh = [...wanted].filter((text) => !before.some((each) => each.text === text && !each.dropped));
    const gone = before.filter(({ text, dropped }) => !dropped && !wanted.has(text));
    if (fresh.length === 0 && gone.length === 0) return false;
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
    return true;
  }

  /** The places of the kind were changed in the running transaction. */
  #changed(kindId: number): void {
    this.#places.delete(kindId);
    this.#ifUndone(() => this.#places.delete(kindId));
  }

  /** Objects with an id above `id` were written without references. */
  reopen(kindId: number, id: number): void {
    if (this.placesOf(kindId).every(({ backfilled }) => backfilled !== null && backfilled <= id)) return;
    const changed = this.#database
      .statement('UPDATE reference_place SET backfilled = min(coalesce(backfilled, ?), ?) WHERE kind = ?')
      .run(id, id, kindId).changes;
    if (changed > 0) this.#changed(kindId);
  }

  /** Writes the differences between the stored references of an object and those of its body. Returns the number of changed rows. */
  write(object: ReferringObject, body: unknown): number {
    const { id, kindId, cluster, namespace } = object;
    const stored = this.placesOf(kindId);
    if (stored.length === 0) return 0;
    const places = stored.filter(({ dropped }) => !dropped);
    const wanted = new Map<string, readonly [place: number, target: number]>();
    const found = findReferences(
      places.map(({ place }) => place),
      body,
      namespace,
    );
    for (const { place: index, target, ...named } of found) {
      const place = places[index]?.id ?? 0;
      const targetId = this.#targetId(this.#namedId(target), cluster, named.name, named.namespace);
      wanted.set(`${place} ${targetId}`, [place, targetId]);
    }
    let changed = 0;
    const held = this.#database.statement('SELECT place, target FROM reference WHERE id = ?').all(id);
    for (const [place, target] of held) {
      if (wanted.delete(`${place} ${target}`)) continue;
      this.#delete(id, kindId, Number(place), Number(target));
      changed += 1;
    }
    for (const [place, target] of wanted.values()) {
      this.#database.statement('INSERT INTO reference (id, place, target) VALUES (?, ?, ?)').run(id, place, target);
      this.#database
        .statement('INSERT INTO reference_by_target (target, kind, place, id) VALUES (?, ?, ?, ?)')
        .run(target, kindId, place, id);
      changed += 1;
    }
    return changed;
  }

  /** Removes the references of an object. */
  remove(id: number, kindId: number): void {
    if (this.placesOf(kindId).length === 0) return;
    for (const [place, target] of this.#database
      .statement('SELECT place, target FROM reference WHERE id = ?')
      .all(id)) {
      this.#delete(id, kindId, Number(place), Number(target));
    }
  }

  /** Copies the references of an object to its copy in another rowset. */
  copy(id: number, kindId: number, to: number): void {
    if (this.placesOf(kindId).length === 0) return;
    this.#database
      .statement('INSERT INTO reference (id, place, target) SELECT ?, place, target FROM reference WHERE id = ?')
      .run(to, id);
    this.#database
      .statement(
        'INSERT INTO reference_by_target (target, kind, place, id) SELECT target, ?, place, ? FROM reference WHERE id = ?',
      )
      .run(kindId, to, id);
  }

  /** The least id above which objects of the kind may lack references; null when all places are complete. */
  fillFrom(kindId: number): number | null {
    const open = this.placesOf(kindId).flatMap(({ backfilled }) => backfilled ?? []);
    return open.length === 0 ? null : Math.min(...open);
  }

  /** Records that all objects up to `id` have their references; null: all objects do. Dropped places end then. */
  filled(kindId: number, id: number | null): void {
    if (id === null) {
      this.#database.statement('DELETE FROM reference_place WHERE kind = ? AND dropped = 1').run(kindId);
      this.#database.statement('UPDATE reference_place SET backfilled = NULL WHERE kind = ?').run(kindId);
    } else {
      this.#database
        .statement('UPDATE reference_place SET backfilled = max(backfilled, ?) WHERE kind = ?')
        .run(id, kindId);
    }
    this.#changed(kindId);
  }

  /** Removes targets above `from` that nothing mentions, looking at `limit` targets. Returns the last id it looked at; null at the end. */
  sweep(from: number, limit: number): number | null {
    const ids = this.#database.statement('SELECT id FROM target WHERE id > ? ORDER BY id LIMIT +?').all(from, limit);
    for (const [id] of ids) {
      this.#database
        .statement(
          'DELETE FROM target WHERE id = ? AND NOT EXISTS (SELECT 1 FROM reference_by_target AS r WHERE r.target = target.id)',
        )
        .run(Number(id));
    }
    return ids.length < limit ? null : Number(ids.at(-1)?.[0]);
  }

  #delete(id: number, kindId: number, place: number, target: number): void {
    this.#database.statement('DELETE FROM reference WHERE id = ? AND place = ? AND target = ?').run(id, place, target);
    this.#database
      .statement('DELETE FROM reference_by_target WHERE target = ? AND kind = ? AND place = ? AND id = ?')
      .run(target, kindId, place, id);
  }

  #targetId(named: number, cluster: string, name: string, namespace: string): number {
    const known = this.#database
      .statement('SELECT id FROM target WHERE named = ? AND cluster = ? AND name = ? AND namespace = ?')
      .get(named, cluster, name, namespace);
    if (known !== undefined) return Number(known[0]);
    return this.#database
      .statement('INSERT INTO target (named, cluster, name, namespace) VALUES (?, ?, ?, ?)')
      .run(named, cluster, name, namespace).lastInsertRowid;
  }

  #namedId({ group, kind }: NamedKind): number {
    const known = this.#database.statement('SELECT id FROM named_kind WHERE grp = ? AND kind = ?').get(group, kind);
    if (known !== undefined) return Number(known[0]);
    return this.#database.statement('INSERT INTO named_kind (grp, kind) VALUES (?, ?)').run(group, kind)
      .lastInsertRowid;
  }
}
