/**
 * A queue of operations that wait for a thread. Each waits until a lease may begin (`grantable`), its signal aborts, or its time is
 * over (TIMEOUT).
 *
 * Clients take turns: the one that was served longest ago comes first, so a client with many operations does not delay the others.
 *
 *   waiting a1 a2 a3 b1   ->   a1, b1, a2, a3
 */
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
  readonly client: string;
  grant(thread: ReaderThread): void;
  refuse(error: unknown): void;
}

const gatePollMs = 4;

export class LeaseQueue {
  readonly #options: LeaseQueueOptions;
  readonly #waiting: Waiting[] = [];
  /** The number of the grant that each client got last. */
  readonly #served = new Map<string, number>();
  #grants = 0;
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
        const at = this.#waiting.indexOf(waiting);
        if (at >= 0) this.#waiting.splice(at, 1);
      };
      const waiting: Waiting = {
        client,
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
      this.#waiting.push(waiting);
      this.grant();
    });
  }

  /** Grants threads to waiting operations. Call when a thread becomes free. */
  grant(): void {
    for (;;) {
      const next = this.#next();
      if (next === null) {
        // Nobody waits, so nobody is late.
        this.#served.clear();
        this.#stopGatePoll();
        return;
      }
      const thread = this.#options.grantable();
      if (thread === null) break;
      this.#grants += 1;
      this.#served.set(next.client, this.#grants);
      next.grant(thread);
    }
    // No event signals that the log has been written back, so the gate is polled.
    if (this.#options.isThreadFree()) this.#gatePoll ??= setInterval(() => this.grant(), gatePollMs);
  }

  /** The first operation of the client that was served longest ago. */
  #next(): Waiting | null {
    let best: Waiting | null = null;
    let servedAt = Number.POSITIVE_INFINITY;
    for (const waiting of this.#waiting) {
      const at = this.#served.get(waiting.client) ?? 0;
      if (at < servedAt) [best, servedAt] = [waiting, at];
    }
    return best;
  }

  /** Rejects all waiting operations. */
  close(reason: unknown): void {
    for (const waiting of this.#waiting.splice(0)) waiting.refuse(reason);
    this.#stopGatePoll();
  }

  #stopGatePoll(): void {
    if (this.#gatePoll !== null) clearInterval(this.#gatePoll);
    this.#gatePoll = null;
  }
}
