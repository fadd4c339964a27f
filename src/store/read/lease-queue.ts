/**
 * A queue of operations that wait for a thread. Each waits until a lease may begin (`grantable`), its signal aborts, or its time is
 * over (TIMEOUT).
 *
 * Clients take turns, so a client with many operations does not delay the others.
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
  /** The operations of each waiting client, in their order. The client whose turn it is comes first. */
  readonly #clients = new Map<string, Set<Waiting>>();
  #length = 0;
  #gatePoll: NodeJS.Timeout | null = null;

  constructor(options: LeaseQueueOptions) {
    this.#options = options;
  }

  get length(): number {
    return this.#length;
  }

  /** Resolves with a thread for a lease that begins now. */
  wait(signal: AbortSignal | undefined, client = ''): Promise<ReaderThread> {
    return new Promise((resolve, reject) => {
      const over = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#remove(waiting);
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
      this.#clients.set(client, (this.#clients.get(client) ?? new Set()).add(waiting));
      this.#length += 1;
      this.grant();
    });
  }

  /** Grants threads to waiting operations. Call when a thread becomes free. */
  grant(): void {
    for (;;) {
      const next = this.#next();
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

  /** The operation whose turn it is. */
  #next(): Waiting | null {
    for (const waiting of this.#clients.values()) for (const first of waiting) return first;
    return null;
  }

  /** The client's other operations wait behind those of the other clients. */
  #remove(waiting: Waiting): void {
    const of = this.#clients.get(waiting.client);
    if (of?.delete(waiting) !== true) return;
    this.#length -= 1;
    this.#clients.delete(waiting.client);
    if (of.size > 0) this.#clients.set(waiting.client, of);
  }

  /** Rejects all waiting operations. */
  close(reason: unknown): void {
    for (const waiting of [...this.#clients.values()].flatMap((of) => [...of])) waiting.refuse(reason);
    this.#stopGatePoll();
  }

  #stopGatePoll(): void {
    if (this.#gatePoll !== null) clearInterval(this.#gatePoll);
    this.#gatePoll = null;
  }
}
