/** The change log by kind: which entries are removed first, what stays whole, and what the table `kind_log` says of it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { leaseOn } from '../../../test/kit/log-follower.ts';
import { randomRuns } from '../../../test/kit/random-runs.ts';
import { describedResource, event } from '../../../test/kit/store-file.ts';
import { open, read } from '../../../test/kit/written-store.ts';
import { systemClock } from '../../base/clock.ts';
import { readChanges, readLogFloor } from '../read/changes.ts';
import { Database } from '../sqlite/database.ts';
import type { ResourceHandle } from '../types/progress.ts';
import { openWriter, type StoreWriter } from '../write/writer.ts';
import type { WriterOptions } from '../write/writer-options.ts';

/** A store of several kinds, whose time stands still until it is moved. */
function kinds(plurals: readonly string[], options: WriterOptions = {}) {
  let now = Date.parse('2026-01-31T12:00:00Z');
  const all = { ...options, clock: { ...systemClock, now: () => now } };
  const { writer, file } = open(all);
  let rv = 10;
  const handles = plurals.map((plural) => writer.declare(describedResource({ plural, kind: plural })));
  const put = (at: number, name: string, size = 10, using: StoreWriter = writer): void => {
    rv += 1;
    const object = { name, rv, phase: 'x'.repeat(size) };
    using.apply(handles[at] as ResourceHandle, [event('MODIFIED', object)], String(rv));
  };
  return {
    writer,
    file,
    options: all,
    put,
    sync: async () => {
      for (const handle of handles) await writer.replace(handle).commit('10');
    },
    pass: (ms: number) => {
      now += ms;
    },
  };
}

/** Entries and bytes of each kind as they are in the log. */
const counted = `SELECT kind, min(seq), sum(200 + coalesce(octet_length(before), 0) + coalesce(octet_length(managers), 0))
  FROM change GROUP BY kind ORDER BY kind`;
const kept = 'SELECT kind, floor, bytes FROM kind_log WHERE bytes > 0 ORDER BY kind';

test('a quiet kind keeps what it has while a busy one is cut', async () => {
  const store = kinds(['pods', 'deployments'], { changeLog: { maxBytes: 100_000 } });
  await store.sync();
  store.put(1, 'web', 500);
  store.put(1, 'web', 500);
  for (let index = 0; index < 2000; index += 1) {
    store.pass(10);
    store.put(0, `pod-${index % 5}`, 500);
  }
  while (store.writer.maintain());
  const lease = leaseOn(store.file);
  expect(await readLogFloor(lease, 1)).toBeGreaterThan(1500);
  expect(await readLogFloor(lease, 2)).toBe(0);
  expect((await readChanges(lease, { kindId: 2, after: 0, limit: 10 })).map(({ type }) => type)).toEqual([
    'RESET',
    'ADDED',
    'MODIFIED',
  ]);
  lease.end();
});

test('a busy kind keeps its share when many quiet ones have grown for an hour', async () => {
  const quiet = Array.from({ length: 20 }, (_, index) => `quiet${index}`);
  const store = kinds(['pods', ...quiet], { changeLog: { maxBytes: 400_000 } });
  await store.sync();
  for (let minute = 0; minute < 60; minute += 1) {
    store.pass(60_000);
    for (const at of quiet.keys()) store.put(at + 1, 'one', 500);
  }
  for (let index = 0; index < 2000; index += 1) {
    store.pass(10);
    store.put(0, `pod-${index % 5}`, 500);
  }
  const [[pods]] = read(store.file, 'SELECT bytes FROM kind_log WHERE kind = 1') as [[number]];
  const [[others]] = read(store.file, 'SELECT min(bytes) FROM kind_log WHERE kind > 1') as [[number]];
  // An equal share would be 19,000 bytes.
  expect(pods).toBeGreaterThan(200_000);
  expect(others).toBeGreaterThan(1000);
});

test('the newest entry of a kind that was quiet for days is not the first to go', async () => {
  const store = kinds(['pods', 'deployments'], { changeLog: { maxBytes: 4000 } });
  await store.sync();
  store.pass(3 * 86_400_000);
  for (let index = 0; index < 100; index += 1) {
    store.pass(100);
    store.put(0, 'pod', 500);
  }
  store.put(1, 'web', 500);
  for (let index = 0; index < 3; index += 1) store.put(0, 'pod', 500);
  while (store.writer.maintain());
  expect(read(store.file, `SELECT name FROM change WHERE kind = 2 AND type = 'ADDED'`)).toEqual([['web']]);
});

test('bodies that are taken out of the log no longer count, so the log is cut to its bytes', async () => {
  const store = kinds(['pods', 'secrets'], { changeLog: { maxBytes: 60_000 } });
  await store.sync();
  for (let index = 0; index < 20; index += 1) store.put(1, 'one', 2000);
  store.writer.declare(describedResource({ plural: 'secrets', kind: 'secrets', redacted: ['status.phase'] }));
  expect(read(store.file, kept).map(([, , bytes]) => bytes)).toEqual(read(store.file, counted).map(([, , sum]) => sum));
  store.pass(60_000);
  for (let index = 0; index < 100; index += 1) store.put(0, 'pod', 2000);
  while (store.writer.maintain());
  expect(Number(read(store.file, 'SELECT sum(bytes) FROM kind_log')[0]?.[0])).toBeLessThanOrEqual(60_000);
});

test('a transaction that fails leaves the floors and bytes as they were', async () => {
  const store = kinds(['pods'], { changeLog: { maxBytes: 5000 } });
  await store.sync();
  for (let index = 0; index < 40; index += 1) store.put(0, 'pod', 500);
  const before = read(store.file, kept);
  const beside = new Database(store.file);
  beside.exec(`CREATE TRIGGER refuse BEFORE UPDATE ON resource BEGIN SELECT raise(ABORT, 'refused'); END`);
  for (let index = 0; index < 20; index += 1) expect(() => store.put(0, 'pod', 500)).toThrow('refused');
  beside.exec('DROP TRIGGER refuse');
  beside.close();
  expect(read(store.file, kept)).toEqual(before);
  store.put(0, 'pod', 500);
  expect(read(store.file, kept).map(([, , bytes]) => bytes)).toEqual(read(store.file, counted).map(([, , sum]) => sum));
});

test('whatever is written, the log of each kind is whole after its floor, and within the bounds', async () => {
  const step = fc.record({
    kind: fc.nat(3),
    count: fc.integer({ min: 1, max: 60 }),
    size: fc.constantFrom(0, 100, 3000),
    pass: fc.constantFrom(0, 50, 60_000, 5_000_000),
    after: fc.constantFrom('go on', 'maintain', 'reopen'),
  });
  const bounds = { maxBytes: 20_000, maxAgeMs: 20_000_000 };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const store = kinds(['pods', 'nodes', 'things', 'others'], { changeLog: bounds });
      let { writer } = store;
      await store.sync();
      const written: [kind: number, seq: number, at: number][] = [1, 2, 3, 4].map((kind) => [kind, kind, 0]);
      let at = 0;
      for (const { kind, count, size, pass, after } of steps) {
        store.pass(pass);
        at += pass;
        for (let index = 0; index < count; index += 1) {
          store.put(kind, `n${index % 3}`, size, writer);
          written.push([kind + 1, writer.revision(), at]);
        }
        if (after === 'maintain') while (writer.maintain());
        if (after === 'reopen') {
          writer.close();
          writer = openWriter(store.file, { checkpoints: 'inline', ...store.options });
        }
      }
      while (writer.maintain());
      writer.close();
      const begun = Date.parse('2026-01-31T12:00:00Z');
      const floors = read(store.file, 'SELECT kind, floor, since FROM kind_log ORDER BY kind') as number[][];
      for (const [kind, floor = 0, since = 0] of floors) {
        const expected = written.filter(([of, seq]) => of === kind && seq > floor).map(([, seq]) => [seq]);
        expect(read(store.file, `SELECT seq FROM change WHERE kind = ${kind} ORDER BY seq`)).toEqual(expected);
        // The entries that were committed after `since` are there.
        for (const [of, seq, then] of written)
          if (of === kind && begun + then > since) expect(seq).toBeGreaterThan(floor);
      }
      const sums = read(store.file, counted);
      expect(read(store.file, kept).map(([kind, , bytes]) => [kind, bytes])).toEqual(
        sums.map(([kind, , sum]) => [kind, sum]),
      );
      expect(sums.reduce((all, [, , sum]) => all + Number(sum), 0)).toBeLessThanOrEqual(bounds.maxBytes);
      expect(read(store.file, `SELECT 1 FROM change WHERE at < ${begun + at - bounds.maxAgeMs}`)).toEqual([]);
    }),
    { numRuns: randomRuns(12, 40) },
  );
});
