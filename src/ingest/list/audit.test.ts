/** R24: audits compare tables with the server and repair differences. */
import { expect, test } from 'vitest';
import { eventually } from '../../../test/kit/eventually.ts';
import { configMap, equal, ready, run, simulated } from '../../../test/kit/ingest-bench.ts';
import { ManualClock, settle } from '../../../test/kit/manual-clock.ts';
import { must } from '../../base/must.ts';
import { Database } from '../../store/sqlite/database.ts';
import { Auditor } from '../reflector/auditor.ts';

const only = { include: ['configmaps'] };
const quick = { auditMs: 200, pageSize: 2 };

/** A cluster with five ConfigMaps, ingested with an audit every fifth of a second. */
async function audited(namespaces: readonly string[] = []) {
  const { sim, options } = await simulated();
  for (const name of ['a', 'b', 'c', 'd', 'e']) sim.create(configMap(name));
  const running = run([options], { ...only, namespaces, reflector: quick });
  await ready(running);
  const audits = (): string[] => running.asked.filter((each) => each.includes('resourceVersionMatch=Exact'));
  const state = () => must(running.writer.states()[0], 'a state');
  /** Changes rows without the writer. */
  const tamper = (sql: string): void => {
    const database = new Database(running.file);
    try {
      database.pragma('busy_timeout = 5000');
      expect(database.statement(sql).run().changes).toBe(1);
    } finally {
      database.close();
    }
  };
  return { sim, running, audits, state, tamper };
}

test('a right table costs a list of metadata at its version, page by page, and no write', async () => {
  const { running, audits, state } = await audited();
  const { revision, lists } = { revision: running.writer.revision(), lists: listsOf(running.asked) };
  await eventually(() => expect(audits().length).toBeGreaterThan(2));
  expect(audits()[0]).toMatch(/^GET \/api\/v1\/configmaps\?limit=2&resourceVersion=\d+&resourceVersionMatch=Exact$/);
  expect(running.asked.filter((each) => each.includes('continue=')).length).toBeGreaterThan(3);
  expect(running.writer.revision()).toBe(revision);
  expect(listsOf(running.asked)).toBe(lists);
  expect(state().status.restarts['audit']).toBeUndefined();
});

test.each([
  ['a version that was never sent', `UPDATE object SET rv = '1' WHERE name = 'b'`],
  ['another uid', `UPDATE object SET uid = 'other' WHERE name = 'b'`],
  ['an object that is missing', `DELETE FROM object WHERE name = 'b'`],
  [
    'an object too many',
    `INSERT INTO object SELECT id + 1000000, kind, cluster, rowset, namespace, 'ghost', 'ghost', rv, created, deleting, seq, marks, health, health_reason, health_message, health_source
     FROM object WHERE name = 'b'`,
  ],
])('%s in the table is found, counted and repaired by a list', async (_, sql) => {
  const { sim, running, state, tamper } = await audited();
  const lists = listsOf(running.asked);
  tamper(sql);
  await eventually(() => expect(state().status.restarts['audit']).toBeGreaterThan(0));
  await equal(sim, running);
  expect(listsOf(running.asked)).toBeGreaterThan(lists);
  await eventually(() => expect(state().status).toMatchObject({ phase: 'WATCHING', error: null }));
});

test('one namespace is compared with its own list', async () => {
  const { audits, state, tamper, sim, running } = await audited(['default']);
  tamper(`UPDATE object SET rv = '1' WHERE name = 'b'`);
  await eventually(() => expect(state().status.restarts['audit']).toBeGreaterThan(0));
  expect(audits()[0]).toContain('/api/v1/namespaces/default/configmaps?');
  await equal(sim, running);
});

test('what changes while the list is under way is no finding', async () => {
  const { sim, running, audits, state } = await audited();
  for (let round = 0; round < 60; round += 1) {
    sim.create(configMap(`new-${round}`));
    sim.update({ ...configMap('a'), data: { round: String(round) } });
    if (round > 0) sim.delete(`/api/v1/namespaces/default/configmaps/new-${round - 1}`);
    const before = audits().length;
    if (round % 10 === 9) await eventually(() => expect(audits().length).toBeGreaterThan(before));
    else await settle();
  }
  expect(state().status.restarts['audit']).toBeUndefined();
  await equal(sim, running);
});

test('a server that has forgotten that version is asked again in the next round', async () => {
  const { sim, audits, state } = await audited();
  sim.compact();
  const before = audits().length;
  await eventually(() => expect(audits().length).toBeGreaterThan(before + 1));
  expect(state().status.restarts['audit']).toBeUndefined();
});

test('audits are spread over the interval, one at a time', async () => {
  const clock = new ManualClock();
  const done: string[] = [];
  const audits = () => ['a', 'b', 'c', 'd'].map((name) => async () => void done.push(`${name} ${clock.now() - begun}`));
  const begun = clock.now();
  const auditor = new Auditor({ clock, random: () => 0.5, intervalMs: 4000, audits });
  await clock.advance(8000);
  expect(done).toEqual(['a 1000', 'b 2000', 'c 3000', 'd 4000', 'a 5000', 'b 6000', 'c 7000', 'd 8000']);
  await auditor.stop();
  expect(clock.sleepers).toBe(0);
});

/** The first requests of lists, streamed or paged, except those of audits. */
function listsOf(asked: readonly string[]): number {
  return asked.filter((each) =>
    /configmaps\?(limit=\d+(&resourceVersion=\d+&resourceVersionMatch=NotOlderThan)?$|.*sendInitialEvents)/.test(each),
  ).length;
}
