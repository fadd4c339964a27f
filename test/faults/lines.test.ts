/** F32 to F39, F50 and F53: lines and objects that are not as they should be, or are unusual. */
import { expect, test } from 'vitest';
import { Database } from '../../src/store/sqlite/database.ts';
import type { FaultNumber, FaultSwitches } from '../kit/faults/faults.ts';
import { type FaultBench, faultBench, startFaultBench } from './fault-bench.ts';
import { widget, widgetCrd } from './widgets.ts';

const aim = { resource: 'configmaps' } as const;
const once = { ...aim, times: 1 } as const;

/** The stored body of a ConfigMap as it would be shown. */
function body({ file }: FaultBench, name: string): string {
  const database = new Database(file, { readonly: true });
  try {
    const [row] = database
      .statement('SELECT coalesce(b.text, json(b.body)) FROM object o JOIN body b USING (id) WHERE o.name = ?')
      .all(name);
    return String(row?.[0]);
  } finally {
    database.close();
  }
}

const nonsense: readonly [FaultNumber, string, FaultSwitches, string][] = [
  ['F32', 'a line that is no JSON', { F32: once }, 'bad json'],
  ['F33', 'an event of no known type', { F33: { ...once, form: 'type' } }, 'unknown event'],
  ['F33', 'an object of another kind', { F33: { ...once, form: 'kind' } }, 'wrong kind'],
  ['F33', 'a Status for an object', { F33: { ...once, form: 'status' } }, 'wrong kind'],
  ['F34', 'an object without a resourceVersion', { F34: { ...once, form: 'resourceVersion' } }, 'no resourceVersion'],
  ['F34', 'an object without a uid', { F34: { ...once, form: 'uid' } }, 'no uid'],
];

test.each(nonsense)(
  '%s: %s is counted, stores nothing, and is watched for again from before it',
  async (fault, _, switches, reason) => {
    const bench = await faultBench();
    const lists = bench.lists().length;
    bench.change('c0', { a: '1' });
    await bench.settled();
    const known = bench.state().lastResourceVersion;
    bench.sim.faults.set(switches);
    bench.change('c1', { a: '1' });
    bench.change('c2', { a: '1' });
    await bench.settled();
    expect(bench.sim.faults.struck(fault)).toBe(1);
    expect(bench.restarts(reason)).toBe(1);
    expect(bench.lists()).toHaveLength(lists);
    const from = Number(bench.watches().at(-1)?.get('resourceVersion'));
    expect(from).toBeGreaterThanOrEqual(Number(known));
    expect(bench.changes()).toEqual(['MODIFIED c0', 'MODIFIED c1', 'MODIFIED c2']);
  },
);

test('F32: nonsense again and again is listed around, then parked, and taken up when it ends', async () => {
  const bench = await faultBench();
  bench.sim.faults.set({ F32: aim });
  const change = (round: number): void => bench.change('c0', { round: String(round) });
  for (let round = 0; bench.restarts('bad json') < 3; round += 1) {
    const watches = bench.watches().length;
    change(round);
    await bench.until(() => expect(bench.watches().length).toBeGreaterThan(watches));
  }
  bench.sim.faults.clear();
  change(99);
  await bench.settled();
  expect(bench.restarts('bad json')).toBeGreaterThanOrEqual(3);
});

test('F35: events that come twice, and old ones that come again, change nothing', async () => {
  const bench = await faultBench();
  bench.sim.faults.set({ F35: aim });
  bench.change('c0', { a: '1' });
  bench.create('new');
  bench.remove('c1');
  bench.change('c0', { a: '2' });
  bench.remove('new');
  bench.create('new');
  await bench.settled();
  expect(bench.sim.faults.struck('F35')).toBe(6);
  expect(bench.changes()).toEqual([
    'MODIFIED c0',
    'ADDED new',
    'DELETED c1',
    'MODIFIED c0',
    'DELETED new',
    'ADDED new',
  ]);
});

test('F36: a MODIFIED for an unknown object adds it; a DELETED for one moves the version and nothing else', async () => {
  const bench = await faultBench();
  bench.sim.faults.set({ F36: { ...once, form: 'modified' } });
  bench.create('new');
  await bench.settled();
  expect(bench.changes()).toEqual(['ADDED new']);
  bench.sim.faults.set({ F36: { ...once, form: 'unknown' } });
  bench.create('unseen');
  await bench.until(() => expect(bench.sim.faults.struck('F36')).toBe(2));
  const known = Number(bench.state().lastResourceVersion);
  bench.remove('unseen');
  await bench.until(() => expect(Number(bench.state().lastResourceVersion)).toBeGreaterThan(known));
  await bench.settled();
  expect(bench.changes()).toEqual(['ADDED new']);
});

test('F37: an object of 1.5 MiB is stored; a line over the cap is said and parked, without harm to others', async () => {
  const bench = await faultBench({ reflector: { maxLineBytes: 2 * 1024 * 1024 } });
  bench.create('large', { data: 'x'.repeat(1.5 * 1024 * 1024 - 1024) });
  await bench.settled();
  expect(body(bench, 'large').length).toBeGreaterThan(1.4 * 1024 * 1024);
  bench.sim.faults.set({ F37: { ...aim, bytes: 3 * 1024 * 1024 } });
  for (let round = 0; bench.restarts('line too long') < 3; round += 1) {
    const watches = bench.watches().length;
    bench.change('c0', { round: String(round) });
    await bench.until(() => expect(bench.watches().length).toBeGreaterThan(watches));
  }
  expect(bench.state('namespaces').status).toMatchObject({ phase: 'WATCHING', error: null });
  bench.sim.faults.clear();
  await bench.settled();
});

test('F38: characters cut anywhere, line separators, NUL and lone surrogates arrive as they were sent', async () => {
  const bench = await faultBench();
  const odd = { line: 'a\u2028b\u2029c', emoji: '🧭é', nul: '\u0000', lone: '\ud800x', both: '\udc00\ud800' };
  bench.sim.faults.set({ F38: { ...aim, bytes: 1 } });
  bench.create('odd', odd);
  await bench.settled();
  expect(JSON.parse(body(bench, 'odd'))).toMatchObject({ data: odd });
  bench.sim.faults.set({ F5: once });
  bench.sim.dropWatches();
  bench.change('odd', { more: 'ü' });
  await bench.settled();
  expect(JSON.parse(body(bench, 'odd'))).toMatchObject({ data: { ...odd, more: 'ü' } });
  expect(bench.sim.faults.struck('F38')).toBeGreaterThan(1);
});

test('F39: an int64 above 2^53 is exact in the store, from a list and from a watch', async () => {
  const bench = await faultBench({
    include: ['configmaps', 'widgets'],
    sim: { crds: [widgetCrd('Namespaced', 'v1', 'size')] },
  });
  const send = async (name: string): Promise<void> => {
    const response = await fetch(`${bench.sim.url}/apis/shop.example.com/v1/namespaces/default/widgets`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(widget(name)).replace('"size":1', '"size":9007199254740993'),
    });
    expect(response.status).toBe(201);
  };
  await send('watched');
  await bench.settled();
  expect(body(bench, 'watched')).toContain('"size":9007199254740993');
  bench.sim.faults.set({ F3: { resource: 'widgets' } });
  bench.sim.dropWatches();
  await bench.until(() => expect(bench.sim.faults.struck('F3')).toBeGreaterThan(0));
  await send('listed');
  bench.sim.compact();
  bench.sim.faults.clear();
  await bench.settled();
  expect(body(bench, 'listed')).toContain('"size":9007199254740993');
});

test('F50: three thousand deletes in a burst are all applied, in order', async () => {
  const bench = await faultBench({ objects: 3000 });
  for (let index = 0; index < 3000; index += 1) bench.remove(`c${index}`);
  await bench.settled();
  const names = bench.changes();
  expect(names).toHaveLength(3000);
  expect(names).toEqual(Array.from({ length: 3000 }, (_, index) => `DELETED c${index}`));
});

test('F53: versions that look like numbers and have no order are compared for being equal, and nothing else', async () => {
  const shown = (version: string): string => `0${[...version].reverse().join('')}`;
  const bench = await startFaultBench({ include: ['configmaps'], shown }, (sim) => sim.faults.set({ F53: {} }));
  await bench.settled();
  for (let round = 0; round < 12; round += 1) bench.change('c0', { round: String(round) });
  bench.remove('c1');
  bench.create('new');
  await bench.settled();
  bench.sim.faults.set({ F5: once });
  bench.sim.dropWatches();
  bench.change('c2', { late: 'yes' });
  await bench.settled();
  expect(bench.sim.faults.struck('F5')).toBe(1);
  expect(bench.restarts('rewind')).toBe(0);
  expect(bench.changes().slice(-3)).toEqual(['DELETED c1', 'ADDED new', 'MODIFIED c2']);
});
