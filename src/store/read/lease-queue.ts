/**
 * A queue of operations that wait for a thread. Each waits until a lease may begin (`grantable`), its signal aborts, or its time is
 * over (TIMEOUT). Clients take turns.
 */

import { Turns } from '../../base/concurrency/turns.ts';
import { PortolanError } from '../../base/errors.ts';
import type { ReaderThread } from './reader-thread.ts';

interface LeaseQueueOptions {
  /** Longest wait of an operation in milliseconds. */
  readonly waitMs: number;
  /** Takes a free thread when a lease may begin. */
  readonly grantable: () => ReaderThread | null;
  /** True while a thread is free. If leases cannot begin then, the WAL gate is closed. */
  readonly isThreadFree: () => boolean;
}

interface Waiting {
  grant(thread: ReaderThread): void;
  refuse(error: unknown): void;
}

const gatePollMs = 4;

export class LeaseQueue {
  readonly #options: LeaseQueueOptions;
  readonly #waiting = new Turns<Waiting>();
  #gatePoll: NodeJS.Timeout | null = null;

  constructor(options: LeaseQueueOptions) {
    this.#options = options;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Resolves with a thread for a lease that begins now. */
  wait(signal: AbortSignal | undefined, client = ''): Promise<ReaderThread> {
    return new Promise((resolve, reject) => {
      const over = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#waiting.remove(client, waiting);
      };
      const waiting: Waiting = {
        grant: (thread) => {
          over();
          resolve(thread);
        },
        refuse: (error) => {
          over();
          reject(error);
        },
      };
      const onAbort = (): void => waiting.refuse(signal?.reason);
      const timer = setTimeout(
        () => waiting.refuse(new PortolanError('TIMEOUT', 'All readers of the store are busy; try again in a moment.')),
        this.#options.waitMs,
      );
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(client, waiting);
      this.grant();
    });
  }

  /** Grants threads to waiting operations. Call when a thread becomes free. */
  grant(): void {
    for (;;) {
      const next = this.#waiting.next();
      if (next === null) {
        this.#stopGatePoll();
        return;
      }
      const thread = this.#options.grantable();
      if (thread === null) break;
      next.grant(thread);
    }
    // No event signals that the log has been written back, so the gate is polled.
    if (this.#options.isThreadFree()) this.#gatePoll ??= setInterval(() => this.grant(), gatePollMs);
  }

  /** Rejects all waiting operations. */
  close(reason: unknown): void {
    for (const waiting of this.#waiting.all()) waiting.refuse(reason);
    this.#stopGatePoll();
  }

  #stopGatePoll(): void {
    if (this.#gatePoll !== null) clearInterval(this.#gatePoll);
    this.#gatePoll = null;
  }
}
