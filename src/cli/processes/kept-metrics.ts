/**
 * The newest metrics of each serve process. With them, no counter of the gateway falls. Prometheus would take a fall for a restart, and add
 * the value once more.
 *
 *   a process answers a scrape             -> its values are kept
 *   it does not answer the next in time    -> the kept values stand for its own
 *   it ends                                -> its counters are added to those of all that have ended; its gauges are gone
 *
 * The counts of a process since its last scrape are lost with it.
 */
import { type ProcessMetrics, summed } from '../../server/health/summed-metrics.ts';

export class KeptMetrics {
  /** By the number of the process. */
  readonly #newest = new Map<number, ProcessMetrics>();
  /** The sum of the counters of ended processes. While sums are computed, the counters that are not in them yet follow. */
  #ended: readonly ProcessMetrics[] = [];

  keep(process: number, metrics: ProcessMetrics): void {
    this.#newest.set(process, metrics);
  }

  async end(process: number): Promise<void> {
    const newest = this.#newest.get(process);
    if (newest === undefined) return;
    this.#newest.delete(process);
    const ended = [...this.#ended, newest.filter(isCounted)];
    this.#ended = ended;
    if (ended.length === 1) return;
    const sum = await summed(ended);
    // If another one has ended meanwhile, it is in a longer list, whose sum comes later.
    if (this.#ended === ended) this.#ended = [sum];
  }

  /** Those of all but this process. */
  without(process: number): readonly ProcessMetrics[] {
    return [
      ...[...this.#newest].filter(([number]) => number !== process).map(([, metrics]) => metrics),
      ...this.#ended,
    ];
  }
}

/** Is the value of the gateway the sum of what its processes have counted? */
function isCounted({ type, aggregator }: ProcessMetrics[number]): boolean {
  return aggregator === 'sum' && ['counter', 'histogram'].includes(String(type));
}
