/**
 * A cohort: the subscribers of one live query who see the same result. It runs the query once for all of them.
 *
 *   a kind of the query changes -> `touch`
 *     -> wait until max(throttle, 20 × the last run) has passed since the last run
 *     -> only lists with filters were touched: look whether one of the changes matches before or after; none does -> rest
 *     -> run, as one of the members that wait -> another text: the members that wait get the result
 *                                             -> the same text: rest
 *
 * Owns: the newest run. Never: keeps a queue. A member that is slow gets the newest run when it asks for the next one. While no member
 * waits, nothing runs.
 *
 * Invariants:
 *   - One run at a time.
 *   - A change after the snapshot of the newest run leads to another run, unless it is proved that it does not concern the result.
 *   - A run in other scopes than those of the cohort is given to nobody.
 *
 * Example, throttle 500: a run at 0 takes 2 ms. Changes at 100 and 200 lead to one run at 500. A change at 2,000 leads to a run at once.
 */
import type { Semaphore } from '../../base/semaphore.ts';
import type { Filter } from '../../query/plan/filter.ts';
import type { KindState } from '../../query/read/kind-state.ts';
import type { LiveRun } from './live-run.ts';

/** Runs in a row whose result is an error that passes by itself, before the members get it, and the milliseconds after each. */
const mostPassing = 3;
const restAfterPassing = 1000;
/** Runs of a query take at most this share of the time: one part of so many. */
const restPerRun = 20;
/** Milliseconds that the feed gets to read the changes. It also waits so long for one that matches. */
const lookMs = 100;

/** The changes of objects that match a filter before or after. */
export interface WatchedChanges {
  /**
   * Waits for such a change after a revision, until the signal aborts. Null for one, and if that is not known. Otherwise the revision up to
   * which there is none.
   */
  passed(place: { readonly epoch: string; readonly sequence: number }, signal: AbortSignal): Promise<number | null>;
  leave(): void;
}

export interface ChangeSource {
  /** @param key resourceKey of the kind. */
  watch(kindId: number, key: string, filter: Filter): WatchedChanges;
}

/** What a cohort needs of the gateway. */
export interface CohortParts {
  readonly changes: ChangeSource;
  /** Bounds the runs of all cohorts. */
  readonly permits: Semaphore;
  /** Have the kinds the same state in the store now? */
  readonly isUnchanged: (state: KindState) => Promise<boolean>;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** Resolves after so many milliseconds, or when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** The kinds of the newest run have changed. */
  readonly registered: (cohort: Touched, kinds: KindState['kinds'] | null) => void;
  readonly ran: () => void;
}

/** What learns of changes. */
export interface Touched {
  /** @param kindId null if any kind may have changed. */
  touch(kindId: number | null, epoch: string | null, revision: number): void;
  interrupt(): void;
}

/** A subscriber. */
export interface Member<R> {
  /** Executes the query as this member. */
  run(): Promise<LiveRun<R>>;
  /** That of the result which the member has. */
  text: string;
}

export type Step<R> =
  | { readonly kind: 'result'; readonly run: LiveRun<R> }
  /** The member must look whether the cohort is still its own. */
  | { readonly kind: 'interrupted' };

interface Waiting<R> {
  readonly member: Member<R>;
  readonly settle: (step: Step<R>) => void;
  readonly fail: (error: unknown) => void;
}

export class Cohort<R> implements Touched {
  readonly scopesId: string;
  readonly #parts: CohortParts;
  readonly #throttle: number;
  readonly #waiting = new Set<Waiting<R>>();
  #newest: LiveRun<R> | null = null;
  /** When the newest run began. */
  #began = Number.NEGATIVE_INFINITY;
  /** Kinds that changed after the newest run: the revision up to which they did, by id of the kind. */
  readonly #touched = new Map<number, number>();
  /** Changes of a kind up to here do not concern the newest run. By id of the kind. */
  readonly #passed = new Map<number, number>();
  /** May members of several users be in it? */
  #isShared = true;
  #isTouchedByAny = false;
  #isDriving = false;
  /** Runs in a row whose result was an error that passes by itself. */
  #failures = 0;
  #isOwn = false;
  /** Wakes the loop. */
  #signal: (() => void) | null = null;
  #members = 0;
  readonly #joined = new Map<number, WatchedChanges>();
  readonly #over = new AbortController();
  readonly #empty: () => void;

  /** @param empty called when the last member has left. */
  constructor(parts: CohortParts, scopesId: string, throttle: number, empty: () => void) {
    this.#parts = parts;
    this.scopesId = scopesId;
    this.#throttle = throttle;
    this.#empty = empty;
  }

  /** Did a run turn out to be for one user alone? Then its members need cohorts of their own. */
  get isOwn(): boolean {
    return this.#isOwn;
  }

  /** @returns a function that removes the member. */
  join(): () => void {
    this.#members += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#members -= 1;
      if (this.#members > 0) return;
      this.#over.abort();
      this.#parts.registered(this, null);
      for (const { leave } of this.#joined.values()) leave();
      this.#joined.clear();
      this.#empty();
    };
  }

  /** Takes over a run of a member, if it is newer than the newest one. */
  accept(run: LiveRun<R>): void {
    if (run.scopesId !== this.scopesId) return;
    const known = this.#newest?.state ?? null;
    if (this.#newest !== null && !(known !== null && run.state !== null && isNewer(run.state, known))) return;
    this.#began = this.#parts.monotonic() - run.milliseconds;
    this.#take(run);
  }

  /** The next result with another text than the member has. Rejects if a run fails as a whole. */
  next(member: Member<R>, signal: AbortSignal): Promise<Step<R>> {
    const newest = this.#newest;
    if (this.#isOwn) return Promise.resolve({ kind: 'interrupted' });
    if (newest !== null && newest.text !== member.text) return Promise.resolve({ kind: 'result', run: newest });
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#waiting.delete(waiting);
        signal.removeEventListener('abort', interrupted);
      };
      const waiting: Waiting<R> = {
        member,
        settle: (step) => {
          end();
          resolve(step);
        },
        fail: (error) => {
          end();
          reject(error);
        },
      };
      const interrupted = (): void => waiting.settle({ kind: 'interrupted' });
      if (signal.aborted) return interrupted();
      signal.addEventListener('abort', interrupted, { once: true });
      this.#waiting.add(waiting);
      void this.#drive();
    });
  }

  touch(kindId: number | null, epoch: string | null, revision: number): void {
    const state = this.#newest?.state ?? null;
    const isOfEpoch = state !== null && state.epoch === epoch;
    // The signal of a commit arrives later than the commit: the newest run may contain it.
    const seen = Math.max(state?.revision ?? 0, kindId === null ? 0 : (this.#passed.get(kindId) ?? 0));
    if (isOfEpoch && revision <= seen) return;
    if (kindId === null || !isOfEpoch) this.#isTouchedByAny = true;
    else this.#touched.set(kindId, Math.max(revision, this.#touched.get(kindId) ?? 0));
    this.#wake();
  }

  interrupt(): void {
    for (const { settle } of [...this.#waiting]) settle({ kind: 'interrupted' });
  }

  #wake(): void {
    this.#signal?.();
  }

  /** Runs the query again and again while members wait. Never rejects. */
  async #drive(): Promise<void> {
    if (this.#isDriving) return;
    this.#isDriving = true;
    try {
      while (this.#waiting.size > 0 && !this.#over.signal.aborted) await this.#step();
    } finally {
      this.#isDriving = false;
    }
  }

  async #step(): Promise<void> {
    const newest = this.#newest;
    const isTimed = newest !== null && newest.state === null;
    if (newest !== null && !isTimed && !this.#isTouched) return this.#rest(Number.POSITIVE_INFINITY);
    const pause = Math.max(
      this.#throttle,
      restPerRun * (newest?.milliseconds ?? 0),
      newest?.rest ?? 0,
      this.#failures * restAfterPassing,
    );
    const wait = this.#began + pause - this.#parts.monotonic();
    if (wait > 0) return this.#rest(wait, false);
    if (newest !== null && !isTimed && !(await this.#isConcerned(newest))) return;
    await this.#run();
  }

  get #isTouched(): boolean {
    return this.#isTouchedByAny || this.#touched.size > 0;
  }

  /** Waits so many milliseconds. @param untilTouched ends when a kind changes */
  async #rest(ms: number, untilTouched = true): Promise<void> {
    const rested = new AbortController();
    const end = (): void => rested.abort();
    this.#over.signal.addEventListener('abort', end, { once: true });
    if (untilTouched) this.#signal = end;
    try {
      if (untilTouched && this.#isTouched) return;
      if (ms === Number.POSITIVE_INFINITY) {
        await new Promise<void>((resolve) => rested.signal.addEventListener('abort', () => resolve(), { once: true }));
      } else await this.#parts.sleep(ms, rested.signal);
    } finally {
      this.#signal = null;
      this.#over.signal.removeEventListener('abort', end);
    }
  }

  async #run(): Promise<void> {
    const { permits, monotonic, ran } = this.#parts;
    const leave = await permits.enter();
    try {
      const [first] = this.#waiting;
      if (first === undefined) return;
      this.#touched.clear();
      this.#isTouchedByAny = false;
      this.#began = monotonic();
      let run: LiveRun<R>;
      try {
        ran();
        run = await first.member.run();
      } catch (error) {
        // The member that ran it is told. The next one that waits tries again.
        this.#isTouchedByAny = true;
        return first.fail(error);
      }
      if (run.scopesId !== this.scopesId) {
        this.#isTouchedByAny = true;
        return first.settle({ kind: 'interrupted' });
      }
      if (run.isPassing && this.#failures < mostPassing) {
        // The members keep the result that they have.
        this.#failures += 1;
        this.#isTouchedByAny = true;
        return;
      }
      this.#failures = 0;
      this.#take(run);
    } finally {
      leave();
    }
  }

  /** Looks for changes after the snapshot of the run, of kinds whose signals the cohort did not get before. */
  async #verify({ state }: LiveRun<R>): Promise<void> {
    if (state !== null && !(await this.#parts.isUnchanged(state))) this.touch(null, null, Number.POSITIVE_INFINITY);
  }

  #take(run: LiveRun<R>): void {
    if (run.isOwn && this.#isShared) {
      this.#isOwn = true;
      this.interrupt();
      return;
    }
    this.#newest = run;
    this.#passed.clear();
    this.#parts.registered(this, run.state?.kinds ?? null);
    const wanted = new Map(run.lists.map((list) => [list.kindId, list]));
    for (const [kindId, { leave }] of this.#joined) {
      if (wanted.has(kindId)) continue;
      leave();
      this.#joined.delete(kindId);
    }
    for (const [kindId, { key, filter }] of wanted) {
      if (!this.#joined.has(kindId)) this.#joined.set(kindId, this.#parts.changes.watch(kindId, key, filter));
    }
    for (const { member, settle } of [...this.#waiting]) if (member.text !== run.text) settle({ kind: 'result', run });
    this.#wake();
    void this.#verify(run);
  }

  /** Only one user's members are in it. */
  forOneUser(): this {
    this.#isShared = false;
    return this;
  }

  /** Do the changes since the newest run concern its result? */
  async #isConcerned({ state, lists }: LiveRun<R>): Promise<boolean> {
    if (state === null || this.#isTouchedByAny) return true;
    const known = new Set(lists.map(({ kindId }) => kindId));
    for (const [kindId, wanted] of [...this.#touched]) {
      const upTo = known.has(kindId) ? await this.#passedBy(kindId, state, wanted) : null;
      if (upTo === null) return true;
      this.#passed.set(kindId, upTo);
      if ((this.#touched.get(kindId) ?? 0) <= upTo) this.#touched.delete(kindId);
    }
    return false;
  }

  /**
   * The revision up to which no change of the kind matches its filter. Null if one does, or if that is not known.
   * @param wanted at least up to this one.
   */
  async #passedBy(kindId: number, { epoch, revision }: KindState, wanted: number): Promise<number | null> {
    const sequence = Math.max(this.#passed.get(kindId) ?? 0, revision);
    const signal = AbortSignal.any([this.#over.signal, AbortSignal.timeout(lookMs)]);
    const upTo = (await this.#joined.get(kindId)?.passed({ epoch, sequence }, signal)) ?? null;
    return upTo !== null && upTo >= wanted ? upTo : null;
  }
}

function isNewer(state: KindState, known: KindState): boolean {
  return state.epoch !== known.epoch || state.revision > known.revision;
}
