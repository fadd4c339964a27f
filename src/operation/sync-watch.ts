/**
 * Watches kinds in their first sync for queries that wait for them, so that a query right after a start is answered instead of refused.
 *
 *   an execution fails with CACHE_NOT_READY for `pods` -> its lease ends -> `until`: commits come -> `pods` is synced or refused
 *     -> the operation is executed again, in a new snapshot -> … -> at the latest after `waitForSyncMs` the failure is the answer
 *
 * All waiting queries share one look at the store, and none holds a lease while it waits.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Commits } from '../live/signals/commit-signals.ts';
import { type Awaited, NotReadyError } from '../query/plan/not-ready.ts';
import { type Readiness, settledState } from '../query/read/readiness.ts';

/** Minimum milliseconds between two looks: commits are frequent during a sync. Maximum: a refusal is not signalled. */
const lookMs = { least: 50, most: 500 };

interface Waiter {
  readonly awaited: readonly Awaited[];
  readonly resolve: (found: readonly Readiness[]) => void;
}

export class SyncWatch {
  readonly #read: (keys: readonly string[]) => Promise<readonly Readiness[]>;
  readonly #commits: Commits;
  readonly #waiters = new Set<Waiter>();
  #looking = false;

  /** @param read the readiness of these kinds, in all cells */
  constructor(read: (keys: readonly string[]) => Promise<readonly Readiness[]>, commits: Commits) {
    this.#read = read;
    this.#commits = commits;
  }

  /**
   * Resolves when all of this is settled, or at the signal. The value tells whether another execution may succeed: something of it has
   * settled since the call. Never rejects.
   */
  async until(awaited: readonly Awaited[], signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    let found: readonly Readiness[] = [];
    const done = Promise.withResolvers<void>();
    const end = (): void => done.resolve();
    const waiter: Waiter = {
      awaited,
      resolve: (now) => {
        found = now;
        if (awaited.every((each) => isSettled(now, each))) done.resolve();
      },
    };
    signal.addEventListener('abort', end, { once: true });
    this.#waiters.add(waiter);
    if (!this.#looking) void this.#look();
    await done.promise;
    this.#waiters.delete(waiter);
    signal.removeEventListener('abort', end);
    return awaited.some((each) => hasSettled(found, each));
  }

  async #look(): Promise<void> {
    this.#looking = true;
    while (this.#waiters.size > 0 && !this.#commits.closed) {
      const seen = this.#commits.wakes;
      await sleep(lookMs.least);
      const waiting = [...this.#waiters];
      const keys = new Set(waiting.flatMap(({ awaited }) => awaited.flatMap((each) => each.keys)));
      const found = await this.#read([...keys]).catch(() => null);
      if (found !== null) for (const { resolve } of waiting) resolve(found);
      await this.#commits.changed(seen, AbortSignal.timeout(lookMs.most));
    }
    this.#looking = false;
  }
}

/** The kinds for which an execution that threw this must wait; null for other errors. */
export function awaitedBy(error: unknown): Awaited | null {
  return error instanceof NotReadyError ? error.awaited : null;
}

/** Does another execution not fail because of this? */
function isSettled(found: readonly Readiness[], { keys, clusters, any, related }: Awaited): boolean {
  const states = keys.map((key) => settledState(found, key, clusters, related));
  return any && states.includes('synced') ? true : states.every((state) => state !== 'coming');
}

/** Has some of it settled? */
function hasSettled(found: readonly Readiness[], { keys, clusters, related }: Awaited): boolean {
  return keys.some((key) => settledState(found, key, clusters, related) !== 'coming');
}
