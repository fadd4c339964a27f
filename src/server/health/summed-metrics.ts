/**
 * The metrics of a gateway with several serve processes: a scrape reaches one of them, and shows the values of all.
 *
 *   scrape -> a serve process -> the ingest process asks the others -> each gives its values -> one exposition
 *
 * A value that is the same in each process (metric.ts) is that of the asked process. The others do not send it. Most other values are
 * added. The library prom-client has rules for its own metrics. It adds memory and processor time, averages the delays of the event
 * loop, and leaves out the time of the start.
 */
import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client';

/** The values of one process. They can be sent to another one. */
export type ProcessMetrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** Those whose values are not the same in each process. */
export function counted(metrics: ProcessMetrics): ProcessMetrics {
  return metrics.filter(({ aggregator }) => aggregator !== 'first');
}

/** The metrics of a process that serves nothing: its memory, its processor time, its event loop. */
export function ownMetrics(): () => Promise<ProcessMetrics> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return async () => counted(await registry.getMetricsAsJSON());
}

/** The exposition of all processes. */
export function summedText(all: readonly ProcessMetrics[]): Promise<string> {
  return registryOf(all).metrics();
}

/** The values of all processes as those of one. */
export function summed(all: readonly ProcessMetrics[]): Promise<ProcessMetrics> {
  return registryOf(all).getMetricsAsJSON();
}

function registryOf(all: readonly ProcessMetrics[]): Registry {
  return AggregatorRegistry.aggregate(all.map((each) => [...each]));
}
