import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { sampleOf, samplesOf } from '../../../test/kit/prometheus-text.ts';
import { mostSeries, WriteMetrics } from './write-metrics.ts';

function counted() {
  const clock = { ms: 0, monotonic: () => clock.ms };
  const registry = new Registry();
  const metrics = new WriteMetrics(clock);
  metrics.register(registry);
  return { clock, metrics, text: () => registry.metrics() };
}

test('requests that write have their outcome and their time, dry runs their outcome', async () => {
  const { clock, metrics, text } = counted();
  const [one, other, plan] = [
    metrics.sends('east', 'scale', false),
    metrics.sends('east', 'scale', false),
    metrics.sends('east', 'scale', true),
  ];
  clock.ms = 20;
  one('OK');
  plan('DENIED');
  clock.ms = 4000;
  other('STALE_OBJECT');
  const found = await text();
  const labels = { cluster: 'east', verb: 'scale' };
  expect(sampleOf(found, 'portolan_write_requests_total', { ...labels, outcome: 'OK' })).toBe(1);
  expect(sampleOf(found, 'portolan_write_requests_total', { ...labels, outcome: 'STALE_OBJECT' })).toBe(1);
  expect(sampleOf(found, 'portolan_write_requests_total', { ...labels, outcome: 'DENIED' })).toBeUndefined();
  expect(sampleOf(found, 'portolan_write_dry_runs_total', { ...labels, outcome: 'DENIED' })).toBe(1);
  const time = 'portolan_write_request_duration_seconds';
  expect(sampleOf(found, `${time}_count`, { verb: 'scale' })).toBe(2);
  expect(sampleOf(found, `${time}_sum`, { verb: 'scale' })).toBeCloseTo(4.02);
  expect(sampleOf(found, `${time}_bucket`, { verb: 'scale', le: '0.025' })).toBe(1);
});

test('the series are bounded, and each request counts', async () => {
  const { metrics, text } = counted();
  const send = (cluster: string, dryRun: boolean) => metrics.sends(cluster, 'patch', dryRun)('OK');
  const clusters = Array.from({ length: 2 * mostSeries }, (_, index) => `c${index}`);
  for (const cluster of clusters) for (const dryRun of [false, true]) send(cluster, dryRun);
  send('c0', false);
  const samples = samplesOf(await text()).filter(({ name }) => name.endsWith('_total'));
  expect(samples).toHaveLength(mostSeries + 2);
  const found = await text();
  expect(sampleOf(found, 'portolan_write_requests_total', { cluster: 'c0', verb: 'patch', outcome: 'OK' })).toBe(2);
  expect(samples.reduce((sum, { value }) => sum + value, 0)).toBe(2 * clusters.length + 1);
});
