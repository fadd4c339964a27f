/**
 * The store's reader: a pool of threads with a read-only connection each, lent out lease by lease.
 *
 *   open -> wait for the WAL gate and a free thread -> begin (the snapshot) -> statements -> end -> the thread is free
 *
 * Invariants: a lease has one thread and one snapshot; a thread has at most one lease. A lease ends by its caller, its time, its
 * signal, the gate's last resort or the death of its thread, and after that every call rejects with why. A thread is free again
 * only when it has answered all calls. Never: a statement on the event loop, but for pages that are known to be short (pages-now.ts).
 */
import { type Clock, systemClock } from '../../base/clock.ts';
import { PortolanError } from '../../base/errors.ts';
import { type Logger, silentLogger } from '../../base/log.ts';
import { WalGate } from '../file/wal-gate.ts';
import type { Lease, LeaseOptions, Reader } from '../types/lease.ts';
import type { PageReader, PageRequest, PagesRead } from '../types/page-reader.ts';
import type { Row, Statement } from '../types/statement.ts';
import { PagesNow } from './pages-now.ts';
import type { FileDamage, Snapshot } from './reader-messages.ts';
import { ReaderThread, type ReaderThreadOptions } from './reader-thread.ts';

export interface ReaderOptions {
  /** Threads. */
  readonly readers: number;
  /** Milliseconds that a lease lasts when the caller does not say; default 1,000. */
  readonly leaseMs?: number;
  /** Milliseconds to wait for a free thread; default 10,000. */
  readonly waitMs?: number;
  /** Size of the WAL above which new leases wait; default 32 MiB. */
  readonly walGateBytes?: number;
  /** Size of the WAL above which running leases are cut; default 48 MiB. */
  readonly walLimitBytes?: number;
  /** Prepared statements kept by each thread; default 500. */
  readonly cachedStatements?: number;
  /** SQLite's page cache of each thread, and of the connection for short pages; default 16 MiB. */
  readonly cacheKib?: number;
  /** Rows that one statement may give; default 100,000. */
  readonly maxRows?: number;
  /** JavaScript heap of each thread; default 256. */
  readonly heapMb?: number;
  /** Milliseconds that pages read at once may take the calling thread; default 10. */
  readonly pagesNowMs?: number;
  readonly clock?: Clock;
  readonly log?: Logger;
  /** Hears that a statement found the file damaged; only the writer can mend that. */
  readonly onDamage?: (damage: FileDamage) => void;
}

export interface ReaderStats {
  readonly readers: number;
  readonly active: number;
  readonly waiting: number;
  readonly walBytes: number;
  /** Leases cut because the WAL was over its limit. */
  readonly cutForWal: number;
  /** Threads that died and were replaced. */
  readonly restarts: number;
}

export interface PooledReader extends Reader {
  stats(): ReaderStats;
}

export type OpenLease = Lease & { end(): void };

/** Opens a pool on a store file, which need not be there yet: until it is, leases fail with CACHE_NOT_READY. */
export function openReader(file: string, options: ReaderOptions): PooledReader & PageReader {
  return new ReaderPool(file, options);
}

interface Waiting {
  grant(thread: ReaderThread): void;
  refuse(error: unknown): void;
}

const gatePollMs = 4;
const walWatchMs = 20;
/** A lease younger than this is not cut for the log's sake. */
const spareMs = 50;
const closeGraceMs = 1000;

class ReaderPool implements PooledReader, PageReader {
  readonly #options: ReaderOptions;
  readonly #threadOptions: ReaderThreadOptions;
  readonly #leaseMs: number;
  readonly #walLimit: number;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #gate: WalGate;
  readonly #now: PagesNow;
  readonly #threads = new Set<ReaderThread>();
  readonly #free: ReaderThread[] = [];
  readonly #leases = new Set<PoolLease>();
  readonly #waiting: Waiting[] = [];
  #gatePoll: NodeJS.Timeout | null = null;
  #walWatch: NodeJS.Timeout | null = null;
  #cutForWal = 0;
  #restarts = 0;
  #closed = false;

  constructor(file: string, options: ReaderOptions) {
    this.#options = options;
    this.#leaseMs = options.leaseMs ?? 1000;
    this.#walLimit = options.walLimitBytes ?? 48 * 1024 * 1024;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? silentLogger;
    const connection = {
      file,
      cachedStatements: options.cachedStatements ?? 500,
      cacheKib: options.cacheKib ?? 16 * 1024,
      maxRows: options.maxRows ?? 100_000,
    };
    this.#now = new PagesNow({ ...connection, mostMs: options.pagesNowMs ?? 10, clock: this.#clock });
    this.#gate = new WalGate(() => this.#now.logBytes(), {
      clock: this.#clock,
      gateBytes: options.walGateBytes ?? 32 * 1024 * 1024,
      patienceMs: 500,
    });
    this.#threadOptions = {
      ...connection,
      heapMb: options.heapMb ?? 256,
      onDamage: options.onDamage ?? (() => {}),
    };
    for (let index = 0; index < options.readers; index += 1) this.#start();
  }

  stats(): ReaderStats {
    return {
      readers: this.#threads.size,
      active: this.#leases.size,
      waiting: this.#waiting.length,
      walBytes: this.#gate.size(),
      cutForWal: this.#cutForWal,
      restarts: this.#restarts,
    };
  }

  async lease<T>(work: (lease: Lease) => Promise<T>, options: LeaseOptions = {}): Promise<T> {
    const lease = await this.#take(options);
    try {
      return await Promise.race([work(lease), lease.failed]);
    } finally {
      lease.end();
    }
  }

  open(options: LeaseOptions = {}): Promise<OpenLease> {
    return this.#take(options);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const lease of [...this.#leases]) lease.fail(closing());
    for (const waiting of this.#waiting.splice(0)) waiting.refuse(closing());
    this.#stopGatePoll();
    this.#now.close();
    await Promise.all([...this.#threads].map((thread) => thread.close(closeGraceMs)));
  }

  async pages(
    statements: readonly Statement[],
    pages: readonly PageRequest[],
    options: LeaseOptions = {},
  ): Promise<PagesRead> {
    const lease = await this.#reserve(options);
    try {
      return await lease.pages(statements, pages, options.signal);
    } finally {
      lease.end();
    }
  }

  pagesNow(statements: readonly Statement[], pages: readonly PageRequest[]): PagesRead | 'spent' | null {
    if (this.#closed || !this.#gate.isOpen(this.#leases.size)) return null;
    return this.#now.read(statements, pages);
  }

  async #take(options: LeaseOptions): Promise<PoolLease> {
    const lease = await this.#reserve(options);
    await lease.begin(options.signal);
    return lease;
  }

  /** A lease that has not begun. */
  async #reserve(options: LeaseOptions): Promise<PoolLease> {
    const { signal } = options;
    signal?.throwIfAborted();
    if (this.#closed) throw closing();
    const thread = (this.#waiting.length === 0 ? this.#grantable() : null) ?? (await this.#wait(signal));
    const since = this.#clock.monotonic();
    const lease = new PoolLease(thread, since, options.timeoutMs ?? this.#leaseMs, (ended) => this.#ended(ended));
    this.#leases.add(lease);
    this.#watchWal();
    return lease;
  }

  /** Takes a free thread when a lease may begin. */
  #grantable(): ReaderThread | null {
    if (this.#free.length === 0 || !this.#gate.isOpen(this.#leases.size)) return null;
    return this.#free.pop() ?? null;
  }

  #wait(signal: AbortSignal | undefined): Promise<ReaderThread> {
    return new Promise((resolve, reject) => {
      const over = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        const at = this.#waiting.indexOf(waiting);
        if (at >= 0) this.#waiting.splice(at, 1);
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
        this.#options.waitMs ?? 10_000,
      );
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(waiting);
      this.#grantNext();
    });
  }

  #grantNext(): void {
    for (;;) {
      const [first] = this.#waiting;
      if (first === undefined) {
        this.#stopGatePoll();
        return;
      }
      const thread = this.#grantable();
      if (thread === null) break;
      first.grant(thread);
    }
    // When only the gate is in the way, nothing tells that the log has been written back.
    if (this.#free.length > 0) this.#gatePoll ??= setInterval(() => this.#grantNext(), gatePollMs);
  }

  #stopGatePoll(): void {
    if (this.#gatePoll !== null) clearInterval(this.#gatePoll);
    this.#gatePoll = null;
  }

  #ended(lease: PoolLease): void {
    this.#leases.delete(lease);
    if (this.#threads.has(lease.thread) && !this.#closed) this.#free.push(lease.thread);
    this.#grantNext();
  }

  /**
   * The last resort: while the log is over its limit and still grows, no snapshot may stand in the way of writing it back. A log
   * that does not grow (ingest is down) harms nobody, and leases that have only begun are not what kept it.
   */
  #watchWal(): void {
    if (this.#walWatch !== null) return;
    let seen = this.#gate.size();
    this.#walWatch = setInterval(() => {
      if (this.#leases.size === 0) {
        if (this.#walWatch !== null) clearInterval(this.#walWatch);
        this.#walWatch = null;
        return;
      }
      const size = this.#gate.size();
      const grown = size > seen;
      seen = size;
      if (!grown || size <= this.#walLimit) return;
      const old = [...this.#leases].filter((lease) => this.#clock.monotonic() - lease.since >= spareMs);
      if (old.length === 0) return;
      this.#cutForWal += old.length;
      this.#log.warn({ leases: old.length, walBytes: size }, 'reads are cut, the write-ahead log is too long');
      for (const lease of old) {
        lease.fail(
          new PortolanError('TIMEOUT', 'The read was cut because the store is under heavy writes; send it again.'),
        );
      }
    }, walWatchMs);
    this.#walWatch.unref();
  }

  #start(): void {
    const thread = new ReaderThread(this.#threadOptions);
    this.#threads.add(thread);
    this.#free.push(thread);
    const startedAt = this.#clock.monotonic();
    void thread.ended.then((error) => {
      this.#threads.delete(thread);
      const at = this.#free.indexOf(thread);
      if (at >= 0) this.#free.splice(at, 1);
      for (const lease of [...this.#leases]) if (lease.thread === thread) lease.fail(error);
      if (this.#closed) return;
      this.#restarts += 1;
      this.#log.error({ error: error.message }, 'a reader thread died and is replaced');
      // One that dies at once would only die again: leave it a second.
      const delay = this.#clock.monotonic() - startedAt < 1000 ? 1000 : 0;
      setTimeout(() => {
        if (this.#closed) return;
        this.#start();
        this.#grantNext();
      }, delay).unref();
    });
  }
}

function closing(): PortolanError {
  return new PortolanError('CACHE_NOT_READY', 'The store is closing; try again in a moment.');
}

/** One for all: every lease ends with it, and making an error costs more than the rest of the ending. */
const leaseIsOver = new PortolanError('INTERNAL_SERVER_ERROR', 'This lease is over; take another one.');

class PoolLease implements OpenLease {
  readonly thread: ReaderThread;
  /** When it began, on the monotonic clock. */
  readonly since: number;
  /** Rejects when the lease ends in any other way than by `end`. */
  readonly failed: Promise<never>;
  readonly #number: number;
  readonly #timeoutMs: number;
  readonly #onEnded: (lease: PoolLease) => void;
  readonly #failure = Promise.withResolvers<never>();
  #snapshot: Snapshot = { revision: 0, epoch: '', layoutVersion: 0 };
  #timer: NodeJS.Timeout | null = null;
  #signal: AbortSignal | undefined;
  /** Why the lease is over; null while it is not. */
  #over: { readonly reason: unknown } | null = null;
  #calls = 0;
  /** The thread holds a snapshot until it is told to end. */
  #begun = false;

  constructor(thread: ReaderThread, since: number, timeoutMs: number, onEnded: (lease: PoolLease) => void) {
    this.thread = thread;
    this.since = since;
    this.#number = thread.nextLease();
    this.#timeoutMs = timeoutMs;
    this.#onEnded = onEnded;
    this.failed = this.#failure.promise;
    // Whoever uses `open` learns of the end from the next call.
    this.failed.catch(() => {});
  }

  get revision(): number {
    return this.#snapshot.revision;
  }

  get epoch(): string {
    return this.#snapshot.epoch;
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

  /** The whole life of a lease in one call. */
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
    if (reply.kind !== 'pages') throw new Error('invariant broken: a call for pages is answered with pages');
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
    this.#settleIfQuiet();
  }

  readonly #onAbort = (): void => this.fail(this.#signal?.reason);

  async #call<T>(work: () => Promise<T>): Promise<T> {
    if (this.#over !== null) throw this.#over.reason;
    this.#calls += 1;
    const answered = work().finally(() => {
      this.#calls -= 1;
      this.#settleIfQuiet();
    });
    return await Promise.race([answered, this.failed]);
  }

  /** The thread is free once it has answered everything. */
  #settleIfQuiet(): void {
    if (this.#over !== null && this.#calls === 0) this.#onEnded(this);
  }
}

function timeIsUp(): PortolanError {
  return new PortolanError('TIMEOUT', 'The read took longer than it may; narrow the filter or ask for less.');
}
