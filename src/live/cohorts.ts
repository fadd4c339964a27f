/**
 * The live lists of all kinds by cohort, and which of them wait.
 *
 * A cohort is the live lists of one kind with the same filter and scope. Each stretch of the log is folded once for all of them. A live
 * list waits in its cohort when it has seen all changes of its kind. Changes wake it only if they concern its cohort.
 *
 *   changes -> candidates by the index -> one fold for each -> waiting lists of the cohorts that have messages
 */
import { scopeText } from '../access/scope.ts';
import { BoundedCache } from '../base/bounded-cache.ts';
import { must } from '../base/must.ts';
import { digest } from '../query/plan/fingerprint.ts';
import { type CohortBatch, cohortBatch, concerns, type Shown } from './cohort-batch.ts';
import { CohortIndex } from './cohort-index.ts';
import type { FeedChange } from './feed-change.ts';

/** The end of a wait. */
export interface Woken {
  /** All changes of the kind up to this sequence number have been seen. */
  readonly seen: number;
  /** The changes after it; null if something else ended the wait. */
  readonly batch: CohortBatch | null;
}

/** A live list that has seen all changes of its kind. */
interface Waiting {
  /** It has seen all changes up to here. */
  seen: number;
  readonly wake: (woken: Woken) => void;
  /** Takes the batch at once and waits on. False if the list must be woken. */
  readonly take: ((batch: CohortBatch) => boolean) | null;
}

/** A stretch of the log of one kind. */
interface Stretch {
  readonly epoch: string;
  /** Exclusive. */
  readonly from: number;
  readonly changes: readonly FeedChange[];
  readonly upTo: number;
}

/** Folded stretches that are kept, for live lists of a cohort that come to them one after the other. */
const keptBatches = 5000;
const keptCharacters = 4 * 1024 * 1024;

export class Cohort {
  readonly kindId: number;
  readonly shown: Shown;
  readonly id: string;
  readonly waiting = new Set<Waiting>();
  members = 0;

  constructor(kindId: number, shown: Shown, id: string) {
    this.kindId = kindId;
    this.shown = shown;
    this.id = id;
  }
}

export class Cohorts {
  readonly #byId = new Map<string, Cohort>();
  readonly #indexes = new Map<number, CohortIndex<Cohort>>();
  readonly #batches = new BoundedCache<CohortBatch>({ entries: keptBatches, weight: keptCharacters });
  #waiting = 0;

  /** The number of live lists that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** The number of cohorts. */
  get size(): number {
    return this.#byId.size;
  }

  has(kindId: number): boolean {
    return this.#indexes.has(kindId);
  }

  /** Adds a live list to its cohort. Each call needs one `leave`. */
  join(kindId: number, shown: Shown): Cohort {
    const id = `${kindId} ${shown.key} ${digestOf(shown)} ${scopeText(shown.scope)}`;
    const cohort = this.#byId.get(id) ?? new Cohort(kindId, shown, id);
    cohort.members += 1;
    if (cohort.members > 1) return cohort;
    this.#byId.set(id, cohort);
    const index = this.#indexes.get(kindId) ?? new CohortIndex<Cohort>();
    this.#indexes.set(kindId, index);
    index.add(cohort);
    return cohort;
  }

  leave(cohort: Cohort): void {
    cohort.members -= 1;
    if (cohort.members > 0) return;
    this.#byId.delete(cohort.id);
    const index = must(this.#indexes.get(cohort.kindId), 'the index of a cohort');
    index.delete(cohort);
    if (index.cohorts.size === 0) this.#indexes.delete(cohort.kindId);
  }

  /** What the stretch means for the cohort. */
  batch(cohort: Cohort, { epoch, from, changes, upTo }: Stretch): CohortBatch {
    const key = `${epoch} ${from} ${upTo} ${cohort.id}`;
    const known = this.#batches.get(key);
    if (known !== undefined) return known;
    const made = cohortBatch(cohort.shown, epoch, changes, upTo);
    const weight = concerns(made) ? changes.reduce((sum, { size }) => sum + size, 0) : 1;
    this.#batches.set(key, made, weight);
    return made;
  }

  /**
   * Waits for changes that concern the cohort, for a live list that has seen all changes up to `sequence`. Never rejects.
   * @param take takes a batch at once, so that the wait goes on; false ends the wait with the batch.
   */
  wait(cohort: Cohort, sequence: number, signal: AbortSignal, take: Waiting['take'] = null): Promise<Woken> {
    return new Promise((resolve) => {
      const abort = (): void => waiting.wake({ seen: sequence, batch: null });
      const waiting: Waiting = {
        seen: sequence,
        take,
        wake: ({ seen, batch }) => {
          if (!cohort.waiting.delete(waiting)) return;
          this.#waiting -= 1;
          signal.removeEventListener('abort', abort);
          resolve({ seen: Math.max(waiting.seen, seen), batch });
        },
      };
      cohort.waiting.add(waiting);
      this.#waiting += 1;
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** Gives a new stretch to the waiting live lists of the kind that it concerns. */
  deliver(kindId: number, stretch: Stretch): void {
    const index = this.#indexes.get(kindId);
    if (index === undefined || stretch.changes.length === 0) return;
    for (const cohort of index.find(stretch.changes)) {
      if (cohort.waiting.size === 0) continue;
      const batch = this.batch(cohort, stretch);
      if (!concerns(batch)) continue;
      for (const waiting of [...cohort.waiting]) give(waiting, stretch, batch);
    }
  }

  /** Ends the waits for a kind. @param seen all changes of the kind up to here were delivered */
  wake(kindId: number, seen: number): void {
    for (const cohort of this.#indexes.get(kindId)?.cohorts ?? []) {
      for (const { wake } of [...cohort.waiting]) wake({ seen, batch: null });
    }
  }
}

function give(waiting: Waiting, { from, upTo }: Stretch, batch: CohortBatch): void {
  const { seen, take, wake } = waiting;
  // A list that has read the log further than the feed would see changes twice.
  if (seen > from) wake({ seen, batch: null });
  else if (take?.(batch) === true) waiting.seen = upTo;
  else wake({ seen: from, batch });
}

/** By filter, because it is the same for each snapshot of a live list. */
const digests = new WeakMap<object, string>();

function digestOf({ filter }: Shown): string {
  const known = digests.get(filter) ?? digest(filter, 'meant');
  digests.set(filter, known);
  return known;
}
