/**
 * The live lists of all kinds by cohort, and which of them wait.
 *
 * A cohort is the live lists of one kind with the same filter and scope. Each stretch of the log is folded once for all of them. A live
 * list waits in its cohort when it has seen all changes of its kind. Changes wake it only if they concern its cohort.
 *
 *   changes -> candidates by the index -> one fold for each -> waiting lists of the cohorts that have messages
 */
import { scopeText } from '../../access/scope.ts';
import { BoundedCache } from '../../base/bounded-cache.ts';
import { must } from '../../base/must.ts';
import { digest } from '../../query/plan/fingerprint.ts';
import type { FeedChange } from '../log/feed-change.ts';
import { type CohortBatch, type CohortRows, cohortBatch, concerns, type LiveMessage } from './cohort-batch.ts';
import { CohortIndex } from './cohort-index.ts';

/** The end of a wait. */
interface Woken {
  /** All changes of the kind up to this sequence number have been seen. */
  readonly seen: number;
  /** The changes after it; null if something else ended the wait. */
  readonly batch: CohortBatch | null;
  /** The number of matches at `seen`. */
  readonly count: number | null;
}

/** Live lists whose messages give the same bytes. They are asked once for all that wait at the same place. */
export interface PushGroup {
  /**
   * The data to send for a message; null if the live lists must look at it themselves. It must be made without waiting.
   * @param message with the number of matches after it
   */
  prepare(message: LiveMessage, upTo: number): unknown;
}

/** Sends what a group has prepared to one client. */
export interface PushReceiver {
  /** False if it cannot be sent now. Nothing is sent then. */
  push(prepared: unknown): boolean;
}

/** How a live list is given messages while it waits. */
export interface Pushing {
  readonly group: PushGroup;
  readonly receiver: PushReceiver;
}

/** A live list that waits. */
interface Waiting {
  /** It has seen all changes up to here. */
  readonly seen: number;
  readonly receiver: PushReceiver | null;
  wake(woken: Woken): void;
}

/** Live lists of one group that wait with the same number of matches. All have seen the changes up to the end of the window. */
class Waiters {
  readonly group: PushGroup | null;
  count: number | null;
  readonly members = new Set<Waiting>();

  constructor(group: PushGroup | null, count: number | null) {
    this.group = group;
    this.count = count;
  }

  /** Gives a batch to all members. */
  give(batch: CohortBatch, from: number): void {
    const { count } = this;
    const [message, another] = batch.kind === 'gap' ? [] : batch.messages;
    const isOne = message !== undefined && another === undefined;
    const next = message?.countAfter(count) ?? null;
    const prepared = isOne && this.group !== null ? this.group.prepare(message.live(next), message.upTo) : null;
    // A member that is woken leaves the waiters, and must know its count before the batch.
    const behind =
      prepared === null
        ? [...this.members]
        : [...this.members].filter(({ receiver }) => receiver?.push(prepared) !== true);
    // A list that has read the log further than the feed would see changes twice.
    for (const { seen, wake } of behind)
      wake(seen > from ? { seen, batch: null, count } : { seen: from, batch, count });
    if (prepared !== null) this.count = next;
  }

  /** Ends the wait of a member. @param seen as for {@link StandingWait} */
  end(member: Waiting, seen: number): void {
    if (!this.members.has(member)) return;
    member.wake({ seen: Math.max(seen, member.seen), batch: null, count: this.count });
  }
}

/** A live list that waits, seen from outside. */
export interface StandingWait {
  /** Ends the wait, unless it has ended. @param seen all changes of the kind up to here were delivered by now */
  end(seen: number): void;
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
const keptBytes = 4 * 1024 * 1024;

export class Cohort {
  readonly kindId: number;
  readonly rows: CohortRows;
  readonly id: string;
  readonly waiters = new Map<PushGroup | null, Waiters[]>();
  members = 0;

  constructor(kindId: number, rows: CohortRows, id: string) {
    this.kindId = kindId;
    this.rows = rows;
    this.id = id;
  }

  waitersOf(group: PushGroup | null, count: number | null): Waiters {
    const known = this.waiters.get(group) ?? [];
    const found = known.find((waiters) => waiters.count === count);
    if (found !== undefined) return found;
    const waiters = new Waiters(group, count);
    this.waiters.set(group, [...known, waiters]);
    return waiters;
  }

  /** Forgets waiters without members. */
  clear(waiters: Waiters): void {
    if (waiters.members.size > 0) return;
    const others = this.waiters.get(waiters.group)?.filter((each) => each !== waiters) ?? [];
    if (others.length === 0) this.waiters.delete(waiters.group);
    else this.waiters.set(waiters.group, others);
  }
}

export class Cohorts {
  readonly #byId = new Map<string, Cohort>();
  readonly #indexes = new Map<number, CohortIndex<Cohort>>();
  readonly #batches = new BoundedCache<CohortBatch>({ entries: keptBatches, weight: keptBytes });
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
  join(kindId: number, rows: CohortRows): Cohort {
    const id = `${kindId} ${rows.key} ${digestOf(rows)} ${rows.shown?.id ?? ''} ${scopeText(rows.scope)}`;
    const cohort = this.#byId.get(id) ?? new Cohort(kindId, rows, id);
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

  /** The meaning of the stretch for the cohort. Its changes may be those alone that may concern the cohort. */
  batch(cohort: Cohort, { epoch, from, changes, upTo }: Stretch): CohortBatch {
    const key = `${epoch} ${from} ${upTo} ${cohort.id}`;
    const known = this.#batches.get(key);
    if (known !== undefined) return known;
    const made = cohortBatch(cohort.rows, epoch, changes, upTo);
    const weight = concerns(made) ? changes.reduce((sum, { size }) => sum + size, 0) : 1;
    this.#batches.set(key, made, weight);
    return made;
  }

  /**
   * Waits for changes that concern the cohort, for a live list that has seen all changes up to `sequence`. Messages that are pushed do not
   * end the wait. Never rejects.
   * @param count the number of matches; null if the list does not count
   */
  wait(
    cohort: Cohort,
    { sequence, count }: { readonly sequence: number; readonly count: number | null },
    signal: AbortSignal,
    pushing: Pushing | null = null,
  ): Promise<Woken> {
    const waiters = cohort.waitersOf(pushing?.group ?? null, count);
    return new Promise((resolve) => {
      const waiting: Waiting = {
        seen: sequence,
        receiver: pushing?.receiver ?? null,
        wake: (woken) => {
          if (!waiters.members.delete(waiting)) return;
          cohort.clear(waiters);
          this.#waiting -= 1;
          signal.removeEventListener('abort', abort);
          resolve(woken);
        },
      };
      const abort = (): void => waiting.wake({ seen: sequence, batch: null, count });
      waiters.members.add(waiting);
      this.#waiting += 1;
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** Gives a new stretch to the waiting live lists of the kind that it concerns. */
  deliver(kindId: number, stretch: Stretch): void {
    const index = this.#indexes.get(kindId);
    if (index === undefined || stretch.changes.length === 0) return;
    for (const [cohort, changes] of index.find(stretch.changes)) {
      if (cohort.waiters.size === 0) continue;
      const batch = this.batch(cohort, { ...stretch, changes });
      if (!concerns(batch)) continue;
      for (const waiters of [...cohort.waiters.values()].flat()) waiters.give(batch, stretch.from);
    }
  }

  /** The waits for a kind. */
  waits(kindId: number): readonly StandingWait[] {
    const cohorts = [...(this.#indexes.get(kindId)?.cohorts ?? [])];
    return cohorts
      .flatMap((cohort) => [...cohort.waiters.values()].flat())
      .flatMap((waiters) =>
        [...waiters.members].map((member) => ({ end: (seen: number) => waiters.end(member, seen) })),
      );
  }

  /** Ends the waits for a kind. @param seen all changes of the kind up to here were delivered */
  wake(kindId: number, seen: number): void {
    for (const wait of this.waits(kindId)) wait.end(seen);
  }
}

/** By filter, because it is the same for each snapshot of a live list. */
const digests = new WeakMap<object, string>();

function digestOf({ filter }: CohortRows): string {
  const known = digests.get(filter) ?? digest(filter, 'meant');
  digests.set(filter, known);
  return known;
}
