/** The right of an operation to have leases of several cells, until `leave` (OperationSource.holders). */

import type { Leave, Semaphore } from '../../base/concurrency/semaphore.ts';
import { must } from '../../base/must.ts';

export class HoldingRight {
  readonly #holders: Semaphore | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #client: string;
  #entering: Promise<Leave> | null = null;

  constructor(holders: Semaphore | undefined, signal: AbortSignal | undefined, client: string) {
    this.#holders = holders;
    this.#signal = signal;
    this.#client = client;
  }

  /** Resolves when the operation has the right. Clients take turns. @throws the reason of the signal */
  async enter(): Promise<void> {
    this.#entering ??= must(this.#holders, 'the holders of several cells').enter(this.#signal, this.#client);
    await this.#entering;
  }

  /** Idempotent. */
  leave(): void {
    this.#entering?.then(
      (leave) => leave(),
      () => {},
    );
    this.#entering = null;
  }
}
