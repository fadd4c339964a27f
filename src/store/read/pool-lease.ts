/**
 * One lease of the pool: one thread, one snapshot, for one operation.
 *
 *   begin (the thread opens a snapshot) -> calls, sequential or concurrent -> end -> all calls are answered -> the thread is free
 *   pages (all these steps in one message)
 *
 * The caller, the timeout, the abort signal or the pool (`fail`) ends a lease. From then on every call rejects with the reason.
 */
import { PortolanError } from '../../base/errors.ts';
import type { Lease } from '../types/lease.ts';
import type { PageRequest, PagesRead } from '../types/page-reader.ts';
import type { Row, Statement } from '../types/statement.ts';
import { type Snapshot, timeIsUp } from './reader-messages.ts';
import type { ReaderThread } from './reader-thread.ts';

/** A shared instance: every lease ends with it, and creating an error would take longer than all other steps of the end. */
const leaseIsOver = new PortolanError('INTERNAL_SERVER_ERROR', 'This lease is over; take another one.');

export class PoolLease implements Lease {
  readonly thread: ReaderThread;
  /** The time when it began, by the monotonic clock. */
  readonly since: number;
  /** Rejects with the reason when the lease is over. */
  readonly failed: Promise<never>;
  readonly #number: number;
  readonly #timeoutMs: number;
  readonly #onEnded: (lease: PoolLease) => void;
  readonly #failure = Promise.withResolvers<never>();
  #snapshot: Snapshot = { revision: 0, epoch: '', layoutVersion: 0 };
  #timer: NodeJS.Timeout | null = null;
  #signal: AbortSignal | undefined;
  /** The reason why the lease is over; null while it is running. */
  #over: { readonly reason: unknown } | null = null;
  #calls = 0;
  /** True after a call of `begin`: the thread holds a snapshot until the lease ends. */
  #begun = false;

  constructor(thread: ReaderThread, since: number, timeoutMs: number, onEnded: (lease: PoolLease) => void) {
    this.thread = thread;
    this.since = since;
    this.#number = thread.nextLease();
    this.#timeoutMs = timeoutMs;
    this.#onEnded = onEnded;
    this.failed = this.#failure.promise;
    // Avoids an unhandled rejection: a caller of `open` gets the reason from its next call.
    this.failed.catch(() => {});
  }

  get revision(): number {
    return this.#snapshot.revision;
  }

  get epoch(): string {
    return this.#snapshot.epoch;
  }

  get layoutVersion(): number {
    return this.#snapshot.layoutVersion;
  }

  async begin(signal: AbortSignal | undefined): Promise<void> {
    this.#begun = true;
    this.#listen(signal);
    try {
      const reply = await this.#call(() =>
        this.thread.call({ op: 'begin', lease: this.#number, timeoutMs: this.#timeoutMs }),
      );
      if (reply.kind === 'begun') this.#snapshot = reply.snapshot;
      this.#startTimer();
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /** Begins, reads and ends in one message. */
  async pages(
    statements: readonly Statement[],
    pages: readonly PageRequest[],
    signal: AbortSignal | undefined,
  ): Promise<PagesRead> {
    this.#listen(signal);
    this.#startTimer();
    const reply = await this.#call(() =>
      this.thread.call({ op: 'pages', lease: this.#number, timeoutMs: this.#timeoutMs, statements, pages }),
    );
    if (reply.kind !== 'pages') throw new Error('invariant broken: the reply to a call for pages has no pages');
    return reply.read;
  }

  #listen(signal: AbortSignal | undefined): void {
    this.#signal = signal;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  #startTimer(): void {
    this.#timer = setTimeout(() => this.fail(timeIsUp()), this.#timeoutMs);
    this.#timer.unref();
  }

  async all(statement: Statement): Promise<readonly Row[]> {
    const reply = await this.#call(() => this.thread.call({ op: 'all', lease: this.#number, statement }));
    return reply.kind === 'rows' ? reply.rows : [];
  }

  async fill(statements: readonly Statement[], limit: number): Promise<readonly Row[]> {
    const reply = await this.#call(() => this.thread.call({ op: 'fill', lease: this.#number, statements, limit }));
    return reply.kind === 'rows' ? reply.rows : [];
  }

  end(): void {
    this.fail(leaseIsOver);
  }

  fail(reason: unknown): void {
    if (this.#over !== null) return;
    this.#over = { reason };
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    if (this.#calls > 0) this.thread.cancel(this.#number);
    if (this.#begun) this.thread.endLease(this.#number);
    this.#failure.reject(reason);
    this.#releaseIfIdle();
  }

  readonly #onAbort = (): void => this.fail(this.#signal?.reason);

  async #call<T>(work: () => Promise<T>): Promise<T> {
    if (this.#over !== null) throw this.#over.reason;
    this.#calls += 1;
    const answered = work().finally(() => {
      this.#calls -= 1;
      this.#releaseIfIdle();
    });
    return await Promise.race([answered, this.failed]);
  }

  /** The thread is free once it has answered all calls. */
  #releaseIfIdle(): void {
    if (this.#over !== null && this.#calls === 0) this.#onEnded(this);
  }
}
