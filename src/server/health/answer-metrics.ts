/** Metrics of the answers that are kept in memory. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { AnswersFacts } from '../../operation/answers/kept-answers.ts';

export class AnswerMetrics {
  readonly #hits: Counter;
  readonly #misses: Counter;
  readonly #bytes: Gauge;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#hits = new Counter({
      name: 'portolan_answer_cache_hits_total',
      help: 'Queries that were answered from memory, because nothing that they depend on had changed.',
      registers,
    });
    this.#misses = new Counter({
      name: 'portolan_answer_cache_misses_total',
      help: 'Queries whose answer was not in memory, or was no longer true.',
      registers,
    });
    this.#bytes = new Gauge({
      name: 'portolan_answer_cache_bytes',
      help: 'Bytes of answers in memory, at most --answer-cache-bytes.',
      registers,
    });
  }

  /** Copies the counts of the answers. */
  set({ hits, misses, bytes }: AnswersFacts): void {
    for (const [counter, value] of [
      [this.#hits, hits],
      [this.#misses, misses],
    ] as const) {
      counter.reset();
      counter.inc(value);
    }
    this.#bytes.set(bytes);
  }
}
