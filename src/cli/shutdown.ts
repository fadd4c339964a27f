/** Stops the started parts of a gateway in reverse order. A part that fails to stop is logged, and the others are still stopped. */
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';

export class Shutdown {
  readonly #log: Logger;
  readonly #steps: (() => unknown)[] = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Registers the function that stops a part. Call it when the part is started. */
  add(stop: () => unknown): void {
    this.#steps.push(stop);
  }

  /** Stops all parts. Never rejects. */
  async run(): Promise<void> {
    for (const stop of this.#steps.toReversed()) {
      try {
        await stop();
      } catch (error) {
        this.#log.warn({ error: messageOf(error) }, 'part of the shutdown failed');
      }
    }
  }
}
