/**
 * An async generator whose `return` takes effect at once, even while a `next` is pending. The `return` of an `async function*`
 * queues behind the pending `next`, which may never settle in a stream of events.
 *
 * @param next yields the next step. `for await` calls it one at a time.
 * @param end settles a pending `next`. It runs at `return`, `throw` and disposal, and may run more than once.
 */
export function endingGenerator<T>(
  next: () => Promise<IteratorResult<T, void>>,
  end: () => Promise<unknown>,
): AsyncGenerator<T, void, undefined> {
  return {
    next,
    async return() {
      await end();
      return { done: true, value: undefined };
    },
    async throw(error) {
      await end();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      await end();
    },
  };
}
