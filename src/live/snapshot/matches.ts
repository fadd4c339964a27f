/**
 * The ids of the objects that a snapshot has, until the last of its lists has sent them.
 *
 * A client that reads slowly holds its snapshot, and a kind may have a million objects. So they may be let go: the lists that send them
 * then begin a newer snapshot.
 */
export class Matches {
  #ids: Float64Array | null;
  /** Also when the ids have been let go. */
  readonly length: number;

  constructor(ids: Float64Array) {
    this.#ids = ids;
    this.length = ids.length;
  }

  /** Null when they have been let go. */
  slice(from: number, end: number): readonly number[] | null {
    return this.#ids === null ? null : [...this.#ids.subarray(Math.max(0, from), Math.max(0, end))];
  }

  letGo(): void {
    this.#ids = null;
  }
}
