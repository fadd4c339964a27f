/**
 * An exporter whose failures are logged once, until an export succeeds again. The spans of a failed export are lost; nothing waits for
 * them.
 */
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';

export class WatchedExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #log: Logger;
  /** Spans of the exports that failed since the last success. */
  #lost = 0;

  constructor(exporter: SpanExporter, log: Logger) {
    this.#exporter = exporter;
    this.#log = log;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#exporter.export(spans, (result) => {
      if (result.code === ExportResultCode.SUCCESS) this.#succeeded();
      else this.#failed(spans.length, result.error);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  #succeeded(): void {
    if (this.#lost > 0) this.#log.info({ lost: this.#lost }, 'traces are exported again');
    this.#lost = 0;
  }

  #failed(spans: number, error: Error | undefined): void {
    if (this.#lost === 0) {
      const text =
        'traces cannot be exported: check OTEL_EXPORTER_OTLP_ENDPOINT and the collector there; spans are dropped';
      this.#log.warn({ error: error === undefined ? 'no reason' : messageOf(error) }, text);
    }
    this.#lost += spans;
  }
}
