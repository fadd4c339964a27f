/**
 * Which lists this process has answered, so that a watch that goes on from one of them gets nothing twice.
 *
 *   jane lists at 1010 -> noted -> jane watches from 1010: from the list, and the note is used up
 *                                  jane watches from 1010 again, or joe does: from anywhere (kept-changes.ts)
 *
 * A version alone does not tell who has sent it: another replica sends the same versions.
 */
import { BoundedCache } from '../../base/bounded-cache.ts';

/** The scope that a list and its watch share. */
export interface ListScope {
  /** The user. */
  readonly caller: string;
  /** Null for all. */
  readonly namespace: string | null;
  readonly query: URLSearchParams;
}

/** Milliseconds in which the watch has to begin. */
const patienceMs = 60_000;
/** Notes, and characters of their selectors, which a caller chooses. */
const most = { notes: 10_000, characters: 4_000_000 } as const;

export class ListedVersions {
  readonly #notes = new BoundedCache<number>({ entries: most.notes, weight: most.characters });
  readonly #now: () => number;

  /** @param now the monotonic clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Notes the answer of a list. */
  note(scope: ListScope, version: bigint): void {
    const key = keyOf(scope, version);
    this.#notes.set(key, this.#now(), key.length);
  }

  /** Has a list with this scope been answered with this version? Uses the note up. */
  take(scope: ListScope, version: bigint): boolean {
    const key = keyOf(scope, version);
    const notedAt = this.#notes.get(key);
    this.#notes.delete(key);
    return notedAt !== undefined && this.#now() - notedAt < patienceMs;
  }
}

function keyOf({ caller, namespace, query }: ListScope, version: bigint): string {
  return JSON.stringify([caller, namespace, query.get('labelSelector'), query.get('fieldSelector'), String(version)]);
}
