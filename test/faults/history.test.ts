/** F20: a server that goes back to an older state, and what it does then. */
import { expect, test } from 'vitest';
import { faultBench } from './fault-bench.ts';

test('F20: a storage that was restored from a backup is noticed when its watch is silent, and taken as it is', async () => {
  const bench = await faultBench({ reflector: { idleMs: 200 } });
  const { sim } = bench;
  sim.faults.set({ F47: { form: 'equal' } });
  await bench.until(() => expect(sim.faults.struck('F47')).toBeGreaterThan(20));
  const backup = sim.save();
  for (let round = 0; round < 30; round += 1) bench.change('c0', { round: String(round) });
  bench.create('after');
  bench.remove('c1');
  await bench.settled();
  bench.allowRewind();
  sim.restore(backup);
  bench.change('c2', { other: 'past' });
  await bench.settled();
  expect(bench.restarts('rewind')).toBe(1);
  expect(bench.state().lastResourceVersion?.length).toBeGreaterThan(0);
  expect(bench.changes().slice(-4).sort()).toEqual(['ADDED c1', 'DELETED after', 'MODIFIED c0', 'MODIFIED c2']);
});
