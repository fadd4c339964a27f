/**
 * Writes the objects of one mutation: step by step (write-order.ts), in each step several at a time.
 *
 *   STOP       after the first failure no further object is begun; the others are SKIPPED
 *   CONTINUE   each object for itself
 *   REVERT     as STOP, and then what was written is undone, the newest first (revert.ts)
 *
 * Every object has an outcome, also after an abort. A request that was sent has its result, or UNKNOWN.
 */

import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { must } from '../../base/must.ts';
import { writeError } from '../outcome/write-error.ts';
import { revertItem } from './revert.ts';
import { type RunContext, type RunItem, unwritten, type WriteItem, writeItem } from './write-item.ts';

export type OnError = 'STOP' | 'CONTINUE' | 'REVERT';

/** Requests of one mutation at a time. */
const parallel = 8;

/**
 * @param steps the indexes of the items, one list for each step (write-order.ts)
 * @returns the outcomes in the order of the items
 */
export async function runWrites(
  context: RunContext,
  items: readonly RunItem[],
  steps: readonly (readonly number[])[],
  onError: OnError,
): Promise<readonly WriteItem[]> {
  const outcomes = new Array<WriteItem | undefined>(items.length);
  const done: number[] = [];
  let failed = false;
  const ended = (index: number, outcome: WriteItem): void => {
    outcomes[index] = outcome;
    context.told(outcome);
  };
  for (const step of steps) {
    await inParallel(step, async (index) => {
      const item = must(items[index], 'an item of the run');
      const { intent } = item;
      if (context.signal?.aborted === true || (failed && onError !== 'CONTINUE')) {
        const why = failed ? 'An earlier item failed; `onError: CONTINUE` goes on.' : 'The mutation was cancelled.';
        return ended(index, unwritten(intent, writeError('SKIPPED', why)));
      }
      const outcome = await writeItem(context, item, onError === 'REVERT');
      ended(index, outcome);
      done.push(index);
      failed ||= outcome.errors.some(({ code }) => code !== 'SKIPPED');
    });
  }
  if (failed && onError === 'REVERT') {
    for (const index of done.toReversed()) {
      const written = must(outcomes[index], 'an outcome');
      const left = await revertItem(context, written);
      if (left !== written) ended(index, left);
    }
  }
  return outcomes.map((outcome) => must(outcome, 'an outcome of each item'));
}

/** Calls `work` for each index, at most `parallel` at a time. */
export async function inParallel(indexes: readonly number[], work: (index: number) => Promise<void>): Promise<void> {
  const places = new Semaphore(parallel);
  await Promise.all(
    indexes.map(async (index) => {
      const leave = await places.enter();
      try {
        await work(index);
      } finally {
        leave();
      }
    }),
  );
}
