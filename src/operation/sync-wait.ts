/**
 * Waits until kinds in their first sync can be read, so that a query right after a start is answered instead of refused.
 *
 *   an execution fails with CACHE_NOT_READY for `pods` -> its lease ends -> commits come -> `pods` is synced or refused
 *     -> the operation is executed again, in a new snapshot -> … -> at the latest after `waitForSyncMs` the failure is the answer
 *
 * It never holds a lease while it waits.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { readiness } from '../query/read/readiness.ts';
import type { OperationSource } from './operation-source.ts';

/** Minimum milliseconds between two looks at the store: commits are frequent during a sync. Maximum: a refusal is not signalled. */
const lookMs = { least: 50, most: 500 };

export class SyncWait {
  readonly #source: OperationSource;
  readonly #signal: AbortSignal;

  /** @param signal the end of the caller's interest. */
  constructor(source: OperationSource, signal: AbortSignal | undefined) {
    this.#source = source;
    const deadline = AbortSignal.timeout(source.limits.waitForSyncMs);
    this.#signal = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  }

  /** Resolves with true when each of these kinds is synced in a cluster, or refused; with false at the deadline. Never rejects. */
  async until(keys: readonly string[]): Promise<boolean> {
    const { feed, limits, reader } = this.#source;
    if (limits.waitForSyncMs === 0) return false;
    while (!this.#signal.aborted) {
      const seen = feed.wakes;
      await sleep(lookMs.least, undefined, { signal: this.#signal }).catch(() => {});
      const found = await reader.lease((lease) => readiness(lease, keys), { signal: this.#signal }).catch(() => []);
      const settled = (key: string): boolean =>
        found.some((state) => state.key === key && (state.synced || state.refusal !== null));
      if (keys.every(settled)) return !this.#signal.aborted;
      await feed.changed(seen, AbortSignal.any([this.#signal, AbortSignal.timeout(lookMs.most)]));
    }
    return false;
  }
}
