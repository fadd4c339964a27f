/**
 * The tracer over OpenTelemetry's samplers, propagators and span processors. Its spans know their trace, so nothing is registered globally.
 *
 *   begin -> the sampler decides by the caller's trace, or by a new trace id
 *         -> not taken: a PassedSpan, which makes nothing until a request continues the trace
 *         -> taken: a RecordedSpan -> end -> the processor, which exports it in a batch
 *
 * Most requests of a busy gateway are not taken. The SDK's own spans are not used: each is sampled again, needs a context of
 * its own and copies its attributes twice.
 * Invariant: the parts of a span are taken as the span is.
 */
import {
  type Attributes,
  type Context,
  defaultTextMapSetter,
  type HrTime,
  isSpanContextValid,
  SpanKind as OtelKind,
  ROOT_CONTEXT,
  type SpanContext,
  type SpanStatus,
  SpanStatusCode,
  type TextMapGetter,
  type TextMapPropagator,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { hrTimeDuration, type InstrumentationScope, millisToHrTime } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  RandomIdGenerator,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import {
  noSpan,
  type Span,
  type SpanAttributes,
  type SpanKind,
  type TraceCarrier,
  type Tracer,
} from '../base/tracing.ts';

interface TracerParts {
  readonly sampler: Sampler;
  readonly propagator: TextMapPropagator;
  /** Gets the spans that have ended. */
  readonly processor: Pick<SpanProcessor, 'onEnd'>;
  /** The process, and the library that makes the spans. */
  readonly resource: Resource;
  readonly scope: InstrumentationScope;
}

const ids = new RandomIdGenerator();

const kinds: Readonly<Record<SpanKind, OtelKind>> = {
  server: OtelKind.SERVER,
  client: OtelKind.CLIENT,
  internal: OtelKind.INTERNAL,
};

const fromCarrier: TextMapGetter<TraceCarrier> = {
  get: (carrier, name) => carrier(name),
  keys: () => [],
};

export function createOtelTracer(parts: TracerParts): Tracer {
  const { sampler, propagator } = parts;
  const fields = propagator.fields();
  return {
    begin(name, carrier, attributes = {}) {
      const isNamed = fields.some((field) => carrier(field) !== undefined);
      const context = isNamed ? propagator.extract(ROOT_CONTEXT, carrier, fromCarrier) : ROOT_CONTEXT;
      const named = trace.getSpanContext(context);
      const parent = named !== undefined && isSpanContextValid(named) ? named : undefined;
      const traceId = parent?.traceId ?? ids.generateTraceId();
      const { decision, traceState } = sampler.shouldSample(context, traceId, name, OtelKind.SERVER, {}, []);
      if (decision !== SamplingDecision.RECORD_AND_SAMPLED) return new PassedSpan(propagator, context, traceId);
      const taken: TakenTrace = {
        parts,
        context,
        traceId,
        traceState: traceState ?? parent?.traceState,
        epoch: Date.now() - performance.now(),
      };
      return new RecordedSpan(taken, parent, name, 'server', attributes);
    },
  };
}

/** The parts that the spans of one request share. */
interface TakenTrace {
  readonly parts: TracerParts;
  /** That of the request, with its baggage. */
  readonly context: Context;
  readonly traceId: string;
  readonly traceState: SpanContext['traceState'];
  /** Milliseconds between the Unix epoch and the zero of `performance.now()`, so that parts have exact times in their whole. */
  readonly epoch: number;
}

/** A request whose trace is not exported. It only passes the trace on. */
class PassedSpan implements Span {
  readonly isRecorded = false;
  readonly traceId: string;
  readonly #propagator: TextMapPropagator;
  readonly #context: Context;
  #headers: Readonly<Record<string, string>> | null = null;
  #part: Span | null = null;
  #isEnded = false;

  constructor(propagator: TextMapPropagator, context: Context, traceId: string) {
    this.#propagator = propagator;
    this.#context = context;
    this.traceId = traceId;
  }

  get headers(): Readonly<Record<string, string>> {
    this.#headers ??= this.#continued();
    return this.#headers;
  }

  #continued(): Readonly<Record<string, string>> {
    const parent = trace.getSpanContext(this.#context);
    const { traceId } = this;
    const own = { ...parent, traceId, spanId: ids.generateSpanId(), traceFlags: TraceFlags.NONE, isRemote: false };
    return headersOf(this.#propagator, this.#context, own);
  }

  child(): Span {
    if (this.#isEnded) return noSpan;
    this.#part ??= new PassedPart(this);
    return this.#part;
  }

  set(): void {}
  rename(): void {}
  fail(): void {}

  end(): void {
    this.#isEnded = true;
  }
}

/** All parts of a PassedSpan: they differ in nothing. Their ends do not end the request. */
class PassedPart implements Span {
  readonly isRecorded = false;
  readonly traceId: string;
  readonly #whole: PassedSpan;

  constructor(whole: PassedSpan) {
    this.#whole = whole;
    this.traceId = whole.traceId;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#whole.headers;
  }

  child(): Span {
    return this.#whole.child();
  }

  set(): void {}
  rename(): void {}
  fail(): void {}
  end(): void {}
}

const unset: SpanStatus = Object.freeze({ code: SpanStatusCode.UNSET });
const failed: SpanStatus = Object.freeze({ code: SpanStatusCode.ERROR });

/** A span that is exported, in the form that exporters read. */
class RecordedSpan implements Span, ReadableSpan {
  readonly isRecorded = true;
  readonly traceId: string;
  readonly kind: OtelKind;
  readonly parentSpanContext?: SpanContext;
  readonly startTime: HrTime;
  readonly links = [];
  readonly events = [];
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  name: string;
  attributes: Attributes;
  status = unset;
  endTime: HrTime = [0, 0];
  ended = false;
  readonly #taken: TakenTrace;
  readonly #own: SpanContext;

  constructor(
    taken: TakenTrace,
    parent: SpanContext | undefined,
    name: string,
    kind: SpanKind,
    attributes: SpanAttributes,
  ) {
    const { traceId, traceState } = taken;
    this.#taken = taken;
    this.traceId = traceId;
    this.name = name;
    this.kind = kinds[kind];
    this.attributes = { ...attributes } as Attributes;
    if (parent !== undefined) this.parentSpanContext = parent;
    this.#own = {
      traceId,
      spanId: ids.generateSpanId(),
      traceFlags: TraceFlags.SAMPLED,
      ...(traceState === undefined ? {} : { traceState }),
    };
    this.startTime = this.#now();
  }

  get headers(): Readonly<Record<string, string>> {
    const { parts, context } = this.#taken;
    return headersOf(parts.propagator, context, this.#own);
  }

  get duration(): HrTime {
    return hrTimeDuration(this.startTime, this.endTime);
  }

  get resource(): Resource {
    return this.#taken.parts.resource;
  }

  get instrumentationScope(): InstrumentationScope {
    return this.#taken.parts.scope;
  }

  spanContext(): SpanContext {
    return this.#own;
  }

  child(name: string, attributes: SpanAttributes = {}, kind: SpanKind = 'internal'): Span {
    return this.ended ? noSpan : new RecordedSpan(this.#taken, this.#own, name, kind, attributes);
  }

  set(attributes: SpanAttributes): void {
    if (!this.ended) Object.assign(this.attributes, attributes);
  }

  rename(name: string): void {
    if (!this.ended) this.name = name;
  }

  fail(code: string): void {
    if (this.ended) return;
    this.status = failed;
    this.attributes['error.type'] = code;
  }

  end(): void {
    if (this.ended) return;
    this.endTime = this.#now();
    this.ended = true;
    this.#taken.parts.processor.onEnd(this);
  }

  #now(): HrTime {
    return millisToHrTime(this.#taken.epoch + performance.now());
  }
}

function headersOf(
  propagator: TextMapPropagator,
  context: Context,
  own: SpanContext,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  propagator.inject(trace.setSpanContext(context, own), headers, defaultTextMapSetter);
  return headers;
}
