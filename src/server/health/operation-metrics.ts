/** Metrics of GraphQL operations, over HTTP and WebSocket. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { OperationType } from '../../admission/admission.ts';

export class OperationMetrics {
  readonly #operations: Counter<'type' | 'code'>;
  readonly #durations: Histogram<'type'>;
  readonly #subscriptions: Gauge;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#operations = new Counter({
      name: 'portolan_graphql_operations_total',
      help: 'GraphQL operations by type and by the code of their first error, OK where there was none; subscriptions by how they began.',
      labelNames: ['type', 'code'],
      registers,
    });
    // Prometheus computes a rate from two samples, so the series start at 0: an alert must see the first defect.
    for (const type of ['query', 'subscription']) this.#operations.inc({ type, code: 'OK' }, 0);
    for (const type of ['query', 'mutation', 'subscription', 'unknown']) {
      this.#operations.inc({ type, code: 'INTERNAL_SERVER_ERROR' }, 0);
    }
    this.#durations = new Histogram({
      name: 'portolan_graphql_operation_duration_seconds',
      help: 'Time that queries and mutations were executed, without parsing and validation.',
      labelNames: ['type'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    });
    this.#subscriptions = new Gauge({
      name: 'portolan_graphql_subscriptions',
      help: 'Subscriptions that are open.',
      registers,
    });
  }

  /** Counts one operation. */
  count(type: OperationType, code: string): void {
    this.#operations.inc({ type, code });
  }

  /** Records the duration of an execution. */
  took(type: OperationType, seconds: number): void {
    this.#durations.observe({ type }, seconds);
  }

  /** Counts a subscription as open. The returned function counts it as closed; further calls have no effect. */
  subscribed(): () => void {
    this.#subscriptions.inc();
    let over = false;
    return () => {
      if (over) return;
      over = true;
      this.#subscriptions.dec();
    };
  }
}
