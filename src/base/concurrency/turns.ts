/**
 * The work for which clients wait. Clients take turns, so a client that waits for much does not delay the others.
 *
 *   waiting a1 a2 a3 b1   ->   a1, b1, a2, a3
 */
export class Turns<T> {
  /** The work of each waiting client, in its order. The client whose turn it is comes first. */
  readonly #clients = new Map<string, Set<T>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(client: string, item: T): void {
    this.#clients.set(client, (this.#clients.get(client) ?? new Set()).add(item));
    this.#length += 1;
  }

  /** The item whose turn it is; null if none waits. */
  next(): T | null {
    for (const items of this.#clients.values()) for (const first of items) return first;
    return null;
  }

  /** Removes an item. The client's other items wait behind those of the other clients. False if it does not wait. */
  remove(client: string, item: T): boolean {
    const items = this.#clients.get(client);
    if (items?.delete(item) !== true) return false;
    this.#length -= 1;
    this.#clients.delete(client);
    if (items.size > 0) this.#clients.set(client, items);
    return true;
  }

  /** The items that a client waits for. */
  countOf(client: string): number {
    return this.#clients.get(client)?.size ?? 0;
  }

  all(): readonly T[] {
    return [...this.#clients.values()].flatMap((items) => [...items]);
  }
}
