/**
 * The tracer over OpenTelemetry's API. Its spans know their context, so nothing is registered globally.
 *
 *   begin -> the sampler decides by the caller's trace, or by a new trace id
 *         -> not taken: a PassedSpan, which makes nothing until a request continues the trace
 *         -> taken: the SDK makes a span, and samples again with the same outcome, because it gets the same trace id
 *
 * Most requests of a busy gateway are not taken, and a span of the SDK costs the same whether it is recorded or not.
 */
import {
  type Attributes,
  type Context,
  defaultTextMapSetter,
  isSpanContextValid,
  SpanKind as OtelKind,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  SpanStatusCode,
  type TextMapGetter,
  type TextMapPropagator,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { type IdGenerator, RandomIdGenerator, type Sampler, SamplingDecision } from '@opentelemetry/sdk-trace';
import {
  noSpan,
  type Span,
  type SpanAttributes,
  type SpanKind,
  type TraceCarrier,
  type Tracer,
} from '../base/tracing.ts';

export interface TracerParts {
  readonly tracer: OtelTracer;
  /** That of `tracer`. */
  readonly sampler: Sampler;
  /** Those of `tracer`. */
  readonly ids: TraceIds;
  readonly propagator: TextMapPropagator;
}

/** Random ids; the next trace may be given one. */
export class TraceIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  next: string | null = null;

  generateTraceId(): string {
    const id = this.next ?? this.#random.generateTraceId();
    this.next = null;
    return id;
  }

  generateSpanId(): string {
    return this.#random.generateSpanId();
  }
}

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
  const { sampler, ids, propagator } = parts;
  const fields = propagator.fields();
  return {
    begin(name, carrier, attributes) {
      const isNamed = fields.some((field) => carrier(field) !== undefined);
      const context = isNamed ? propagator.extract(ROOT_CONTEXT, carrier, fromCarrier) : ROOT_CONTEXT;
      const parent = trace.getSpanContext(context);
      const isContinued = parent !== undefined && isSpanContextValid(parent);
      const traceId = isContinued ? parent.traceId : ids.generateTraceId();
      const { decision } = sampler.shouldSample(context, traceId, name, OtelKind.SERVER, {}, []);
      if (decision === SamplingDecision.NOT_RECORD) return new PassedSpan(parts, context, traceId);
      ids.next = isContinued ? null : traceId;
      return startSpan(parts, context, name, 'server', attributes);
    },
  };
}

function startSpan(
  parts: TracerParts,
  context: Context,
  name: string,
  kind: SpanKind,
  attributes: SpanAttributes = {},
): Span {
  const span = parts.tracer.startSpan(name, { kind: kinds[kind], attributes: attributes as Attributes }, context);
  return new RecordedSpan(parts, trace.setSpan(context, span), span);
}

/** A request whose trace is not exported. It only passes the trace on. */
class PassedSpan implements Span {
  readonly isRecorded = false;
  readonly traceId: string;
  readonly #parts: TracerParts;
  readonly #context: Context;
  #headers: Readonly<Record<string, string>> | null = null;
  #part: Span | null = null;
  #isEnded = false;

  constructor(parts: TracerParts, context: Context, traceId: string) {
    this.#parts = parts;
    this.#context = context;
    this.traceId = traceId;
  }

  get headers(): Readonly<Record<string, string>> {
    this.#headers ??= this.#continued();
    return this.#headers;
  }

  #continued(): Readonly<Record<string, string>> {
    const { ids, propagator } = this.#parts;
    const parent = trace.getSpanContext(this.#context);
    const { traceId } = this;
    const own = { ...parent, traceId, spanId: ids.generateSpanId(), traceFlags: TraceFlags.NONE, isRemote: false };
    return headersOf(propagator, trace.setSpanContext(this.#context, own));
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

class RecordedSpan implements Span {
  readonly isRecorded = true;
  readonly traceId: string;
  readonly #parts: TracerParts;
  readonly #context: Context;
  readonly #span: OtelSpan;

  /** @param context has the span */
  constructor(parts: TracerParts, context: Context, span: OtelSpan) {
    this.#parts = parts;
    this.#context = context;
    this.#span = span;
    this.traceId = span.spanContext().traceId;
  }

  get headers(): Readonly<Record<string, string>> {
    return headersOf(this.#parts.propagator, this.#context);
  }

  child(name: string, attributes?: SpanAttributes, kind: SpanKind = 'internal'): Span {
    return this.#span.isRecording() ? startSpan(this.#parts, this.#context, name, kind, attributes) : noSpan;
  }

  set(attributes: SpanAttributes): void {
    if (this.#span.isRecording()) this.#span.setAttributes(attributes as Attributes);
  }

  rename(name: string): void {
    if (this.#span.isRecording()) this.#span.updateName(name);
  }

  fail(code: string): void {
    if (!this.#span.isRecording()) return;
    this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.setAttribute('error.type', code);
  }

  end(): void {
    if (this.#span.isRecording()) this.#span.end();
  }
}

function headersOf(propagator: TextMapPropagator, context: Context): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  propagator.inject(context, headers, defaultTextMapSetter);
  return headers;
}
