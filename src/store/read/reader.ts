/**
 * The store's reader: a pool of threads with a read-only connection each. An operation takes a lease on one thread.
 *
 *   open -> wait for the WAL gate and a free thread -> begin (the snapshot) -> statements -> end -> the thread is free
 *   (lease-queue.ts, reader-threads.ts)                (pool-lease.ts)
 *
 * Invariants: a lease has one thread and one snapshot; a thread has at most one lease. A lease ends by the caller, a timeout or an abort
 * signal. An oversized log (wal-watch.ts) or the end of its thread ends it too. A thread is free again only when it has answered all calls.
 * Never runs a statement on the event loop, except for short pages (pages-now.ts).
 */
import { type Clock, systemClock } from '../../base/clock.ts';
import { PortolanError } from '../../base/errors.ts';
import { type Logger, silentLogger } from '../../base/log.ts';
import { LoopQueue } from '../../base/loop-queue.ts';
import type { SealMemory } from '../file/file-seal.ts';
import { WalGate } from '../file/wal-gate.ts';
import type { Lease, LeaseOptions, Reader } from '../types/lease.ts';
import type { PageReader, PageRequest, PagesRead } from '../types/page-reader.ts';
import type { Statement } from '../types/statement.ts';
import type { FileDamage } from '../types/store-fault.ts';
import { LeaseQueue } from './lease-queue.ts';
import { PagesNow } from './pages-now.ts';
import { PoolLease } from './pool-lease.ts';
import type { ReaderThread } from './reader-thread.ts';
import { ReaderThreads } from './reader-threads.ts';
import { WalWatch } from './wal-watch.ts';

export interface ReaderOptions {
  /** The number of threads. */
  readonly readers: number;
  /** Milliseconds that a lease may last unless its options say otherwise; default 1,000. */
  readonly leaseMs?: number;
  /** Milliseconds to wait for a free thread; default 10,000. */
  readonly waitMs?: number;
  /** Size of the WAL above which new leases wait; default 32 MiB. */
  readonly walGateBytes?: number;
  /** Size of the WAL above which running leases are cut; default 48 MiB. */
  readonly walLimitBytes?: number;
  /** SQLite's page cache of each thread, and of the connection for short pages; default 16 MiB. */
  readonly cacheKib?: number;
  /** Most rows that one statement may return; default 100,000. */
  readonly maxRows?: number;
  /** Megabytes of JavaScript heap of each thread; default 256. */
  readonly heapMb?: number;
  /** Longest time of `pagesNow` in milliseconds; default 10. */
  readonly pagesNowMs?: number;
  readonly clock?: Clock;
  readonly log?: Logger;
  /** Shared with the writer of the file, so that nothing is returned that another program has written into it. */
  readonly seal?: SealMemory;
  /** Called when a statement has found the file damaged. Only the writer can repair it. */
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

/** Opens a pool on a store file. While the file does not exist, leases fail with CACHE_NOT_READY. */
export function openReader(file: string, options: ReaderOptions): PooledReader & PageReader {
  return new ReaderPool(file, options);
}

const defaultLeaseMs = 1000;
const defaultWaitMs = 10_000;

class ReaderPool implements PooledReader, PageReader {
  readonly #leaseMs: number;
  readonly #clock: Clock;
  readonly #leases = new Set<PoolLease>();
  readonly #now: PagesNow;
  readonly #gate: WalGate;
  readonly #threads: ReaderThreads;
  readonly #queue: LeaseQueue;
  readonly #walWatch: WalWatch;
  #closed = false;

  constructor(file: string, options: ReaderOptions) {
    const { clock = systemClock, log = silentLogger } = options;
    this.#leaseMs = options.leaseMs ?? defaultLeaseMs;
    this.#clock = clock;
    const connection = {
      file,
      cacheKib: options.cacheKib ?? 16 * 1024,
      maxRows: options.maxRows ?? 100_000,
      seal: options.seal,
    };
    this.#now = new PagesNow({ ...connection, mostMs: options.pagesNowMs ?? 10, clock });
    this.#gate = new WalGate(() => this.#now.logBytes(), {
      clock,
      gateBytes: options.walGateBytes ?? 32 * 1024 * 1024,
      patienceMs: 500,
    });
    this.#walWatch = new WalWatch({
      gate: this.#gate,
      limitBytes: options.walLimitBytes ?? 48 * 1024 * 1024,
      leases: this.#leases,
      clock,
      log,
    });
    this.#queue = new LeaseQueue({
      waitMs: options.waitMs ?? defaultWaitMs,
      grantable: () => this.#grantable(),
      isThreadFree: () => this.#threads.free > 0,
    });
    this.#threads = new ReaderThreads({
      count: options.readers,
      thread: {
        ...connection,
        heapMb: options.heapMb ?? 256,
        onDamage: options.onDamage ?? (() => {}),
        replies: new LoopQueue(clock),
      },
      clock,
      log,
      onDeath: (thread, error) => {
        for (const lease of [...this.#leases]) if (lease.thread === thread) lease.fail(error);
      },
      onFree: () => this.#queue.grant(),
    });
  }

  stats(): ReaderStats {
    return {
      readers: this.#threads.size,
      active: this.#leases.size,
      waiting: this.#queue.length,
      walBytes: this.#gate.size(),
      cutForWal: this.#walWatch.cut,
      restarts: this.#threads.restarts,
    };
  }

  async lease<T>(work: (lease: Lease) => Promise<T>, options: LeaseOptions = {}): Promise<T> {
    const lease = await this.open(options);
    try {
      return await Promise.race([work(lease), lease.failed]);
    } finally {
      lease.end();
    }
  }

  async open(options: LeaseOptions = {}): Promise<PoolLease> {
    const lease = await this.#reserve(options);
    await lease.begin(options.signal);
    return lease;
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
    if (this.#closed || !this.#gate.isOpenForShort(this.#leases.size)) return null;
    return this.#now.read(statements, pages);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#threads.stopReplacing();
    for (const lease of [...this.#leases]) lease.fail(closing());
    this.#queue.close(closing());
    this.#now.close();
    await this.#threads.close();
  }

  /** A lease that has not begun. */
  async #reserve({ signal, client, timeoutMs = this.#leaseMs }: LeaseOptions): Promise<PoolLease> {
    signal?.throwIfAborted();
    if (this.#closed) throw closing();
    const thread = (this.#queue.length === 0 ? this.#grantable() : null) ?? (await this.#queue.wait(signal, client));
    const lease = new PoolLease(thread, this.#clock.monotonic(), timeoutMs, (ended) => this.#onEnded(ended));
    this.#leases.add(lease);
    this.#walWatch.start();
    return lease;
  }

  #grantable(): ReaderThread | null {
    if (this.#threads.free === 0 || !this.#gate.isOpen(this.#leases.size)) return null;
    return this.#threads.take();
  }

  #onEnded(lease: PoolLease): void {
    this.#leases.delete(lease);
    this.#threads.release(lease.thread);
    this.#queue.grant();
  }
}

function closing(): PortolanError {
  return new PortolanError('CACHE_NOT_READY', 'The store is closing; try again in a moment.');
}
