/** The metrics of ingest by resource and by cluster, and their bound. */
import { expect, test } from 'vitest';
import { handMadeSource } from '../../../test/kit/hand-made-source.ts';
import { sampleOf, samplesOf } from '../../../test/kit/prometheus-text.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import type { PooledReader } from '../../store/read/reader.ts';
import { type IngestStatus, idleStatus, type ResourceProgress } from '../../store/types/progress.ts';
import { createMetrics, type MetricsOptions } from './metrics.ts';
import type { Failing } from './readiness.ts';
import { mostSeries } from './resource-metrics.ts';

const watching: IngestStatus = { ...idleStatus, phase: 'WATCHING', lastEventAt: 9000, lastSignAt: 9500 };

function resource(cluster: string, key: string, status: Partial<IngestStatus> = {}, objects = 1): ResourceProgress {
  const known = { cluster, key, objects, synced: true, lastResourceVersion: '1', collections: [] };
  return { ...known, status: { ...watching, ...status } };
}

const clusters = (count: number): readonly ResourceProgress[] =>
  Array.from({ length: count }, (_, index) => resource(`c${index}`, 'pods'));

/** Metrics over these resources, at 10,000 milliseconds. */
function measured(options: Partial<MetricsOptions> = {}) {
  const state = { resources: [] as readonly ResourceProgress[], failing: [] as readonly Failing[] };
  const warnings: object[] = [];
  const stats = { readers: 1, active: 0, waiting: 0, walBytes: 0, cutForWal: 0, restarts: 0 };
  const reader = {
    stats: () => stats,
    lease: async () => ({ resources: state.resources, revision: 1, log: { floor: 0, bytes: 0, wholeSince: null } }),
  } as unknown as PooledReader;
  const metrics = createMetrics({
    reader,
    source: handMadeSource().source,
    progress: () => ({ ready: true, failing: state.failing }),
    version: '1.2.3',
    clock: { ...systemClock, now: () => 10_000 },
    log: { ...silentLogger, warn: (fields) => void warnings.push(fields) },
    ...options,
  });
  return { state, warnings, text: () => metrics.text() };
}

test('by cluster, numbers are sums and ages are those of the whole cluster', async () => {
  const { state, text } = measured({ by: 'cluster' });
  state.resources = [
    resource('east', 'pods', { restarts: { network: 2, expired: 1 } }, 5),
    resource('east', 'nodes', { lastEventAt: 4000, lastSignAt: 5000, staleSince: 6000, restarts: { network: 3 } }, 7),
    { ...resource('east', 'secrets', { ...idleStatus, phase: 'PARKED' }, 0), synced: false },
    resource('west', 'pods'),
  ];
  state.failing = [
    { cluster: 'east', resource: 'secrets', error: 'no' },
    { cluster: 'east', resource: 'nodes', error: 'no' },
    { cluster: 'north', resource: 'everything', error: 'no' },
  ];
  const scrape = await text();
  const east = { cluster: 'east' };
  expect(sampleOf(scrape, 'portolan_resource_objects', east)).toBe(12);
  expect(sampleOf(scrape, 'portolan_resource_synced', east)).toBe(2);
  expect(sampleOf(scrape, 'portolan_resource_phase', { ...east, phase: 'WATCHING' })).toBe(2);
  expect(sampleOf(scrape, 'portolan_resource_phase', { ...east, phase: 'PARKED' })).toBe(1);
  expect(sampleOf(scrape, 'portolan_resource_last_event_age_seconds', east)).toBe(1);
  expect(sampleOf(scrape, 'portolan_resource_last_sign_age_seconds', east)).toBe(0.5);
  expect(sampleOf(scrape, 'portolan_resource_stale_seconds', east)).toBe(4);
  expect(sampleOf(scrape, 'portolan_resource_restarts_total', { ...east, reason: 'network' })).toBe(5);
  expect(sampleOf(scrape, 'portolan_resource_restarts_total', { ...east, reason: 'expired' })).toBe(1);
  expect(sampleOf(scrape, 'portolan_failing', east)).toBe(2);
  expect(sampleOf(scrape, 'portolan_failing', { cluster: 'north' })).toBe(1);
  expect(sampleOf(scrape, 'portolan_resource_stale_seconds', { cluster: 'west' })).toBe(0);
  expect(samplesOf(scrape).filter(({ labels }) => 'resource' in labels)).toEqual([]);
});

test('the sums over both forms are the same', async () => {
  const all = [
    resource('east', 'pods', { restarts: { network: 2 } }, 5),
    resource('east', 'nodes', { phase: 'BACKOFF', restarts: { network: 3 } }, 7),
  ];
  const sums = await Promise.all(
    (['resource', 'cluster'] as const).map(async (by) => {
      const { state, text } = measured({ by });
      state.resources = all;
      state.failing = [{ cluster: 'east', resource: 'nodes', error: 'no' }];
      const samples = samplesOf(await text());
      const names = ['failing', 'resource_objects', 'resource_synced', 'resource_restarts_total'];
      return names.map((name) =>
        samples.filter((each) => each.name === `portolan_${name}`).reduce((sum, { value }) => sum + value, 0),
      );
    }),
  );
  expect(sums[0]).toEqual([1, 12, 2, 5]);
  expect(sums[1]).toEqual(sums[0]);
});

test.each([
  ['auto', 10, 'resource'],
  ['auto', 11, 'cluster'],
  ['resource', 11, 'resource'],
  ['cluster', 1, 'cluster'],
] as const)('%s over %i clusters is by %s', async (by, count, form) => {
  const { state, text } = measured({ by });
  state.resources = clusters(count);
  state.failing = [{ cluster: 'c0', resource: 'pods', error: 'no' }];
  const found = samplesOf(await text()).filter(({ name }) => /^portolan_(failing|resource_objects)$/.test(name));
  expect(found).toHaveLength(count + 1);
  expect(found.every(({ labels }) => 'resource' in labels === (form === 'resource'))).toBe(true);
});

test('the counter of a cluster keeps the restarts of a removed resource, and counts one that comes again', async () => {
  const { state, text } = measured({ by: 'cluster' });
  const of = async (): Promise<unknown> =>
    sampleOf(await text(), 'portolan_resource_restarts_total', { cluster: 'east', reason: 'network' });
  const pods = resource('east', 'pods', { restarts: { network: 4 } });
  state.resources = [pods, resource('east', 'widgets', { restarts: { network: 6 } })];
  expect(await of()).toBe(10);
  state.resources = [pods];
  expect(await of()).toBe(10);
  state.resources = [pods, resource('east', 'widgets', { restarts: { network: 1 } })];
  expect(await of()).toBe(11);
  state.resources = [resource('west', 'pods')];
  expect(await of()).toBeUndefined();
});

test.each(['resource', 'cluster'] as const)('a gateway has at most 10,000 series of its own, by %s too', async (by) => {
  const { state, warnings, text } = measured({ by });
  const all = Array.from({ length: 3000 }, (_, index) => resource(`c${index}`, 'pods', { restarts: { network: 1 } }));
  const stale = resource('z', 'pods', { phase: 'BACKOFF', staleSince: 1000 });
  state.resources = [...all, stale];
  state.failing = all.map(({ cluster, key }) => ({ cluster, resource: key, error: 'no' }));
  const first = await text();
  const own = samplesOf(first).filter(({ name }) => name.startsWith('portolan_'));
  expect(own.length).toBeGreaterThan(mostSeries - 10);
  expect(own.length).toBeLessThanOrEqual(10_000);
  const ofZ = by === 'resource' ? { cluster: 'z', resource: 'pods' } : { cluster: 'z' };
  expect(sampleOf(first, 'portolan_resource_stale_seconds', ofZ)).toBe(9);
  const ingest = own.filter(({ name }) => /^portolan_(resource_|failing)/.test(name)).length;
  // Seven series for each of the resources, one less for that which did not restart, and one for each failure.
  const leftOut = 3000 * 7 + 6 + 3000 - ingest;
  expect(sampleOf(first, 'portolan_scrape_series_left_out')).toBe(leftOut);
  await text();
  expect(warnings).toEqual([{ series: leftOut }]);
  state.resources = [stale];
  state.failing = [];
  expect(sampleOf(await text(), 'portolan_scrape_series_left_out')).toBe(0);
});
