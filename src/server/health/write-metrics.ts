/**
 * Metrics of the requests that mutations send to API servers.
 *
 *   PATCH of a Deployment in east, 200   portolan_write_requests_total{cluster="east", verb="scale", outcome="OK"} 1
 *   the same as a dry run, 403           portolan_write_dry_runs_total{cluster="east", verb="scale", outcome="DENIED"} 1
 *
 * Invariants:
 * - No label has the name of an object or a caller. A verb and an outcome are of short lists, and a cluster is a known one.
 * - Both counters have at most `mostSeries` series with the name of a cluster. Requests that would make another one are counted with an
 *   empty name, so the sum over all clusters is right.
 */
import { Counter, Histogram, type Registry } from 'prom-client';
import type { Clock } from '../../base/clock.ts';
import type { WriteMeter } from '../../operation/write-access.ts';

type Labels = 'cluster' | 'verb' | 'outcome';

const labelNames: readonly Labels[] = ['cluster', 'verb', 'outcome'];

export const mostSeries = 300;

export class WriteMetrics implements WriteMeter {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #named = new Set<string>();
  // Not in a registry at first: a gateway has its metrics later than its writes.
  readonly #requests = new Counter({
    name: 'portolan_write_requests_total',
    help: 'Requests of mutations that write, without dry runs, by outcome: OK, or the code of the error. Each attempt counts.',
    labelNames,
    registers: [],
  });
  readonly #dryRuns = new Counter({
    name: 'portolan_write_dry_runs_total',
    help: 'Requests of mutations that the API server only checks, for plans, by outcome.',
    labelNames,
    registers: [],
  });
  readonly #durations = new Histogram({
    name: 'portolan_write_request_duration_seconds',
    help: 'Time of the API server for requests of mutations that write, without dry runs.',
    labelNames: ['verb'],
    // Admission webhooks may take 30 s.
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [],
  });

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Adds the metrics to the registry. */
  register(registry: Registry): void {
    for (const metric of [this.#requests, this.#dryRuns, this.#durations]) registry.registerMetric(metric);
  }

  sends(cluster: string, verb: string, dryRun: boolean): (outcome: string) => void {
    const start = this.#clock.monotonic();
    return (outcome) => {
      const counter = dryRun ? this.#dryRuns : this.#requests;
      counter.inc({ cluster: this.#mayName(cluster, verb, outcome, dryRun) ? cluster : '', verb, outcome });
      if (!dryRun) this.#durations.observe({ verb }, (this.#clock.monotonic() - start) / 1000);
    };
  }

  #mayName(...labels: readonly unknown[]): boolean {
    const key = JSON.stringify(labels);
    if (this.#named.size < mostSeries) this.#named.add(key);
    return this.#named.has(key);
  }
}
