/** Metrics of the change feed: the events it holds for subscriptions, and its reads for them. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { ChangeFeed } from '../../live/feed/change-feed.ts';

export class FeedMetrics {
  readonly #held: Gauge;
  readonly #leases: Counter;
  readonly #short: Counter;
  readonly #changes: Counter;
  readonly #bodies: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#held = new Gauge({
      name: 'portolan_feed_window_changes',
      help: 'Changes that the feed holds in memory for subscriptions.',
      registers,
    });
    this.#leases = new Counter({
      name: 'portolan_feed_leases_total',
      help: 'Read leases that the feed took to read the change log for subscriptions.',
      registers,
    });
    this.#short = new Counter({
      name: 'portolan_feed_short_reads_total',
      help: 'Reads of the change log on the thread that serves HTTP, which need no lease: of few new changes.',
      registers,
    });
    this.#changes = new Counter({
      name: 'portolan_feed_changes_read_total',
      help: 'Changes that the feed read from the change log; only those of kinds with subscriptions.',
      registers,
    });
    this.#bodies = new Counter({
      name: 'portolan_feed_bodies_read_total',
      help: 'Bodies before and after these changes, each read as JSON text.',
      registers,
    });
  }

  /** Copies the counts of the feed. */
  set({ held, reads }: Pick<ChangeFeed, 'held' | 'reads'>): void {
    this.#held.set(held);
    const counters = [
      [this.#leases, reads.leases],
      [this.#short, reads.now],
      [this.#changes, reads.changes],
      [this.#bodies, reads.bodies],
    ] as const;
    for (const [counter, value] of counters) {
      counter.reset();
      counter.inc(value);
    }
  }
}
