/**
 * Writes the references of objects: which objects their bodies mention by name.
 *
 *   a body -> findReferences -> targets (made when first mentioned) -> rows of `reference` and `reference_by_target`
 *
 * Targets that nothing mentions any more are removed by `sweep`.
 */
import { findReferences } from '../../catalog/bodies/find-references.ts';
import type { NamedKind } from '../../catalog/relations/relation.ts';
import type { Database } from '../sqlite/database.ts';
import type { RelatingObject, StoredPlaces } from './place-rows.ts';

export class ReferenceRows {
  readonly #database: Database;
  /** References removed since the last sweep began. */
  removed = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Writes the differences between the stored references of an object and those of its body. Returns the number of changed rows. */
  write({ id, kindId, cluster, namespace }: RelatingObject, body: unknown, stored: StoredPlaces['references']): number {
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
    for (const [place, target] of this.#database
      .statement('SELECT place, target FROM reference WHERE id = ?')
      .all(id)) {
      this.#delete(id, kindId, Number(place), Number(target));
    }
  }

  /** Copies the references of an object to its copy in another rowset. */
  copy(id: number, kindId: number, to: number): void {
    this.#database
      .statement('INSERT INTO reference (id, place, target) SELECT ?, place, target FROM reference WHERE id = ?')
      .run(to, id);
    this.#database
      .statement(
        'INSERT INTO reference_by_target (target, kind, place, id) SELECT target, ?, place, ? FROM reference WHERE id = ?',
      )
      .run(kindId, to, id);
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
    this.removed += 1;
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
