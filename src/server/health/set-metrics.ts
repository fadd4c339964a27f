/**
 * Metrics of the aggregated API server.
 *
 *   kubectl get shadow -A, 200       portolan_set_requests_total{verb="list", code="200"} 1
 *   the client ends it before        portolan_set_requests_total{verb="list", code="0"} 1
 *
 * Invariant: no label has the name of an object or a caller. A verb is one of a short list, and a code is a status of HTTP.
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Clock } from '../../base/clock.ts';

export class SetMetrics {
  readonly #clock: Pick<Clock, 'monotonic'>;
  // Not in a registry at first: the gateway makes its registry later.
  readonly #requests = new Counter({
    name: 'portolan_set_requests_total',
    help: 'Requests to the aggregated API server that have ended, by verb and status; 0 where the client ended first.',
    labelNames: ['verb', 'code'],
    registers: [],
  });
  readonly #durations = new Histogram({
    name: 'portolan_set_request_duration_seconds',
    help: 'Time of requests to the aggregated API server, without watches.',
    labelNames: ['verb'],
    // kube-apiserver waits a minute.
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [],
  });
  readonly #watches = new Gauge({
    name: 'portolan_set_watches',
    help: 'Watches of sets that are open.',
    registers: [],
  });
  readonly #members = new Counter({
    name: 'portolan_set_members_read_total',
    help: 'Members that were read for answers and events of sets.',
    registers: [],
  });

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Adds the metrics to the registry. */
  register(registry: Registry): void {
    for (const metric of [this.#requests, this.#durations, this.#watches, this.#members]) {
      registry.registerMetric(metric);
    }
  }

  /** @returns notes the end of the request. @param verb of a short list */
  requested(verb: string): (code: number) => void {
    const start = this.#clock.monotonic();
    return (code) => {
      this.#requests.inc({ verb, code: String(code) });
      if (verb !== 'watch') this.#durations.observe({ verb }, (this.#clock.monotonic() - start) / 1000);
    };
  }

  /** @returns notes the end of the watch. */
  watchOpened(): () => void {
    this.#watches.inc();
    return () => this.#watches.dec();
  }

  membersRead(count: number): void {
    this.#members.inc(count);
  }
}
