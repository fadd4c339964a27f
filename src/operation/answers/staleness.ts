/**
 * The resources that ingest cannot bring up to date now, for the answers that read them. It comes from ingest's messages, not from the
 * store: a store that cannot be written cannot tell it.
 *
 *   a message of ingest -> `set` -> the answers that read such a resource list it in `extensions.portolan.stale`
 *                                -> `resources`, `clusters` and the metrics show its state
 */

import { partIn, type Scopes } from '../../access/scope.ts';
import type { IngestStatus, ResourceProgress } from '../../store/types/progress.ts';

/** A resource whose rows are those of a time, or newer. */
export interface Stale {
  readonly cluster: string;
  /** resourceKey */
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly phase: IngestStatus['phase'];
  readonly error: string | null;
}

const nothing: readonly Stale[] = [];

export class Staleness {
  #all: readonly Stale[] = nothing;
  #text = '[]';
  #version = 0;

  /** Another number after each change. */
  get version(): number {
    return this.#version;
  }

  set(all: readonly Stale[]): void {
    const text = JSON.stringify(all);
    if (text === this.#text) return;
    this.#all = all;
    this.#text = text;
    this.#version += 1;
  }

  /** Those that were read, and of which the caller may see something. @param isRead of a resourceKey */
  of(isRead: (key: string) => boolean, scopes: Scopes | null): readonly Stale[] {
    if (this.#all.length === 0) return nothing;
    return this.#all.filter(
      ({ cluster, key }) => isRead(key) && (scopes === null || partIn(scopes.of(key, 'list'), cluster) !== null),
    );
  }

  /** The stored states, with what ingest says of those that are stale. */
  shownIn(states: readonly ResourceProgress[]): readonly ResourceProgress[] {
    if (this.#all.length === 0) return states;
    const stale = new Map(this.#all.map((each) => [`${each.cluster} ${each.key}`, each]));
    return states.map((state) => {
      const found = stale.get(`${state.cluster} ${state.key}`);
      if (found === undefined) return state;
      const { phase, error, since: staleSince } = found;
      return { ...state, status: { ...state.status, phase, error, staleSince } };
    });
  }

  /** Since when any of the kinds is stale in the cluster; null if none is. */
  since(cluster: string, keys: readonly string[]): number | null {
    let oldest: number | null = null;
    for (const each of this.#all) {
      if (each.cluster !== cluster || !keys.includes(each.key)) continue;
      oldest = Math.min(oldest ?? each.since, each.since);
    }
    return oldest;
  }
}
