/**
 * Writes the rows by which objects lead to other objects: references by name and label selectors. Owner references are written with the
 * object itself (src/store/rows/row-writer.ts), and so are the calls that keep stored roll-ups right (rolled-up-rows.ts).
 *
 * Invariant: if a place is complete, the rows are exactly the references and selectors of the stored bodies at this place.
 */
import type { Database } from '../sqlite/database.ts';
import { PlaceRows, type RelatingObject, type RunningTransaction } from './place-rows.ts';
import { ReferenceRows } from './reference-rows.ts';
import { RolledUpRows } from './rolled-up-rows.ts';
import { SelectorRows } from './selector-rows.ts';

/** Removed references after which targets are swept. */
const sweepAfter = 1000;

export class RelationRows {
  readonly places: PlaceRows;
  readonly rolledUp: RolledUpRows;
  readonly #references: ReferenceRows;
  readonly #selectors: SelectorRows;
  /** The id of the last target that the running sweep has looked at; 0 while none runs. */
  #sweptTo = 0;

  constructor(database: Database, transaction: RunningTransaction) {
    this.places = new PlaceRows(database, transaction);
    this.rolledUp = new RolledUpRows(database, transaction);
    this.#references = new ReferenceRows(database);
    this.#selectors = new SelectorRows(database);
  }

  /** Does the kind have places, so that `write` needs the bodies of its objects? */
  reads(kindId: number): boolean {
    return this.places.of(kindId).all.length > 0;
  }

  /** Do both bodies have the same references and selectors? False if that would take too long to find out. */
  areEqual(kindId: number, one: Uint8Array, other: Uint8Array): boolean {
    const { members } = this.places.of(kindId);
    return members?.areEqual(bufferOf(one), bufferOf(other)) ?? false;
  }

  /** Writes the differences between the stored rows of an object and its body. Returns the number of changed rows. */
  write(object: RelatingObject, body: unknown): number {
    const { references, selectors } = this.places.of(object.kindId);
    const changed = references.length === 0 ? 0 : this.#references.write(object, body, references);
    return changed + (selectors.length === 0 ? 0 : this.#selectors.write(object, body, selectors));
  }

  /** Removes the rows of an object. */
  remove(id: number, kindId: number): void {
    const { references, selectors } = this.places.of(kindId);
    if (references.length > 0) this.#references.remove(id, kindId);
    if (selectors.length > 0) this.#selectors.remove(id);
  }

  /** Copies the rows of an object to its copy in another rowset. */
  copy(id: number, kindId: number, to: number): void {
    const { references, selectors } = this.places.of(kindId);
    if (references.length > 0) this.#references.copy(id, kindId, to);
    if (selectors.length > 0) this.#selectors.copy(id, to);
  }

  /** True while a sweep runs, and when many references have been removed since the last one. */
  sweepIsDue(): boolean {
    return this.#sweptTo > 0 || this.#references.removed >= sweepAfter;
  }

  /** Removes targets that nothing mentions, looking at the next `limit` targets. */
  sweep(limit: number): void {
    if (this.#sweptTo === 0) this.#references.removed = 0;
    this.#sweptTo = this.#references.sweep(this.#sweptTo, limit) ?? 0;
  }
}

function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
