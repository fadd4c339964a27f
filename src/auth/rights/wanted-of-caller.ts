/** The namespaces and objects that a caller's operations have named, with bounds. The oldest are forgotten first. */
import type { Access, WantedRows } from '../../access/scope.ts';

/** Rows that are remembered of one access to a kind, and of a caller in all. */
const mostOfKind = 200;
const mostInAll = 1000;

export class WantedOfCaller {
  /** By access and kind, and then by their text. The access to a kind that got rows last comes last. */
  readonly #rows = new Map<string, Map<string, WantedRows>>();
  #size = 0;

  of(access: Access, key: string): readonly WantedRows[] {
    return [...(this.#rows.get(`${access} ${key}`)?.values() ?? [])];
  }

  /** False for rows that are remembered already. */
  add(access: Access, key: string, rows: WantedRows): boolean {
    const of = `${access} ${key}`;
    const known = this.#rows.get(of) ?? new Map<string, WantedRows>();
    const text = JSON.stringify([rows.cluster, rows.namespace, rows.name]);
    if (known.has(text)) return false;
    this.#rows.delete(of);
    this.#rows.set(of, known.set(text, rows));
    this.#size += 1;
    if (known.size > mostOfKind) this.#forgetOldest(of);
    for (const first of this.#rows.keys()) {
      if (this.#size <= mostInAll) break;
      this.#forgetOldest(first);
    }
    return true;
  }

  /** Forgets the others. */
  keep(isKept: (rows: WantedRows) => boolean): void {
    for (const known of this.#rows.values()) {
      for (const [text, rows] of known) {
        if (isKept(rows)) continue;
        known.delete(text);
        this.#size -= 1;
      }
    }
  }

  #forgetOldest(of: string): void {
    const known = this.#rows.get(of);
    for (const text of known?.keys() ?? []) {
      known?.delete(text);
      this.#size -= 1;
      break;
    }
    if (known?.size === 0) this.#rows.delete(of);
  }
}
