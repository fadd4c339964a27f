/**
 * Commits batches of watch events.
 *
 *   events -> one or more transactions -> summary
 *
 * A transaction writes rows, changes, and the version and count of the collection. It removes old log entries.
 * A batch beyond the bounds becomes several transactions, each with the resourceVersion of its last event. An invalid event ends the
 * batch with INVALID. The events before it are committed, and the error has its index.
 */
import { PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { laterResourceVersion } from '../../catalog/resources/resource-version.ts';
import { readIncoming } from '../objects/incoming.ts';
import { newTally, type Tally } from '../rows/event-applier.ts';
import type { StoredResource } from '../rows/stored-resource.ts';
import { WriteBudget } from '../rows/write-budget.ts';
import type { WriteContext } from '../rows/write-context.ts';
import type { IncomingEvent } from '../types/incoming-object.ts';
import type { ResourceHandle } from '../types/progress.ts';
import type { ApplySummary } from '../types/writer.ts';

/** The progress of a batch after one transaction. */
interface Progress {
  /** The index of the first event of the next transaction. */
  readonly index: number;
  /** The resourceVersion that the rows have reached. */
  readonly reached: string;
  /** The error of the event at `index`, if it is invalid. */
  readonly refused: PortolanError | null;
}

export class EventBatches {
  readonly #context: WriteContext;

  constructor(context: WriteContext) {
    this.#context = context;
  }

  /** See Writer.apply. Throws CACHE_NOT_READY before the first replace, CONFLICT while another set is being committed. */
  apply(handle: ResourceHandle, events: readonly IncomingEvent[], resourceVersion: string): ApplySummary {
    const { committing, resources, session } = this.#context;
    const resource = resources.of(handle);
    if (resource.rowset === null || !resource.synced) {
      throw new PortolanError(
        'CACHE_NOT_READY',
        `${handle.key} of ${handle.cluster} takes events after its first replace.`,
      );
    }
    if (committing.has(handle.id)) {
      throw new PortolanError('CONFLICT', `${handle.key} of ${handle.cluster} is being replaced; wait for the commit.`);
    }
    const tally = newTally();
    let next = 0;
    do next = this.#commitSome(resource, events, next, resourceVersion, tally);
    while (next < events.length);
    return { ...tally, revision: session.counters.revision };
  }

  /** Commits one transaction of events from the index `next` on. Returns the index of the first event after it. */
  #commitSome(
    resource: StoredResource,
    events: readonly IncomingEvent[],
    next: number,
    resourceVersion: string,
    tally: Tally,
  ): number {
    const { resources, session } = this.#context;
    const done = { ...tally };
    const { index, reached, refused } = session.run(() => {
      resources.prepareRows(resource);
      const some = this.#applySome(resource, events, next, resourceVersion, done);
      removeOldEntries(this.#context, some.index - next);
      const reached = laterResourceVersion(resource.lastResourceVersion, some.reached);
      session.database
        .statement('UPDATE resource SET last_rv = ?, objects = ? WHERE id = ?')
        .run(
          reached,
          resource.objects + (done.added - tally.added) - (done.deleted - tally.deleted),
          resource.handle.id,
        );
      return { ...some, reached };
    });
    resource.objects += done.added - tally.added - (done.deleted - tally.deleted);
    resource.lastResourceVersion = reached;
    Object.assign(tally, done);
    if (refused === null) return index;
    throw new PortolanError('INVALID', refused.message, {
      cause: refused,
      details: { index, resourceVersion: reached },
    });
  }

  /** Applies events up to the bounds of a transaction, or up to an invalid event. Inside a transaction. */
  #applySome(
    resource: StoredResource,
    events: readonly IncomingEvent[],
    next: number,
    resourceVersion: string,
    tally: Tally,
  ): Progress {
    const { applier, bounds, clock, resources } = this.#context;
    const target = resources.target(resource, must(resource.rowset, 'the rowset of a synced resource'));
    const budget = new WriteBudget(clock, bounds);
    let reached = resource.lastResourceVersion ?? resourceVersion;
    let index = next;
    while (index < events.length) {
      const { type, object } = must(events[index], 'an event');
      try {
        const received = readIncoming(object, resource);
        applier.apply(target, type, received, tally);
        reached = laterResourceVersion(reached, received.resourceVersion);
      } catch (error) {
        if (!(error instanceof PortolanError && error.code === 'INVALID')) throw error;
        return { index, reached, refused: error };
      }
      index += 1;
      if (budget.spend(object.text.length)) break;
    }
    return { index, reached: index === events.length ? resourceVersion : reached, refused: null };
  }
}

/** Removes old log entries in the transaction of the events. Housekeeping alone would be too slow for a steady stream of events. */
export function removeOldEntries({ disk, log }: WriteContext, events: number): void {
  const tight = disk.wasTight;
  const removed = log.pay(events, tight);
  if (tight && removed > 0) disk.gaveUp('changes', removed);
}
