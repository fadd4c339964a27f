import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { sampleOf, samplesOf } from '../../../test/kit/prometheus-text.ts';
import { type ProcessMetrics, summedText } from '../../server/health/summed-metrics.ts';
import { KeptMetrics } from './kept-metrics.ts';

/** The metrics of a process that has counted so many. */
async function measured(count: number): Promise<ProcessMetrics> {
  const registry = new Registry();
  const registers = [registry];
  new Counter({ name: 'asked_total', help: '-', labelNames: ['door'], registers }).inc({ door: 'http' }, count);
  new Histogram({ name: 'seconds', help: '-', buckets: [1, 2], registers }).observe(count > 5 ? 1.5 : 0.5);
  new Gauge({ name: 'open', help: '-', registers }).set(count);
  new Counter({ name: 'rebuilt_total', help: '-', labelNames: ['kind'], registers, aggregator: 'first' }).inc(
    { kind: `of ${count}` },
    7,
  );
  return registry.getMetricsAsJSON();
}

/** The exposition of a process that has counted 1, and of the others. */
const shown = async (kept: KeptMetrics): Promise<string> => summedText([await measured(1), ...kept.without(1)]);

test('a process that ends leaves its counters, and no gauge', async () => {
  const kept = new KeptMetrics();
  kept.keep(1, await measured(1));
  kept.keep(2, await measured(10));
  const before = await shown(kept);
  expect(sampleOf(before, 'asked_total', { door: 'http' })).toBe(11);
  expect(sampleOf(before, 'open')).toBe(11);
  await kept.end(2);
  const after = await shown(kept);
  expect(sampleOf(after, 'open')).toBe(1);
  // Values that are the same in every process are left out for a process that has ended.
  expect(samplesOf(after).filter(({ name }) => name === 'rebuilt_total')).toHaveLength(1);
  const countersOf = (text: string) => samplesOf(text).filter(({ name }) => /^asked|^seconds/.test(name));
  expect(countersOf(after)).toEqual(countersOf(before));
});

test('the counters of many that end, also at once, are added', async () => {
  const kept = new KeptMetrics();
  for (let life = 0; life < 5; life += 1) {
    kept.keep(2, await measured(10));
    await kept.end(2);
  }
  for (const process of [2, 3, 4]) kept.keep(process, await measured(100));
  await Promise.all([2, 3, 4].map((process) => kept.end(process)));
  await kept.end(5);
  expect(kept.without(1)).toHaveLength(1);
  const text = await shown(kept);
  expect(sampleOf(text, 'asked_total', { door: 'http' })).toBe(1 + 50 + 300);
  expect(sampleOf(text, 'seconds_count')).toBe(9);
  expect(sampleOf(text, 'seconds_bucket', { le: '1' })).toBe(1);
});

test('the newest values of a process stand for it, and its own are left out for itself', async () => {
  const kept = new KeptMetrics();
  kept.keep(2, await measured(10));
  kept.keep(2, await measured(20));
  expect(sampleOf(await shown(kept), 'asked_total', { door: 'http' })).toBe(21);
  expect(kept.without(2)).toEqual([]);
});
