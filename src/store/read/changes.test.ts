/** Reads of the change log by kind: the query plans of the statements, and their results. */
import { expect, onTestFinished, test } from 'vitest';
import { leaseOn } from '../../../test/kit/log-follower.ts';
import { describedResource, event } from '../../../test/kit/store-file.ts';
import { open, read, synced } from '../../../test/kit/written-store.ts';
import { systemClock } from '../../base/clock.ts';
import { Database } from '../sqlite/database.ts';
import { schemaStatements } from '../sqlite/schema.ts';
import { registerSqlFunctions } from '../sqlite/sql-functions.ts';
import type { SqlValue } from '../types/statement.ts';
import { changesOfKind, kindsThatChanged, readChangedKinds, readChanges } from './changes.ts';

function planOf(sql: string, params: readonly SqlValue[]): readonly string[] {
  const database = new Database(':memory:');
  registerSqlFunctions(database, { tick: () => {} });
  for (const statement of schemaStatements) database.exec(statement);
  const plan = database.statement(`EXPLAIN QUERY PLAN ${sql}`).all(...params);
  database.close();
  return plan.map((step) => String(step[3]));
}

test('changes of a kind are one range of an index that has their order', () => {
  const plan = planOf(changesOfKind, [1, 2, 3, 4]);
  expect(plan[0]).toBe('SEARCH c USING INDEX change_kind (kind=? AND seq>? AND seq<?)');
  expect(plan.join()).not.toContain('ORDER BY');
});

test('whether a kind changed is looked up in an index, without rows of the log', () => {
  expect(planOf(kindsThatChanged, ['[[1,2]]'])).toContain(
    'SEARCH c USING COVERING INDEX change_kind (kind=? AND seq>?)',
  );
});

test('tells which kinds changed after their positions, and the floor of the log', async () => {
  // The age of entries decides too which kind is cut.
  const clock = { ...systemClock, now: () => Date.parse('2026-01-02T00:00:00Z') };
  const { writer, file } = open({ changeLog: { maxBytes: 800 }, clock });
  const pods = await synced(writer);
  const nodes = writer.declare(describedResource({ plural: 'nodes', kind: 'Node' }));
  await writer.replace(nodes).commit('1');
  const [[podKind], [nodeKind]] = read(file, 'SELECT id FROM kind ORDER BY key DESC') as [[number], [number]];
  const before = writer.revision();
  for (let rv = 11; rv < 20; rv += 1) writer.apply(pods, [event('MODIFIED', { name: 'a', rv })], String(rv));
  while (writer.maintain());
  const lease = leaseOn(file);
  onTestFinished(() => lease.end());
  const positions = (podsAt: number, nodesAt: number) =>
    new Map([
      [podKind, podsAt],
      [nodeKind, nodesAt],
    ]);
  const [[floor]] = read(file, 'SELECT max(floor) FROM kind_log') as [[number]];
  expect(floor).toBeGreaterThan(before);
  expect(await readChangedKinds(lease, positions(before, before))).toEqual({
    floors: new Map([
      [podKind, floor],
      [nodeKind, 0],
    ]),
    kindIds: new Set([podKind]),
  });
  expect(await readChangedKinds(lease, positions(lease.revision - 1, before))).toMatchObject({
    kindIds: new Set([podKind]),
  });
  expect(await readChangedKinds(lease, positions(lease.revision, before))).toMatchObject({ kindIds: new Set() });
  expect(await readChangedKinds(lease, new Map())).toEqual({ floors: new Map(), kindIds: new Set() });
  const seqs = async (kindId: number) =>
    (await readChanges(lease, { kindId, after: floor, limit: 100 })).map(({ seq }) => seq);
  expect(await seqs(podKind)).toEqual(Array.from({ length: lease.revision - floor }, (_, at) => floor + 1 + at));
  expect(await seqs(nodeKind)).toEqual([]);
});
