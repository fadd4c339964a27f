/**
 * The resources that ingest cannot bring up to date now, for the answers that read them. It comes from ingest's messages, not from the
 * store: a store that cannot be written cannot tell it.
 *
 *   a message of ingest -> `set` -> the answers that read such a resource list it in `extensions.portolan.stale`
 *                                -> `resources`, `clusters` and the metrics show its state
 */

import { partIn, type Scopes } from '../../access/scope.ts';
import type { Clock } from '../../base/clock.ts';
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
/** Milliseconds that a resource counts as stale after its watch is open again: the events that it missed come a moment later. */
const caughtUpMs = 1000;

export class Staleness {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #all: readonly Stale[] = nothing;
  /** States that ended a moment ago, and until when they count. */
  #ended: readonly { readonly stale: Stale; readonly until: number }[] = [];
  #text = '[]';
  #version = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Another number after each change. */
  get version(): number {
    return this.#version;
  }

  set(all: readonly Stale[]): void {
    const text = JSON.stringify(all);
    if (text === this.#text) return;
    const now = this.#clock.monotonic();
    const goesOn = new Set(all.map(idOf));
    const ended = this.#all.map((stale) => ({ stale, until: now + caughtUpMs }));
    this.#ended = [...this.#ended, ...ended].filter(({ stale, until }) => until > now && !goesOn.has(idOf(stale)));
    this.#all = all;
    this.#text = text;
    this.#version += 1;
  }

  /** The stale resources that were read, and of which the caller may see something. @param isRead of a resourceKey */
  of(isRead: (key: string) => boolean, scopes: Scopes | null): readonly Stale[] {
    if (this.#all.length + this.#ended.length === 0) return nothing;
    const now = this.#clock.monotonic();
    const ending = this.#ended.flatMap(({ stale, until }) => (until > now ? stale : []));
    return [...this.#all, ...ending].filter(
      ({ cluster, key }) => isRead(key) && (scopes === null || partIn(scopes.of(key, 'list'), cluster) !== null),
    );
  }

  /** The stored states, with ingest's facts about the stale ones. */
  shownIn(states: readonly ResourceProgress[]): readonly ResourceProgress[] {
    if (this.#all.length === 0) return states;
    const stale = new Map(this.#all.map((each) => [idOf(each), each]));
    return states.map((state) => {
      const found = stale.get(idOf(state));
      if (found === undefined) return state;
      const { phase, error, since: staleSince } = found;
      return { ...state, status: { ...state.status, phase, error, staleSince } };
    });
  }

  /**
   * Since when any of the kinds is not ingested in the cluster, or waits after an error; null if none does. An open watch on a cluster that
   * cannot be read does not count. Rights end by this time, and one failed attempt must not end them.
   */
  since(cluster: string, keys: readonly string[]): number | null {
    let oldest: number | null = null;
    for (const each of this.#all) {
      if (each.cluster !== cluster || !keys.includes(each.key)) continue;
      if (each.error === null && each.phase !== 'STOPPED') continue;
      oldest = Math.min(oldest ?? each.since, each.since);
    }
    return oldest;
  }
}

function idOf({ cluster, key }: Pick<Stale, 'cluster' | 'key'>): string {
  return `${cluster} ${key}`;
}
