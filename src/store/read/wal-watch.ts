/**
 * Cuts leases while the write-ahead log is over its limit and still grows: their snapshots keep it from being written back.
 *
 * A log that does not grow (ingest is down) needs no cut. A young lease is spared, because older ones kept the log.
 */
import type { Clock } from '../../base/clock.ts';
import { PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { WalGate } from '../file/wal-gate.ts';
import type { PoolLease } from './pool-lease.ts';

interface WalWatchOptions {
  readonly gate: WalGate;
  /** Size of the log above which leases are cut. */
  readonly limitBytes: number;
  /** The running leases. */
  readonly leases: ReadonlySet<PoolLease>;
  readonly clock: Clock;
  readonly log: Logger;
}

const watchMs = 20;
/** A lease younger than this is not cut. */
const spareMs = 50;

export class WalWatch {
  readonly #options: WalWatchOptions;
  #timer: NodeJS.Timeout | null = null;
  #seen = 0;
  #cut = 0;

  constructor(options: WalWatchOptions) {
    this.#options = options;
  }

  /** Leases that were cut. */
  get cut(): number {
    return this.#cut;
  }

  /** Looks at the log from now on, until no lease is left. */
  start(): void {
    if (this.#timer !== null) return;
    this.#seen = this.#options.gate.size();
    this.#timer = setInterval(() => this.#look(), watchMs);
    this.#timer.unref();
  }

  #look(): void {
    const { gate, leases, limitBytes, clock, log } = this.#options;
    if (leases.size === 0) {
      this.#stop();
      return;
    }
    const size = gate.size();
    const grown = size > this.#seen;
    this.#seen = size;
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
