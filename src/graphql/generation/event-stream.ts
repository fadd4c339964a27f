/** The messages of a live list as the event stream of a subscription, which ends at once. */
import { endingGenerator } from '../../base/ending-generator.ts';

/** The reason of every end. Without one, each abort makes an error with a stack. */
const over = new Error('the live list is over');

/**
 * @param signal that of the operation
 * @param begin begins the live list; the signal ends it
 * @param eventOf the event of a message
 */
export function eventStream<M, E>(
  signal: AbortSignal | undefined,
  begin: (signal: AbortSignal) => AsyncGenerator<M, void, undefined>,
  eventOf: (message: M) => E,
): AsyncGenerator<E, void, undefined> {
  const stop = new AbortController();
  const abort = (): void => stop.abort(over);
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort, { once: true });
  const inner = begin(stop.signal);
  const finish = (): void => {
    signal?.removeEventListener('abort', abort);
    stop.abort(over);
  };
  const end = async (): Promise<void> => {
    finish();
    await inner.return();
  };
  return endingGenerator<E>(async () => {
    try {
      const step = await inner.next();
      if (step.done !== true) return { done: false, value: eventOf(step.value) };
      await end();
      return { done: true, value: undefined };
    } catch (error) {
      finish();
      throw error;
    }
  }, end);
}
