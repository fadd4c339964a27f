/** An LRU cache, bounded by its number of entries and by their total weight. The caller gives each entry's weight. */
export class BoundedCache<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly weight: number }>();
  readonly #mostEntries: number;
  readonly #mostWeight: number;
  #weight = 0;

  constructor(bounds: { readonly entries: number; readonly weight: number }) {
    this.#mostEntries = bounds.entries;
    this.#mostWeight = bounds.weight;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The total weight of the entries. */
  get weight(): number {
    return this.#weight;
  }

  get(key: string): V | undefined {
    const found = this.#entries.get(key);
    if (found === undefined) return undefined;
    // A Map keeps insertion order. Inserting the entry again makes it the most recently used.
    this.#entries.delete(key);
    this.#entries.set(key, found);
    return found.value;
  }

  /** All values. None becomes more recently used by it. */
  *values(): IterableIterator<V> {
    for (const { value } of this.#entries.values()) yield value;
  }

  /** Stores the value, unless its weight alone exceeds the bound. Evicts the least recently used entries to make room. */
  set(key: string, value: V, weight: number): void {
    this.delete(key);
    if (weight > this.#mostWeight) return;
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#mostEntries && this.#weight <= this.#mostWeight) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const found = this.#entries.get(key);
    if (found === undefined) return;
    this.#entries.delete(key);
    this.#weight -= found.weight;
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }
}
