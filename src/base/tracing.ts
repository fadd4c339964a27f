/**
 * Traces as the other rooms know them. `src/telemetry` implements this interface with OpenTelemetry; without it, `noSpan` does nothing.
 *
 *   request -> tracer.begin(carrier) -> span -> operation -> span.child('lease') -> child('SELECT pods')
 *           -> within(span, work)    -> a request to an API server in `work` finds the span by `activeSpan()`
 *
 * Spans are passed as arguments. Only requests to API servers find theirs by AsyncLocalStorage: loaders, caches and scopes that several
 * operations share are between them and the operation.
 *
 * A span has no values of variables, filters or objects. It has no names of objects, no tokens and no messages of errors.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** `server` and `client` are the two ends of a request between processes. */
export type SpanKind = 'server' | 'client' | 'internal';

export interface Span {
  /** Null without tracing. A trace that is not sampled has an id too, which other services may know. */
  readonly traceId: string | null;
  /** False if the span keeps nothing. Then nothing needs to be computed for it. */
  readonly isRecorded: boolean;
  /** A part of this span. After the end of this span there is nothing to be a part of: `noSpan`. */
  child(name: string, attributes?: SpanAttributes, kind?: SpanKind): Span;
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /** Marks a failure. @param code of the error; never its message, which may name objects. */
  fail(code: string): void;
  /** Idempotent. */
  end(): void;
  /** The headers that continue the trace in a request of this span. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads a header of W3C Trace Context or Baggage. @param name in lower case. */
export type TraceCarrier = (name: string) => string | undefined;

export interface Tracer {
  /** Begins the span of a request from outside, as a part of the trace that the request names. */
  begin(name: string, carrier: TraceCarrier, attributes?: SpanAttributes): Span;
}

export const noSpan: Span = Object.freeze({
  traceId: null,
  isRecorded: false,
  child: () => noSpan,
  set: () => {},
  rename: () => {},
  fail: () => {},
  end: () => {},
  headers: Object.freeze({}),
});

export const noTracer: Tracer = Object.freeze({ begin: () => noSpan });

const active = new AsyncLocalStorage<Span>();

/** Runs `work` so that its requests to API servers are parts of the span. */
export function within<T>(span: Span, work: () => T): T {
  return span === noSpan ? work() : active.run(span, work);
}

/** The span that the caller works for. */
export function activeSpan(): Span {
  return active.getStore() ?? noSpan;
}
