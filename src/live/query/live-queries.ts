/**
 * Live queries: the cohorts of all documents, and which of them a commit concerns.
 *
 *   commit signal -> the cohorts whose newest run read one of its kinds -> `touch`
 *   new generation, changed rights -> `interrupt`: every member looks whether its cohort is still its own
 *
 * Owns: the cohorts by key. The result depends on the store and on the key. A key has the document, variables, scopes and generation. It has
 * the user too if the result is for one user alone.
 */
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { must } from '../../base/must.ts';
import { isUnchanged, type KindState, kindInCell, stateStatement } from '../../query/read/kind-state.ts';
import type { CommittedChanges } from '../../store/types/change.ts';
import type { Reader } from '../../store/types/lease.ts';
import { type ChangeSource, type CohortParts, QueryCohort, type Touched } from './query-cohort.ts';

interface LiveQueriesOptions {
  readonly changes: ChangeSource;
  /** One for each cell. */
  readonly readers: readonly Reader[];
  /** The most queries that run at once. */
  readonly runs: number;
  readonly monotonic: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** The identity of a cohort. */
interface CohortOf {
  /** Of the document, its variables and the generation. */
  readonly key: string;
  readonly scopesId: string;
  /** The user that the result is for; null if it is for all users with these scopes. */
  readonly user: string | null;
  /** Least milliseconds between two runs. */
  readonly throttle: number;
}

/** Live queries since the start, and now. */
export interface LiveQueriesFacts {
  readonly cohorts: number;
  readonly members: number;
  readonly runs: number;
}

export class LiveQueries {
  readonly #parts: CohortParts;
  readonly #cohorts = new Map<string, QueryCohort<unknown>>();
  readonly #byKind = new Map<number, Set<Touched>>();
  /** Cohorts that depend on every kind. */
  readonly #ofAny = new Set<Touched>();
  readonly #kinds = new Map<Touched, KindState['kinds']>();
  #members = 0;
  #runs = 0;

  constructor({ changes, readers, runs, monotonic, sleep }: LiveQueriesOptions) {
    this.#parts = {
      changes,
      permits: new Semaphore(Math.max(1, runs)),
      isUnchanged: (state) => isUnchangedIn(readers, state),
      monotonic,
      sleep: (ms, signal) => sleep(ms, signal).catch(() => {}),
      registered: (cohort, kinds) => this.#register(cohort, kinds),
      ran: () => {
        this.#runs += 1;
      },
    };
  }

  get facts(): LiveQueriesFacts {
    return { cohorts: this.#cohorts.size, members: this.#members, runs: this.#runs };
  }

  /** Joins a cohort. @returns the cohort, and a function that leaves it. */
  join<R>({ key, scopesId, user, throttle }: CohortOf): { readonly cohort: QueryCohort<R>; leave(): void } {
    const id = JSON.stringify([key, scopesId, user, throttle]);
    let cohort = this.#cohorts.get(id) as QueryCohort<R> | undefined;
    if (cohort === undefined) {
      const made = new QueryCohort<R>(this.#parts, scopesId, throttle, () => {
        if (this.#cohorts.get(id) === made) this.#cohorts.delete(id);
      });
      if (user !== null) made.forOneUser();
      this.#cohorts.set(id, made as QueryCohort<unknown>);
      cohort = made;
    }
    const leave = cohort.join();
    this.#members += 1;
    let left = false;
    return {
      cohort,
      leave: () => {
        if (left) return;
        left = true;
        this.#members -= 1;
        leave();
      },
    };
  }

  /** Signals a commit of these changes in a cell. Without an argument, any kind may have changed. */
  wake(committed?: CommittedChanges, cell = 0): void {
    if (committed === undefined) {
      for (const cohort of this.#cohorts.values()) cohort.touch(null, Number.POSITIVE_INFINITY);
      return;
    }
    const { epoch, revision, kindIds } = committed;
    for (const cohort of this.#ofAny) cohort.touch(epoch, revision);
    for (const kindId of kindIds) {
      for (const cohort of this.#byKind.get(kindInCell(cell, kindId)) ?? []) cohort.touch(epoch, revision);
    }
  }

  /** Makes every member look whether its cohort is still its own. */
  interrupt(): void {
    for (const cohort of [...this.#cohorts.values()]) cohort.interrupt();
  }

  #register(cohort: Touched, kinds: KindState['kinds'] | null): void {
    const known = this.#kinds.get(cohort);
    this.#ofAny.delete(cohort);
    for (const kindId of known === undefined || known === 'any' ? [] : known) {
      const of = this.#byKind.get(kindId);
      of?.delete(cohort);
      if (of?.size === 0) this.#byKind.delete(kindId);
    }
    this.#kinds.delete(cohort);
    if (kinds === null) return;
    this.#kinds.set(cohort, kinds);
    if (kinds === 'any') this.#ofAny.add(cohort);
    for (const kindId of kinds === 'any' ? [] : kinds) {
      const of = this.#byKind.get(kindId) ?? new Set();
      of.add(cohort);
      this.#byKind.set(kindId, of);
    }
  }
}

/** In each cell that the state is of. */
async function isUnchangedIn([only, ...others]: readonly Reader[], state: KindState): Promise<boolean> {
  const readers = [must(only, 'a store has a cell'), ...others];
  const cells = state.cells ?? [{ index: 0, state }];
  const unchanged = cells.map((cell) => isUnchangedNow(must(readers[cell.index], 'the reader of a cell'), cell.state));
  return (await Promise.all(unchanged)).every((each) => each);
}

/** False too if the store cannot be read: the query runs again then. */
async function isUnchangedNow(reader: Reader, state: KindState): Promise<boolean> {
  const { kinds, revision } = state;
  if (kinds.length === 0) return true;
  try {
    return await reader.lease(async (lease) => {
      const [row] = await lease.all(stateStatement(kinds, revision));
      return isUnchanged({ ...state }, lease, row);
    });
  } catch {
    return false;
  }
}
