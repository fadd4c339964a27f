/** Questions that are sent as messages, and wait for the answers with their numbers. */
export class PendingAnswers<T> {
  readonly #waiting = new Map<number, (answer: T) => void>();
  #numbers = 0;

  /**
   * Sends a question under a new number. Resolves with its answer, or as `instead` does if that comes first; a later answer is dropped.
   * @param send may give the answer itself
   */
  async ask(send: (number: number) => void, instead?: Promise<T>): Promise<T> {
    this.#numbers += 1;
    const number = this.#numbers;
    const { promise, resolve } = Promise.withResolvers<T>();
    this.#waiting.set(number, resolve);
    try {
      send(number);
      return await (instead === undefined ? promise : Promise.race([promise, instead]));
    } finally {
      this.#waiting.delete(number);
    }
  }

  /** Takes the answer to the question with this number, if it waits. */
  answered(number: number, answer: T): void {
    this.#waiting.get(number)?.(answer);
  }
}
