import { expect, test } from 'vitest';
import { traceSettings, wantsTraces } from './trace-settings.ts';

test('traces are wanted if an endpoint is named, and nothing turns them off', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  expect(wantsTraces({})).toBe(false);
  expect(wantsTraces({ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' })).toBe(false);
  expect(wantsTraces(endpoint)).toBe(true);
  expect(wantsTraces({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' })).toBe(true);
  expect(wantsTraces({ ...endpoint, OTEL_SDK_DISABLED: 'TRUE' })).toBe(false);
  expect(wantsTraces({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toBe(false);
});

test('the defaults are those of the specification, with JSON', () => {
  expect(traceSettings({})).toEqual({
    sampler: 'parentbased_always_on',
    ratio: 1,
    protocol: 'http/json',
    propagators: ['tracecontext', 'baggage'],
    batch: {
      scheduledDelayMillis: 5000,
      exportTimeoutMillis: 30_000,
      maxQueueSize: 2048,
      maxExportBatchSize: 512,
    },
    problems: [],
  });
});

test('every variable counts', () => {
  const settings = traceSettings({
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.1',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
    OTEL_PROPAGATORS: 'none',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_BSP_EXPORT_TIMEOUT: '200',
    OTEL_BSP_MAX_QUEUE_SIZE: '300',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '40',
  });
  expect(settings).toEqual({
    sampler: 'traceidratio',
    ratio: 0.1,
    protocol: 'http/protobuf',
    propagators: [],
    batch: { scheduledDelayMillis: 100, exportTimeoutMillis: 200, maxQueueSize: 300, maxExportBatchSize: 40 },
    problems: [],
  });
});

test('a wrong value is told, and its default counts', () => {
  const settings = traceSettings({
    OTEL_TRACES_SAMPLER: 'xray',
    OTEL_TRACES_SAMPLER_ARG: '2',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_PROPAGATORS: 'b3,tracecontext',
    OTEL_BSP_MAX_QUEUE_SIZE: 'many',
  });
  expect(settings).toMatchObject({
    ...{ sampler: 'parentbased_always_on', ratio: 1, protocol: 'http/json', propagators: ['tracecontext'] },
    batch: { maxQueueSize: 2048 },
  });
  expect(settings.problems.map((problem) => problem.split(' ')[0]).sort()).toEqual([
    'OTEL_BSP_MAX_QUEUE_SIZE',
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'OTEL_PROPAGATORS',
    'OTEL_TRACES_SAMPLER',
    'OTEL_TRACES_SAMPLER_ARG',
  ]);
});
