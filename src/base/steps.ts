/**
 * Long computations in steps, so that a thread can do its other work between the steps.
 *
 * A computation is a generator that yields wherever it may be interrupted. `runSteps` runs it to its end in one piece; `runSliced`
 * runs it in slices of some milliseconds and lets the event loop turn between them.
 *
 *   function* sum(numbers: readonly number[]): Steps<number> {
 *     let total = 0;
 *     for (const number of numbers) {
 *       total += number;
 *       yield;
 *     }
 *     return total;
 *   }
 */
import { setImmediate } from 'node:timers/promises';
import { type Clock, systemClock } from './clock.ts';

export type Steps<T> = Generator<undefined, T, undefined>;

export interface SliceOptions {
  readonly clock?: Pick<Clock, 'monotonic'>;
  /** A slice ends at the first yield after this many milliseconds; default 5. */
  readonly sliceMs?: number;
  /** Checked between slices. When it aborts, the remaining steps do not run. */
  readonly signal?: AbortSignal;
  /** Called between slices. Resolves after other work of the event loop; default setImmediate. */
  readonly turn?: () => Promise<unknown>;
}

/** Runs all steps without interruption and returns the result. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Runs all steps in slices and returns the result. Rejects with the error of a step, or with the signal's reason. */
export async function runSliced<T>(steps: Steps<T>, options: SliceOptions = {}): Promise<T> {
  const { clock = systemClock, sliceMs = 5, signal, turn = setImmediate } = options;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const until = clock.monotonic() + sliceMs;
      do {
        const step = steps.next();
        if (step.done === true) return step.value;
      } while (clock.monotonic() < until);
      await turn();
    }
  } finally {
    steps.return(undefined as T);
  }
}
