import { SpanStatusCode } from '@opentelemetry/api';
import { hrTimeToMilliseconds, W3CTraceContextPropagator } from '@opentelemetry/core';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
} from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import { activeSpan, noSpan, type TraceCarrier, within } from '../base/tracing.ts';
import { createOtelTracer } from './otel-tracer.ts';

const id = '4bf92f3577b34da6a3ce929d0e0e4736';
const remote = '00f067aa0ba902b7';
const nothing: TraceCarrier = () => undefined;

const carrierWith =
  (flag: string): TraceCarrier =>
  (name) =>
    ({ traceparent: `00-${id}-${remote}-${flag}`, tracestate: 'vendor=1' })[name];

function recording(sampler: Sampler = new ParentBasedSampler({ root: new AlwaysOnSampler() })) {
  const ended: ReadableSpan[] = [];
  const tracer = createOtelTracer({
    sampler,
    propagator: new W3CTraceContextPropagator(),
    processor: { onEnd: (span) => void ended.push(span) },
    resource: resourceFromAttributes({ 'service.name': 'test' }),
    scope: { name: 'test' },
  });
  return { tracer, ended };
}

test('a span has what it was given until its end, and nothing after it', () => {
  const { tracer, ended } = recording();
  const given = { 'http.route': '/graphql' };
  const span = tracer.begin('POST /graphql', carrierWith('01'), given);
  span.rename('query');
  span.set({ rows: 3 });
  span.fail('TIMEOUT');
  span.end();
  span.end();
  span.rename('late');
  span.set({ late: true });
  span.fail('late');
  expect(ended).toHaveLength(1);
  expect(ended[0]).toMatchObject({
    name: 'query',
    attributes: { 'http.route': '/graphql', rows: 3, 'error.type': 'TIMEOUT' },
    status: { code: SpanStatusCode.ERROR },
    parentSpanContext: { traceId: id, spanId: remote },
    ended: true,
  });
  expect(ended[0]?.attributes).not.toHaveProperty('late');
  expect(ended[0]?.spanContext()).toMatchObject({ traceId: id, traceFlags: 1 });
  expect(ended[0]?.spanContext().traceState?.serialize()).toBe('vendor=1');
  expect(given).toEqual({ 'http.route': '/graphql' });
});

test('the times of a part are within those of its whole, and near those of the clock', async () => {
  const { tracer, ended } = recording();
  const before = Date.now();
  const whole = tracer.begin('whole', nothing);
  const part = whole.child('part');
  await new Promise((resolve) => setTimeout(resolve, 20));
  part.end();
  whole.end();
  const after = Date.now();
  const times = ended.map(({ startTime, endTime, duration }) =>
    [startTime, endTime, duration].map(hrTimeToMilliseconds),
  );
  const [[partStart = 0, partEnd = 0, took = 0] = [], [start = 0, end = 0] = []] = times;
  expect(start).toBeGreaterThanOrEqual(before - 1);
  expect(partStart).toBeGreaterThanOrEqual(start);
  expect(took).toBeGreaterThan(15);
  expect(partEnd).toBeCloseTo(partStart + took, 3);
  expect(end).toBeGreaterThanOrEqual(partEnd);
  expect(end).toBeLessThanOrEqual(after + 1);
  expect(ended[0]?.parentSpanContext).toEqual(ended[1]?.spanContext());
});

test('the sampler is asked once for a request, with the id that its spans have', () => {
  const asked: string[] = [];
  const { tracer, ended } = recording({
    shouldSample: (_, traceId) => {
      asked.push(traceId);
      return { decision: SamplingDecision.RECORD_AND_SAMPLED };
    },
    toString: () => 'test',
  });
  const whole = tracer.begin('whole', nothing);
  whole.child('part').end();
  whole.end();
  expect(asked).toEqual([whole.traceId]);
  expect(ended.map((span) => span.spanContext().traceId)).toEqual([whole.traceId, whole.traceId]);
});

test.each(['01', '00'])('an ended span has no parts, with the flag %s', (flag) => {
  const { tracer } = recording();
  const span = tracer.begin('GET', carrierWith(flag));
  const continuedNow = (): string | undefined => activeSpan().child('GET', {}, 'client').headers['traceparent'];
  within(span, () => {
    span.child('lease').end();
    expect(continuedNow()).toMatch(new RegExp(`^00-${id}-[0-9a-f]{16}-${flag}$`));
    span.end();
    expect(continuedNow()).toBeUndefined();
    expect(span.child('lease')).toBe(noSpan);
  });
});
