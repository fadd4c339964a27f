/**
 * Kinds that were described without their schema, or left out. They are described again after a delay: 5 s at first, then twice as
 * long each time, up to an hour. A new unfinished kind resets the delay to 5 s for all of them.
 */
import type { Clock } from '../../base/clock.ts';
import { type Resource, resourceKey } from '../../catalog/resources/resource.ts';
import type { Descriptions } from './describe-resources.ts';

const firstRetryMs = 5000;
const lastRetryMs = 3_600_000;

export class UnfinishedKinds {
  readonly #clock: Clock;
  /** resourceKeys. */
  readonly #keys = new Set<string>();
  #retry = { at: 0, waitMs: firstRetryMs };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Removes all kinds. Call it for each new connection. */
  clear(): void {
    this.#keys.clear();
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  /** Removes the kinds that are no longer served. */
  retain(served: (key: string) => boolean): void {
    for (const key of this.#keys) if (!served(key)) this.#keys.delete(key);
  }

  /** True if the kinds must be described again now. */
  get due(): boolean {
    return this.#clock.monotonic() >= this.#retry.at;
  }

  /** Records the result of describing these resources, and schedules the next attempt. */
  note(found: Descriptions, requested: readonly Resource[]): void {
    const finished = new Set(found.described.map(({ resource }) => resourceKey(resource)));
    const now = this.#clock.monotonic();
    const due = now >= this.#retry.at;
    let fresh = false;
    for (const key of requested.map(resourceKey)) {
      if (finished.has(key) && !found.provisional.has(key)) this.#keys.delete(key);
      else if (!this.#keys.has(key)) {
        this.#keys.add(key);
        fresh = true;
      }
    }
    if (!fresh && !due) return;
    const waitMs = fresh ? firstRetryMs : Math.min(this.#retry.waitMs * 2, lastRetryMs);
    this.#retry = { at: now + waitMs, waitMs };
  }
}
