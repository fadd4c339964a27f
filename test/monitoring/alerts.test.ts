/** Each alert of deploy/chart/files/alerts.yaml fires in the state that it is for, and is silent in a normal one. */
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { createMetrics, type MetricsOptions } from '../../src/server/health/metrics.ts';
import { startServer } from '../../src/server/http-server.ts';
import { openReader } from '../../src/store/read/reader.ts';
import { type IngestStatus, idleStatus } from '../../src/store/types/progress.ts';
import { engineFixture } from '../kit/engine-fixture.ts';
import { ask } from '../kit/graphql-client.ts';
import { widget, widgets } from '../kit/graphql-world.ts';
import { handMadeSource } from '../kit/hand-made-source.ts';
import { samplesOf } from '../kit/prometheus-text.ts';
import { evaluate, parsePromql } from '../kit/promql.ts';
import { storeFile } from '../kit/store-file.ts';
import { readAlerts } from './alert-rules.ts';

const watching: IngestStatus = { ...idleStatus, phase: 'WATCHING', lastEventAt: 1_000_000, lastSignAt: 1_000_000 };

/** A gateway's metrics over a store with one resource. A change of the test is in the next scrape. */
async function measured(more: Partial<MetricsOptions> = {}) {
  const fixture = engineFixture();
  await fixture.declare(widget());
  await fixture.sync(widgets, []);
  // A changed phase is written at once, and other changes with it.
  const setStatus = (status: Partial<IngestStatus>): void => {
    for (const each of [{ phase: 'LISTING' } as const, status]) {
      fixture.writer().setStatus(fixture.handle(widgets), { ...watching, ...each });
    }
  };
  setStatus({});
  const state = {
    progress: { ready: true, failing: [] } as ReturnType<MetricsOptions['progress']>,
    rights: { checked: 1, alarmed: false },
    stats: { restarts: 0, cutForWal: 0 },
    config: { waiting: [] as string[], isRefused: false },
    refusedSecrets: 0,
    audit: { isWritable: true, written: 1, missing: 0 },
  };
  const metrics = createMetrics({
    reader: {
      ...fixture.reader,
      stats: () => ({ ...fixture.reader.stats(), ...state.stats }),
      lease: (...args) => fixture.reader.lease(...args),
    },
    source: fixture.engine.source,
    progress: () => state.progress,
    rightsChecks: () => state.rights,
    config: state.config,
    refusedSecrets: () => state.refusedSecrets,
    audit: () => state.audit,
    version: '1.2.3',
    clock: { ...systemClock, now: () => 1_000_000 },
    log: silentLogger,
    ...more,
  });
  return { state, setStatus, text: () => metrics.text() };
}

type World = Awaited<ReturnType<typeof measured>>;

/** The names of the alerts that fire after these scrapes. */
function firing(texts: readonly string[]): readonly string[] {
  const scrapes = texts.map((text) =>
    samplesOf(text).map(({ labels, ...each }) => ({ ...each, labels: { ...labels, instance: 'gateway' } })),
  );
  return readAlerts()
    .filter(({ expr }) => evaluate(parsePromql(expr), scrapes).length > 0)
    .map(({ alert }) => alert);
}

/** The change between two scrapes that lets an alert fire. */
const cases: Readonly<Record<string, (world: World) => void>> = {
  PortolanNotReady: ({ state }) => {
    state.progress = { ready: false, failing: [] };
  },
  PortolanRightsAlarm: ({ state }) => {
    state.rights = { checked: 2, alarmed: true };
  },
  PortolanAuditNotWritable: ({ state }) => {
    state.audit = { isWritable: false, written: 1, missing: 1 };
  },
  PortolanConfigRefused: ({ state }) => {
    state.config.isRefused = true;
  },
  PortolanRestartNeeded: ({ state }) => {
    state.config.waiting = ['--port'];
  },
  PortolanClusterSecretRefused: ({ state }) => {
    state.refusedSecrets = 1;
  },
  PortolanSeriesLeftOut: ({ state }) => {
    const failing = Array.from({ length: 1001 }, (_, index) => ({
      cluster: 'east',
      resource: `r${index}`,
      error: 'no',
    }));
    state.progress = { ready: true, failing };
  },
  PortolanResourceFailing: ({ state }) => {
    state.progress = { ready: true, failing: [{ cluster: 'east', resource: 'everything', error: 'no' }] };
  },
  PortolanObjectsStale: ({ setStatus }) => setStatus({ phase: 'BACKOFF', staleSince: 600_000 }),
  PortolanIngestRestarts: ({ setStatus }) => setStatus({ restarts: { network: 12 } }),
  PortolanTableWrong: ({ setStatus }) => setStatus({ restarts: { network: 1, audit: 1 } }),
  PortolanReaderDied: ({ state }) => {
    state.stats = { restarts: 1, cutForWal: 0 };
  },
  PortolanReadsCut: ({ state }) => {
    state.stats = { restarts: 0, cutForWal: 1 };
  },
  PortolanStoreFault: ({ state }) => {
    state.progress = { ready: true, failing: [], fault: { kind: 'readonly', error: 'it is read-only', since: 1 } };
  },
  PortolanStoreTight: ({ state }) => {
    const disk = { usedBytes: 9, maxBytes: 10, tight: true, shed: { changes: 1, events: 0 } };
    state.progress = { ready: true, failing: [], disk };
  },
};

test.each(Object.entries(cases))('%s fires, and before it none', async (alert, change) => {
  const world = await measured();
  world.setStatus({ restarts: { network: 1 } });
  const before = await world.text();
  expect(firing([before, before])).toEqual([]);
  change(world);
  const others = alert === 'PortolanSeriesLeftOut' ? ['PortolanResourceFailing'] : [];
  expect(firing([before, await world.text()]).toSorted()).toEqual([alert, ...others].toSorted());
});

test('PortolanIngestRestarts by cluster fires above ten restarts for each resource on average', async () => {
  const world = await measured({ by: 'cluster' });
  world.setStatus({ restarts: { network: 1 } });
  const before = await world.text();
  world.setStatus({ restarts: { network: 11, expired: 90 } });
  expect(firing([before, await world.text()])).toEqual([]);
  world.setStatus({ restarts: { network: 12 } });
  expect(firing([before, await world.text()])).toEqual(['PortolanIngestRestarts']);
});

test('PortolanTableWrong sees a second wrong table too', async () => {
  const world = await measured();
  world.setStatus({ restarts: { audit: 1 } });
  const before = await world.text();
  expect(firing([before, before])).toEqual([]);
  world.setStatus({ restarts: { audit: 2 } });
  expect(firing([before, await world.text()])).toEqual(['PortolanTableWrong']);
});

test('PortolanInternalErrors fires with the first defect', async () => {
  const { source } = handMadeSource();
  const { reader } = engineFixture();
  const metrics = createMetrics({
    ...{ reader, source, version: '1.2.3', clock: systemClock, log: silentLogger },
    progress: () => ({ ready: true, failing: [] }),
  });
  const server = await startServer({
    ...{ host: '127.0.0.1', port: 0, source, metrics, tabs: [], log: silentLogger },
    readiness: () => ({ ready: true }),
  });
  onTestFinished(() => server.close());
  const before = await metrics.text();
  await ask(server.url, '{ greeting refused }');
  expect(firing([before, await metrics.text()])).toEqual([]);
  await ask(server.url, '{ defect }');
  expect(firing([before, await metrics.text()])).toEqual(['PortolanInternalErrors']);
});

test('PortolanStoreUnreadable fires without a store', async () => {
  const reader = openReader(storeFile(), { readers: 1 });
  onTestFinished(() => reader.close());
  const { text } = await measured({ reader });
  const scrape = await text();
  expect(firing([scrape, scrape])).toEqual(['PortolanStoreUnreadable']);
});

test('PortolanAbsent fires without a gateway', () => {
  expect(firing(['', ''])).toEqual(['PortolanAbsent']);
});

test('each alert has a case', () => {
  const here = readFileSync(new URL(import.meta.url), 'utf8');
  expect(readAlerts().filter(({ alert }) => !(alert in cases) && !here.includes(`'${alert} `))).toEqual([]);
});
