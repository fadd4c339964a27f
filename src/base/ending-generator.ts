/**
 * An async generator whose `return` takes effect at once, also while a `next` is waiting. One written with `function*` lets `return`
 * queue up behind the pending `next`, which for a stream of events may wait for ever.
 *
 * @param next gives the next step; it is called one at a time by those who iterate as the language does.
 * @param end ends what `next` waits for. It runs at `return` and `throw`, and may run more than once.
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
