/**
 * The parts of a gateway that were started, and how each is stopped: in the reverse of that order. A part that cannot be stopped is
 * logged and keeps no other part running.
 */
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';

export class Shutdown {
  readonly #log: Logger;
  readonly #steps: (() => unknown)[] = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Registers how a part is stopped; to be called when it is started. */
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
