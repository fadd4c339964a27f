/** Metrics of live queries. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { LiveQueriesFacts } from '../../live/query/live-queries.ts';

export class LiveMetrics {
  readonly #cohorts: Gauge;
  readonly #members: Gauge;
  readonly #runs: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#members = new Gauge({
      name: 'portolan_live_queries',
      help: 'Live queries that are open; each is also counted as a subscription.',
      registers,
    });
    this.#cohorts = new Gauge({
      name: 'portolan_live_query_cohorts',
      help: 'Groups of live queries with the same result, for each of which a query runs once.',
      registers,
    });
    this.#runs = new Counter({
      name: 'portolan_live_query_runs_total',
      help: 'Queries that ran again for live queries, because something that they depend on had changed.',
      registers,
    });
  }

  /** Copies the counts of the live queries. */
  set({ cohorts, members, runs }: LiveQueriesFacts): void {
    this.#cohorts.set(cohorts);
    this.#members.set(members);
    this.#runs.reset();
    this.#runs.inc(runs);
  }
}
