/** Stops the started parts of a gateway in reverse order. A part that fails to stop is logged, and the others are still stopped. */
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';

export class Shutdown {
  readonly #log: Logger;
  readonly #steps: (() => unknown)[] = [];
  #running: Promise<void> | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Registers the function that stops a part. Call it when the part is started. After `run`, the part is stopped at once. */
  add(stop: () => unknown): void {
    if (this.#running === null) this.#steps.push(stop);
    else void this.#stop(stop);
  }

  /** Stops all parts. Never rejects. Idempotent. */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    for (const stop of this.#steps.toReversed()) await this.#stop(stop);
  }

  async #stop(stop: () => unknown): Promise<void> {
    try {
      await stop();
    } catch (error) {
      this.#log.warn({ error: messageOf(error) }, 'part of the shutdown failed');
    }
  }
}
