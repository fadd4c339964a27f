/**
 * Ends leases while the write-ahead log is over its limit and still grows, because their snapshots prevent its restart.
 *
 * A log that does not grow (ingest is down) needs no action. A young lease is spared, because older snapshots block the log.
 */
import type { Clock } from '../../base/clock.ts';
import { PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { WalGate } from '../file/wal-gate.ts';
import type { PoolLease } from './pool-lease.ts';

interface WalWatchOptions {
  readonly gate: WalGate;
  /** Size of the log above which leases are ended. */
  readonly limitBytes: number;
  /** The running leases. */
  readonly leases: ReadonlySet<PoolLease>;
  readonly clock: Clock;
  readonly log: Logger;
}

const watchMs = 20;
/** Milliseconds: a lease younger than this is spared. */
const spareMs = 50;

export class WalWatch {
  readonly #options: WalWatchOptions;
  #timer: NodeJS.Timeout | null = null;
  #lastSize = 0;
  #cut = 0;

  constructor(options: WalWatchOptions) {
    this.#options = options;
  }

  /** Number of leases ended by this watch. */
  get cut(): number {
    return this.#cut;
  }

  /** Checks the log periodically until no lease is left. */
  start(): void {
    if (this.#timer !== null) return;
    this.#lastSize = this.#options.gate.size();
    this.#timer = setInterval(() => this.#check(), watchMs);
    this.#timer.unref();
  }

  #check(): void {
    const { gate, leases, limitBytes, clock, log } = this.#options;
    if (leases.size === 0) {
      this.#stop();
      return;
    }
    const size = gate.size();
    const grown = size > this.#lastSize;
    this.#lastSize = size;
    if (!grown || size <= limitBytes) return;
    const old = [...leases].filter((lease) => clock.monotonic() - lease.since >= spareMs);
    if (old.length === 0) return;
    this.#cut += old.length;
    log.warn({ leases: old.length, walBytes: size }, 'reads are cut, the write-ahead log is too long');
    for (const lease of old) {
      lease.fail(
        new PortolanError('TIMEOUT', 'The read was cut because the store is under heavy writes; send it again.'),
      );
    }
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}
