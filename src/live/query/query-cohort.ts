/**
 * A query cohort: the subscribers of one live query who see the same result. It runs the query once for all of them.
 *
 *   a change concerns the query -> `touch`
 *     -> wait until max(throttle, 20 × the last run, at most 30 s) has passed since the last run
 *     -> run, as one of the members that wait -> another digest: the members that wait get the result
 *                                             -> the same digest: rest
 *
 * A query that reads kinds only by lists is touched by changes of objects that match a filter of the lists before or after. The change feed
 * finds them. Another query is touched by every commit of one of its kinds.
 *
 * Owns: the newest run, and its result until every member has it. Never: keeps a queue. A member that is slow gets the newest result when
 * it asks for the next one. While no member waits, nothing runs.
 *
 * Invariants:
 *   - One run at a time.
 *   - A change after the snapshot of the newest run leads to another run, unless it is proved that it does not concern the result.
 *   - A run in other scopes than those of the cohort goes to no member.
 *
 * Example, throttle 500: a run at 0 takes 2 ms. Changes at 100 and 200 lead to one run at 500. A change at 2,000 leads to a run at once.
 */
import type { Semaphore } from '../../base/concurrency/semaphore.ts';
import type { Filter } from '../../query/plan/filter.ts';
import type { KindState } from '../../query/read/kind-state.ts';
import type { LiveRun, WatchedList } from './live-run.ts';

/** Runs in a row whose result is an error that passes by itself, before the members get it, and the milliseconds after each. */
const mostPassing = 3;
const restAfterPassing = 1000;
/** Runs of a query take at most this share of the time: one part of so many. */
const restPerRun = 20;
/** The most milliseconds of this rest: on a busy machine a run may take seconds, and a page must not be outdated for minutes. */
const mostRest = 30_000;
/**
 * A run keeps its permit for so many times its duration after its end. So operations find readers and processor time. The pause does
 * not depend on other cohorts that wait. When timers of many cohorts end together, none waits for a run on the calling thread, and the runs
 * would follow each other in one turn.
 */
const pausePerRun = 5;

/** The reason of every abort here. Without one, each abort makes an error with a stack. */
const over = new Error('the wait is over');

/** The changes of objects that match a filter before or after. */
interface WatchedChanges {
  /**
   * Waits for a change of this kind after a revision, until the signal aborts. Null for one, and if that is not known. Otherwise the
   * revision up to which there is none.
   */
  passed(place: { readonly epoch: string; readonly sequence: number }, signal: AbortSignal): Promise<number | null>;
  leave(): void;
}

export interface ChangeSource {
  /** @param key resourceKey of the kind. */
  watch(kindId: number, key: string, filter: Filter): WatchedChanges;
}

/** The parts of the gateway that a cohort needs. */
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
  /** The kinds whose commits concern the cohort; null for none. */
  readonly registered: (cohort: Touched, kinds: KindState['kinds'] | null) => void;
  readonly ran: () => void;
}

/** An object that learns of changes. */
export interface Touched {
  /** A commit that may concern it. @param epoch null if it is not known */
  touch(epoch: string | null, revision: number): void;
  interrupt(): void;
}

/** Changes of one kind that a cohort waits for. */
interface Watch {
  readonly changes: WatchedChanges;
  readonly stop: AbortController;
  isWaiting?: boolean;
}

/** A subscriber. */
export interface Member<R> {
  /** Executes the query as this member. */
  run(): Promise<LiveRun<R>>;
  /** That of the result which the member has. */
  digest: string;
}

export type Step<R> =
  | { readonly kind: 'result'; readonly result: R; readonly digest: string }
  /** The member must look whether the cohort is still its own. */
  | { readonly kind: 'interrupted' };

interface Waiting<R> {
  readonly member: Member<R>;
  readonly settle: (step: Step<R>) => void;
  readonly fail: (error: unknown) => void;
}

export class QueryCohort<R> implements Touched {
  readonly scopesId: string;
  readonly #parts: CohortParts;
  readonly #throttle: number;
  readonly #waiting = new Set<Waiting<R>>();
  #newest: Omit<LiveRun<R>, 'result'> | null = null;
  /** That of the newest run; null when every member has it. */
  #result: { readonly of: R } | null = null;
  /** When the newest run began. */
  #began = Number.NEGATIVE_INFINITY;
  /** May members of several users be in it? */
  #isShared = true;
  #isTouched = false;
  #isDriving = false;
  /** Runs in a row whose result was an error that passes by itself. */
  #failures = 0;
  #isOwn = false;
  /** Wakes the loop. */
  #signal: (() => void) | null = null;
  #members = 0;
  readonly #watches = new Map<number, Watch>();
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
      this.#over.abort(over);
      this.#parts.registered(this, null);
      this.#unwatch(new Set());
      this.#empty();
    };
  }

  /** Takes over a run of a member, if it is newer than the newest one. */
  accept(run: LiveRun<R>): void {
    if (run.scopesId !== this.scopesId) return;
    const known = this.#newest?.state ?? null;
    if (this.#newest !== null && !(known !== null && run.state !== null && isNewer(run.state, known))) return;
    // The member has only this result. How long a read took before it was cut says nothing about the next one.
    const taken = run.isPassing ? { ...run, milliseconds: 0, rest: restAfterPassing } : run;
    this.#began = this.#parts.monotonic() - taken.milliseconds;
    this.#take(taken);
  }

  /** The next result with another digest than the member has. Rejects if a run fails as a whole. */
  next(member: Member<R>, signal: AbortSignal): Promise<Step<R>> {
    const newest = this.#newest;
    if (this.#isOwn) return Promise.resolve({ kind: 'interrupted' });
    if (newest !== null && newest.digest !== member.digest) {
      if (this.#result !== null)
        return Promise.resolve({ kind: 'result', result: this.#result.of, digest: newest.digest });
      this.#isTouched = true;
      this.#wake();
    }
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
      this.#forgetResult();
      void this.#drive();
    });
  }

  touch(epoch: string | null, revision: number): void {
    const state = this.#newest?.state ?? null;
    // The signal of a commit arrives later than the commit: the newest run may contain it.
    if (state !== null && state.epoch === epoch && revision <= state.revision) return;
    this.#isTouched = true;
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
      Math.min(restPerRun * (newest?.milliseconds ?? 0), mostRest),
      newest?.rest ?? 0,
      this.#failures * restAfterPassing,
    );
    const wait = this.#began + pause - this.#parts.monotonic();
    if (wait > 0) return this.#rest(wait, false);
    await this.#run();
  }

  /** Waits so many milliseconds. @param untilTouched ends when a kind changes */
  async #rest(ms: number, untilTouched = true): Promise<void> {
    const rested = new AbortController();
    const end = (): void => rested.abort(over);
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
    const { permits, monotonic, ran, sleep } = this.#parts;
    const leave = await permits.enter();
    const entered = monotonic();
    try {
      const [first] = this.#waiting;
      if (first === undefined) return;
      this.#isTouched = false;
      this.#began = monotonic();
      let run: LiveRun<R>;
      try {
        ran();
        run = await first.member.run();
      } catch (error) {
        // The member that ran it gets the error. The next one that waits tries again.
        this.#isTouched = true;
        return first.fail(error);
      }
      if (run.scopesId !== this.scopesId) {
        this.#isTouched = true;
        return first.settle({ kind: 'interrupted' });
      }
      if (run.isPassing && this.#failures < mostPassing) {
        // The members keep the result that they have.
        this.#failures += 1;
        this.#isTouched = true;
        return;
      }
      this.#failures = 0;
      this.#take(run);
    } finally {
      const pause = (monotonic() - entered) * pausePerRun;
      if (pause === 0) leave();
      else void sleep(pause, this.#over.signal).finally(leave);
    }
  }

  /** Looks for changes after the snapshot of the run, of kinds whose signals the cohort did not get before. */
  async #verify({ state }: Pick<LiveRun<R>, 'state'>): Promise<void> {
    if (state !== null && !(await this.#parts.isUnchanged(state))) this.touch(null, Number.POSITIVE_INFINITY);
  }

  #take(run: LiveRun<R>): void {
    if (run.isOwn && this.#isShared) {
      this.#isOwn = true;
      this.interrupt();
      return;
    }
    const { result, ...newest } = run;
    this.#newest = newest;
    this.#result = { of: result };
    const { state, lists, digest } = run;
    const watched = new Map(lists.map((list) => [list.kindId, list]));
    const isWatched = state !== null && state.kinds !== 'any' && state.kinds.every((kindId) => watched.has(kindId));
    if (isWatched) this.#watch([...watched.values()], state);
    else this.#unwatch(new Set());
    this.#parts.registered(this, isWatched ? [] : (state?.kinds ?? null));
    for (const { member, settle } of [...this.#waiting])
      if (member.digest !== digest) settle({ kind: 'result', result, digest });
    this.#forgetResult();
    this.#wake();
    if (!isWatched) void this.#verify(run);
  }

  /** Members that wait have the newest result. */
  #forgetResult(): void {
    if (this.#waiting.size >= this.#members) this.#result = null;
  }

  /** Waits for changes after the run that concern its lists. A wait that goes on from an earlier run has found none. */
  #watch(lists: readonly WatchedList[], { epoch, revision }: KindState): void {
    this.#unwatch(new Set(lists.map(({ kindId }) => kindId)));
    for (const { kindId, key, filter } of lists) {
      const known = this.#watches.get(kindId);
      const watch = known ?? { changes: this.#parts.changes.watch(kindId, key, filter), stop: new AbortController() };
      this.#watches.set(kindId, watch);
      if (watch.isWaiting === true) continue;
      watch.isWaiting = true;
      void this.#follow(watch, { epoch, sequence: revision });
    }
  }

  async #follow(watch: Watch, from: { readonly epoch: string; readonly sequence: number }): Promise<void> {
    const { changes, stop } = watch;
    let place = from;
    while (!stop.signal.aborted) {
      const upTo = await changes.passed(place, stop.signal).catch(() => null);
      if (upTo === null) break;
      place = { ...place, sequence: upTo };
    }
    watch.isWaiting = false;
    if (!stop.signal.aborted) this.touch(null, Number.POSITIVE_INFINITY);
  }

  /** @param kept ids of kinds */
  #unwatch(kept: ReadonlySet<number>): void {
    for (const [kindId, { changes, stop }] of this.#watches) {
      if (kept.has(kindId)) continue;
      stop.abort(over);
      changes.leave();
      this.#watches.delete(kindId);
    }
  }

  /** Only one user's members are in it. */
  forOneUser(): this {
    this.#isShared = false;
    return this;
  }
}

function isNewer(state: KindState, known: KindState): boolean {
  return state.epoch !== known.epoch || state.revision > known.revision;
}
