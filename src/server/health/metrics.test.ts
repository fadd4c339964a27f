import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { describedCrd, type EngineFixture, engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { eventually } from '../../../test/kit/eventually.ts';
import { ask } from '../../../test/kit/graphql-client.ts';
import { handMadeSource } from '../../../test/kit/hand-made-source.ts';
import { sampleOf } from '../../../test/kit/prometheus-text.ts';
import { openAcknowledged } from '../../../test/kit/raw-socket.ts';
import { storeFile } from '../../../test/kit/store-file.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { openReader } from '../../store/read/reader.ts';
import type { LeaseOptions, OpenLease } from '../../store/types/lease.ts';
import type { IngestStatus } from '../../store/types/progress.ts';
import { idleStatus } from '../../store/types/progress.ts';
import type { DiskUse } from '../../store/types/writer.ts';
import { startServer } from '../http-server.ts';
import { createMetrics, type MetricsOptions } from './metrics.ts';
import { SetMetrics } from './set-metrics.ts';
import { WriteMetrics } from './write-metrics.ts';

const widgets = 'widgets.example.com';
const gadgets = 'gadgets.example.com';
const status: IngestStatus = { ...idleStatus, phase: 'WATCHING' };

/** A gateway's server with metrics, over this source and reader. */
async function serving(options: Pick<MetricsOptions, 'reader' | 'source'> & Partial<MetricsOptions>) {
  const progress = { ready: true, failing: [] };
  const all = { progress: () => progress, version: '1.2.3', clock: systemClock, log: silentLogger, ...options };
  const metrics = createMetrics(all);
  const { source, log } = all;
  const readiness = () => ({ ready: true });
  const server = await startServer({ host: '127.0.0.1', port: 0, source, readiness, metrics, tabs: [], log });
  onTestFinished(() => server.close());
  const scrape = async (): Promise<string> => {
    const response = await fetch(server.url.replace('/graphql', '/metrics'));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    return response.text();
  };
  return { url: server.url, metrics, scrape };
}

const overStore = ({ reader, engine: { source } }: EngineFixture, more: Partial<MetricsOptions> = {}) =>
  serving({ reader, source, ...more });

/** The hand-made schema over an empty store. */
function overHandMade() {
  const made = handMadeSource();
  const { reader } = engineFixture();
  return { made, serve: () => serving({ reader, source: made.source }) };
}

function declared(): Promise<EngineFixture> {
  const fixture = engineFixture();
  const kind = (plural: string, name: string) => describedCrd({ plural, kind: name, properties: {} });
  return fixture.declare(kind('widgets', 'Widget'), kind('gadgets', 'Gadget')).then(() => fixture);
}

describe('resources', () => {
  test('say how ingest stands with each of them', async () => {
    const fixture = await declared();
    await fixture.sync(widgets, [made({ name: 'a' }), made({ name: 'b' })]);
    const writer = fixture.writer();
    writer.setStatus(fixture.handle(widgets), {
      ...status,
      lastEventAt: 10_000,
      lastSignAt: 11_000,
      restarts: { expired: 2, 'status 500': 1 },
    });
    writer.setStatus(fixture.handle(gadgets), { ...status, phase: 'PARKED', error: 'no', staleSince: 2500 });
    const { scrape } = await overStore(fixture, { clock: { ...systemClock, now: () => 12_500 } });

    const text = await scrape();
    const one = { cluster: 'east', resource: widgets };
    const other = { cluster: 'east', resource: gadgets };
    expect(sampleOf(text, 'portolan_resource_objects', one)).toBe(2);
    expect(sampleOf(text, 'portolan_resource_synced', one)).toBe(1);
    expect(sampleOf(text, 'portolan_resource_phase', { ...one, phase: 'WATCHING' })).toBe(1);
    expect(sampleOf(text, 'portolan_resource_last_event_age_seconds', one)).toBe(2.5);
    expect(sampleOf(text, 'portolan_resource_last_sign_age_seconds', one)).toBe(1.5);
    expect(sampleOf(text, 'portolan_resource_stale_seconds', one)).toBe(0);
    expect(sampleOf(text, 'portolan_resource_stale_seconds', other)).toBe(10);
    expect(sampleOf(text, 'portolan_resource_restarts_total', { ...one, reason: 'expired' })).toBe(2);
    expect(sampleOf(text, 'portolan_resource_restarts_total', { ...one, reason: 'status 500' })).toBe(1);
    expect(sampleOf(text, 'portolan_resource_objects', other)).toBe(0);
    expect(sampleOf(text, 'portolan_resource_synced', other)).toBe(0);
    expect(sampleOf(text, 'portolan_resource_phase', { ...other, phase: 'PARKED' })).toBe(1);
    expect(sampleOf(text, 'portolan_resource_last_event_age_seconds', other)).toBeUndefined();
    expect(sampleOf(text, 'portolan_store_up')).toBe(1);
    expect(sampleOf(text, 'portolan_store_revision')).toBe(writer.revision());
    expect(sampleOf(text, 'portolan_store_log_floor')).toBe(0);
    expect(sampleOf(text, 'portolan_store_log_bytes')).toBeGreaterThan(0);
    expect(sampleOf(text, 'portolan_store_log_reach_seconds')).toBeUndefined();
    expect(sampleOf(text, 'portolan_schema_kinds')).toBe(2);
    expect(sampleOf(text, 'portolan_schema_generations_total')).toBe(1);
  });

  test('the published schemas are counted, and a change of rights is none', async () => {
    const fixture = await declared();
    const { scrape } = await overStore(fixture);
    fixture.engine.interrupt();
    expect(sampleOf(await scrape(), 'portolan_schema_generations_total')).toBe(1);
  });

  test('a phase that has passed, and a resource that is gone, leave no series', async () => {
    const fixture = await declared();
    const { scrape } = await overStore(fixture);
    const one = { cluster: 'east', resource: widgets };
    fixture.writer().setStatus(fixture.handle(widgets), { ...status, phase: 'LISTING', restarts: { network: 4 } });
    expect(sampleOf(await scrape(), 'portolan_resource_phase', { ...one, phase: 'LISTING' })).toBe(1);
    fixture.writer().setStatus(fixture.handle(widgets), { ...status, restarts: { network: 4 } });
    const second = await scrape();
    expect(sampleOf(second, 'portolan_resource_phase', { ...one, phase: 'LISTING' })).toBeUndefined();
    expect(sampleOf(second, 'portolan_resource_phase', { ...one, phase: 'WATCHING' })).toBe(1);
    expect(sampleOf(second, 'portolan_resource_restarts_total', { ...one, reason: 'network' })).toBe(4);
    await fixture.writer().drop(fixture.handle(widgets));
    expect(await scrape()).not.toContain(widgets);
  });

  test('what fails is named, a whole cluster too', async () => {
    const failing = [
      { cluster: 'east', resource: widgets, error: 'no' },
      { cluster: 'west', resource: 'everything', error: 'no' },
    ];
    let progress = { ready: false, failing };
    const { scrape } = await overStore(engineFixture(), { progress: () => progress });
    const first = await scrape();
    expect(sampleOf(first, 'portolan_ready')).toBe(0);
    expect(sampleOf(first, 'portolan_failing', { cluster: 'east', resource: widgets })).toBe(1);
    expect(sampleOf(first, 'portolan_failing', { cluster: 'west', resource: 'everything' })).toBe(1);
    progress = { ready: true, failing: [] };
    const second = await scrape();
    expect(sampleOf(second, 'portolan_ready')).toBe(1);
    expect(second).not.toContain('portolan_failing{');
  });

  test('room on the disk, and what was given up for it', async () => {
    const disk: DiskUse = { usedBytes: 7, maxBytes: 9, tight: true, shed: { changes: 5, events: 3 } };
    let progress: { ready: boolean; failing: []; disk: DiskUse | null } = { ready: true, failing: [], disk };
    const { scrape } = await overStore(engineFixture(), { progress: () => progress });
    const first = await scrape();
    expect(sampleOf(first, 'portolan_store_bytes')).toBe(7);
    expect(sampleOf(first, 'portolan_store_max_bytes')).toBe(9);
    expect(sampleOf(first, 'portolan_store_tight')).toBe(1);
    expect(sampleOf(first, 'portolan_store_shed_total', { what: 'changes' })).toBe(5);
    expect(sampleOf(first, 'portolan_store_shed_total', { what: 'events' })).toBe(3);
    progress = { ...progress, disk: { ...disk, maxBytes: null, tight: false } };
    const second = await scrape();
    expect(sampleOf(second, 'portolan_store_max_bytes')).toBeUndefined();
    expect(sampleOf(second, 'portolan_store_tight')).toBe(0);
    progress = { ...progress, disk: null };
    expect(sampleOf(await scrape(), 'portolan_store_bytes')).toBeUndefined();
  });
});

describe('a scrape', () => {
  test('takes one lease and two small statements, and reads no description', async () => {
    const fixture = await declared();
    const asked: string[] = [];
    let leases = 0;
    const counting = {
      stats: () => fixture.reader.stats(),
      close: () => fixture.reader.close(),
      open: (options?: LeaseOptions) => fixture.reader.open(options),
      lease: <T>(work: (lease: OpenLease) => Promise<T>, options?: LeaseOptions) => {
        leases += 1;
        return fixture.reader.lease(
          ({ revision, epoch, ...lease }) =>
            work({
              ...lease,
              revision,
              epoch,
              end: () => {},
              fill: async () => [],
              all: async (statement) => {
                asked.push(statement.sql);
                return [];
              },
            }),
          options,
        );
      },
    };
    const { metrics } = await overStore({ ...fixture, reader: counting });
    await metrics.text();
    expect(asked).toHaveLength(2);
    expect(asked.join()).not.toContain('description');
    expect(leases).toBe(1);
    await Promise.all([metrics.text(), metrics.text(), metrics.text()]);
    expect(leases).toBe(2);
  });

  test('is answered before there is a store or a schema', async () => {
    const reader = openReader(storeFile(), { readers: 1 });
    onTestFinished(() => reader.close());
    const made = handMadeSource();
    made.forget();
    const { scrape } = await serving({ reader, source: made.source });
    const text = await scrape();
    expect(sampleOf(text, 'portolan_store_up')).toBe(0);
    expect(sampleOf(text, 'portolan_store_revision')).toBeUndefined();
    expect(sampleOf(text, 'portolan_scrape_failures_total', { part: 'store' })).toBe(1);
    expect(sampleOf(text, 'portolan_store_readers')).toBe(1);
    expect(sampleOf(text, 'portolan_schema_kinds')).toBe(0);
    expect(text).not.toContain('portolan_resource_phase{');
  });

  test('does not wait for a store whose readers are all taken, and sees who has them', async () => {
    const fixture = await declared();
    const { scrape } = await overStore(fixture, { patienceMs: 20 });
    const leases = await Promise.all([fixture.reader.open(), fixture.reader.open()]);
    const text = await scrape();
    expect(sampleOf(text, 'portolan_store_up')).toBe(0);
    expect(sampleOf(text, 'portolan_store_leases', { state: 'running' })).toBe(2);
    expect(sampleOf(text, 'portolan_store_leases', { state: 'waiting' })).toBe(0);
    for (const lease of leases) lease.end();
    await eventually(async () => expect(sampleOf(await scrape(), 'portolan_store_up')).toBe(1));
  });

  test('survives a part that throws', async () => {
    const fixture = await declared();
    const { scrape } = await overStore(fixture, {
      progress: () => {
        throw new Error('no progress');
      },
    });
    const text = await scrape();
    expect(sampleOf(text, 'portolan_scrape_failures_total', { part: 'readiness' })).toBe(1);
    expect(sampleOf(text, 'portolan_store_up')).toBe(1);
  });

  test('says what the process needs, and which version runs', async () => {
    const text = await (await overStore(engineFixture())).scrape();
    expect(sampleOf(text, 'process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
    expect(sampleOf(text, 'portolan_build_info', { version: '1.2.3' })).toBe(1);
  });

  test('knows nothing of another gateway in the same process', async () => {
    const one = overHandMade();
    const other = await overHandMade().serve();
    await ask((await one.serve()).url, '{ greeting }');
    expect(sampleOf(await other.scrape(), 'portolan_graphql_operations_total', { type: 'query', code: 'OK' })).toBe(0);
  });
});

describe('operations', () => {
  const operations = 'portolan_graphql_operations_total';

  test.each([
    ['{ greeting }', 'query', 'OK'],
    ['{ greeting refused }', 'query', 'CONFLICT'],
    ['{ refusedInGraphQL }', 'query', 'GONE'],
    ['{ defect }', 'query', 'INTERNAL_SERVER_ERROR'],
    ['query ($n: Int!) { echo(number: $n) }', 'query', 'BAD_USER_INPUT'],
    ['{ nothing }', 'query', 'GRAPHQL_VALIDATION_FAILED'],
    ['subscription { nothing }', 'subscription', 'GRAPHQL_VALIDATION_FAILED'],
    ['query A { greeting } query B { greeting }', 'unknown', 'OPERATION_RESOLUTION_FAILURE'],
    ['{ ', 'unknown', 'GRAPHQL_PARSE_FAILED'],
    [`{ ${'nested { '.repeat(40)} name ${'}'.repeat(40)} }`, 'query', 'QUERY_TOO_COSTLY'],
  ])('%s is a %s with %s, each time', async (document, type, code) => {
    const { url, scrape } = await overHandMade().serve();
    const answers = [await ask(url, document), await ask(url, document)];
    for (const { errors } of answers) expect(errors?.[0]?.extensions?.['code'] ?? 'OK').toBe(code);
    const text = await scrape();
    expect(sampleOf(text, operations, { type, code })).toBe(2);
    const all = text.split('\n').filter((line) => line.startsWith(`${operations}{`));
    expect(all.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)).toBe(2);
  });

  test('without a schema they are counted as not ready', async () => {
    const { made, serve } = overHandMade();
    const { url, scrape } = await serve();
    made.forget();
    await ask(url, '{ greeting }');
    expect(sampleOf(await scrape(), operations, { type: 'unknown', code: 'CACHE_NOT_READY' })).toBe(1);
  });

  test('take as long as they are executed', async () => {
    const { made, serve } = overHandMade();
    const { url, scrape } = await serve();
    const answered = ask(url, '{ held }');
    await eventually(() => expect(made.leases.opened).toBe(1));
    const count = 'portolan_graphql_operation_duration_seconds_count';
    expect(sampleOf(await scrape(), count, { type: 'query' })).toBeUndefined();
    made.release();
    await answered;
    expect(sampleOf(await scrape(), count, { type: 'query' })).toBe(1);
  });

  test('whose caller goes are cancelled', async () => {
    const { made, serve } = overHandMade();
    const { url, scrape } = await serve();
    const gone = new AbortController();
    const headers = { 'content-type': 'application/json' };
    const asked = fetch(url, { method: 'POST', headers, body: '{"query":"{held}"}', signal: gone.signal });
    await eventually(() => expect(made.leases.opened).toBe(1));
    gone.abort();
    await expect(asked).rejects.toThrow();
    await eventually(async () =>
      expect(sampleOf(await scrape(), operations, { type: 'query', code: 'CANCELLED' })).toBe(1),
    );
  });

  test('over WebSocket count too', async () => {
    const { url, scrape } = await overHandMade().serve();
    const socket = await openAcknowledged(url);
    onTestFinished(() => socket.close());
    for (const query of [
      '{ greeting }',
      '{ refused }',
      '{ nothing }',
      '{ ',
      'query A { greeting } query B { greeting }',
    ]) {
      socket.send({ id: query, type: 'subscribe', payload: { query } });
      for (let message = await socket.next(); message.type === 'next'; ) message = await socket.next();
    }
    const text = await scrape();
    expect(sampleOf(text, operations, { type: 'query', code: 'OK' })).toBe(1);
    expect(sampleOf(text, operations, { type: 'query', code: 'CONFLICT' })).toBe(1);
    expect(sampleOf(text, operations, { type: 'query', code: 'GRAPHQL_VALIDATION_FAILED' })).toBe(1);
    expect(sampleOf(text, operations, { type: 'unknown', code: 'GRAPHQL_PARSE_FAILED' })).toBe(1);
    expect(sampleOf(text, operations, { type: 'unknown', code: 'OPERATION_RESOLUTION_FAILURE' })).toBe(1);
  });
});

describe('subscriptions', () => {
  const open = 'portolan_graphql_subscriptions';
  const began = (text: string, code: string) =>
    sampleOf(text, 'portolan_graphql_operations_total', { type: 'subscription', code });

  test.each(['complete', 'lost'])('are open until they are %s', async (how) => {
    const { url, scrape } = await overHandMade().serve();
    const socket = await openAcknowledged(url);
    for (const id of ['1', '2']) {
      socket.send({ id, type: 'subscribe', payload: { query: 'subscription { ticks }' } });
    }
    await eventually(async () => expect(sampleOf(await scrape(), open)).toBe(2));
    if (how === 'lost') socket.terminate();
    else for (const id of ['1', '2']) socket.send({ id, type: 'complete' });
    await eventually(async () => expect(sampleOf(await scrape(), open)).toBe(0));
    expect(began(await scrape(), 'OK')).toBe(2);
    socket.close();
  });

  test.each(['ticks(most: 2)', 'tears'])('that end by themselves are closed: %s', async (field) => {
    const { url, scrape } = await overHandMade().serve();
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
    const body = JSON.stringify({ query: `subscription { ${field} }` });
    await (await fetch(url, { method: 'POST', headers, body })).text();
    const text = await scrape();
    expect([sampleOf(text, open), began(text, 'OK')]).toEqual([0, 1]);
  });

  test.each(['application/json', 'multipart/mixed'])(
    'whose messages nobody can take are not open: %s',
    async (accept) => {
      const { url, scrape } = await overHandMade().serve();
      const headers = { 'content-type': 'application/json', accept };
      const { status } = await fetch(url, { method: 'POST', headers, body: '{"query":"subscription { ticks }"}' });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(sampleOf(await scrape(), open)).toBe(0);
    },
  );

  test('that are refused were never open', async () => {
    const { url, scrape } = await overHandMade().serve();
    const socket = await openAcknowledged(url);
    onTestFinished(() => socket.close());
    socket.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { refused }' } });
    await socket.next();
    const text = await scrape();
    expect([sampleOf(text, open), began(text, 'OK'), began(text, 'FORBIDDEN')]).toEqual([0, 0, 1]);
  });
});

describe('the feed', () => {
  test('counts what it reads for the kinds that have subscribers', async () => {
    const fixture = await declared();
    await fixture.sync(widgets, []);
    await fixture.sync(gadgets, []);
    const { feed } = fixture.engine.source;
    const { scrape } = await overStore(fixture);
    const reads = async (): Promise<readonly unknown[]> => {
      const text = await scrape();
      const names = ['leases_total', 'changes_read_total', 'bodies_read_total', 'window_changes'];
      return names.map((name) => sampleOf(text, `portolan_feed_${name}`));
    };
    expect(await reads()).toEqual([0, 0, 0, 0]);
    const messages = await fixture.subscribe('subscription { exampleComWidgetChanges { phase changes { type } } }');
    await messages.next();
    const next = messages.next();
    await eventually(() => expect(feed.waiting).toBe(1));
    fixture.apply(widgets, 'ADDED', made({ name: 'a' }));
    await next;
    const following = messages.next();
    await eventually(() => expect(feed.waiting).toBe(1));
    const [leases] = await reads();
    fixture.apply(gadgets, 'ADDED', made({ name: 'b' }));
    expect(await reads()).toEqual([leases, 1, 1, 1]);
    fixture.apply(widgets, 'MODIFIED', made({ name: 'a' }));
    await following;
    expect(await reads()).toEqual([expect.any(Number), 2, 3, 2]);
  });
});

test('docs/operating.md lists exactly what there is', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/operating.md'), 'utf8');
  const { metrics } = await overStore(engineFixture(), {
    writes: new WriteMetrics(systemClock),
    sets: new SetMetrics(systemClock),
  });
  const rows = metrics.described().map(({ name, type, labels, help }) => {
    const named = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${named} | ${help} |`;
  });
  expect(page.split('\n').filter((line) => line.startsWith('| `portolan_'))).toEqual(rows);
});
