/**
 * The SDK of OpenTelemetry: sampler, batches, exporter. cli imports this module only if traces are wanted (trace-settings.ts).
 *
 *   span ended -> batch -> every OTEL_BSP_SCHEDULE_DELAY, or a full batch -> POST to the collector
 *   close      -> what is left is exported, at most `flushMs`
 */
import { randomUUID } from 'node:crypto';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { Logger } from '../base/log.ts';
import type { Tracer } from '../base/tracing.ts';
import { createOtelTracer } from './otel-tracer.ts';
import { type Environment, type TraceSettings, traceSettings } from './trace-settings.ts';
import { WatchedExporter } from './watched-exporter.ts';

interface Tracing {
  readonly tracer: Tracer;
  /** Exports the spans that have ended. Never rejects. */
  close(): Promise<void>;
}

/** Milliseconds that a shutdown waits for the collector. The process has 1.8 s for everything (src/cli/run-until-signal.ts). */
const flushMs = 500;

/** @param version that of Portolan */
export function openTracing(environment: Environment, version: string, log: Logger): Tracing {
  const settings = traceSettings(environment);
  for (const problem of settings.problems) log.warn({}, problem);
  const exporter = settings.protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter();
  const own = resourceFromAttributes({
    'service.name': 'portolan',
    'service.version': version,
    'service.instance.id': randomUUID(),
  });
  const processor = new BatchSpanProcessor({ ...settings.batch, exporter: new WatchedExporter(exporter, log) });
  const propagators = settings.propagators.map((each) =>
    each === 'baggage' ? new W3CBaggagePropagator() : new W3CTraceContextPropagator(),
  );
  const { sampler: name, ratio, protocol } = settings;
  log.info({ sampler: name, protocol, ...(name.endsWith('ratio') ? { ratio } : {}) }, 'traces are exported');
  return {
    tracer: createOtelTracer({
      sampler: samplerOf(settings),
      propagator: new CompositePropagator({ propagators }),
      processor,
      resource: defaultResource()
        .merge(own)
        .merge(detectResources({ detectors: [envDetector] })),
      scope: { name: 'portolan', version },
    }),
    async close() {
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, flushMs);
      // A failure was logged by the exporter.
      await Promise.race([processor.shutdown().catch(() => {}), late.promise]);
      clearTimeout(timer);
    },
  };
}

function samplerOf({ sampler, ratio }: TraceSettings): Sampler {
  const name = sampler.replace('parentbased_', '');
  const root =
    name === 'always_on'
      ? new AlwaysOnSampler()
      : name === 'always_off'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio);
  return sampler === name ? root : new ParentBasedSampler({ root });
}
