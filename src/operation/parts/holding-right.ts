/**
 * The right of an operation to have leases of several cells (OperationSource.holders).
 *
 *   enter -> leave, or the time of a lease is over
 *
 * A mutation that waits goes on without leases. So it keeps no right.
 */

import type { Leave, Semaphore } from '../../base/concurrency/semaphore.ts';
import { must } from '../../base/must.ts';

/** The operations that have leases of several cells. */
export interface LeaseHolders {
  readonly turns: Semaphore;
  /** Milliseconds that a lease may last. */
  readonly leaseMs: number;
}

export class HoldingRight {
  readonly #holders: LeaseHolders | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #client: string;
  #entering: Promise<Leave> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(holders: LeaseHolders | undefined, signal: AbortSignal | undefined, client: string) {
    this.#holders = holders;
    this.#signal = signal;
    this.#client = client;
  }

  /** Resolves when the operation has the right. Clients take turns. @throws the reason of the signal */
  async enter(): Promise<void> {
    if (this.#entering !== null) return void (await this.#entering);
    const { turns, leaseMs } = must(this.#holders, 'the holders of several cells');
    const entering = turns.enter(this.#signal, this.#client);
    this.#entering = entering;
    await entering;
    if (this.#entering === entering) this.#timer = setTimeout(() => this.leave(), leaseMs).unref();
  }

  /** Idempotent. */
  leave(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#entering?.then(
      (leave) => leave(),
      () => {},
    );
    this.#entering = null;
  }
}
