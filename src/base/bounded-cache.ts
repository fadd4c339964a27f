/** A map that forgets what was not asked for the longest, bounded by entries and by what the caller says they weigh. */
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

  get(key: string): V | undefined {
    const found = this.#entries.get(key);
    if (found === undefined) return undefined;
    // A Map keeps the order of insertion: the oldest stands first.
    this.#entries.delete(key);
    this.#entries.set(key, found);
    return found.value;
  }

  /** Keeps the value, unless it alone weighs more than all may. */
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
