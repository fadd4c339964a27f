/**
 * Live clients of a gateway over the simulated cluster, in the spirit of Jepsen: what each client holds is what its caller may see at its
 * cursor, whatever becomes of objects, rights, connections, the API server and the gateway.
 *
 * PORTOLAN_SEEDS is the number of seeds (2), from PORTOLAN_FIRST_SEED on (1); PORTOLAN_SEED=n runs that one alone. Several
 * processes may share a long run. A failure names its seed. The test prints one JSON line: seeds, operations (steps of
 * the schedule), checks (comparisons of a client), messages, failures.
 */
import { expect, test } from 'vitest';
import { RunCounts, runConsistency } from '../kit/consistency/consistency-run.ts';
import { SimulatedCluster } from '../kit/consistency/watched-cluster.ts';
import { randomRuns } from '../kit/random-runs.ts';

const { PORTOLAN_SEED, PORTOLAN_FIRST_SEED, PORTOLAN_SEEDS } = process.env;
const seeds =
  PORTOLAN_SEED === undefined
    ? Array.from(
        { length: Number(PORTOLAN_SEEDS ?? randomRuns(2, 5)) },
        (_, index) => Number(PORTOLAN_FIRST_SEED ?? 1) + index,
      )
    : [Number(PORTOLAN_SEED)];
const options = { phases: 3, steps: 50, clients: 10, patienceMs: 60_000 };

test('clients hold what their callers may see at their cursors [L1] [L7]', {
  timeout: seeds.length * 100_000 + 60_000,
}, async () => {
  const counts = new RunCounts();
  const failures: string[] = [];
  const start = performance.now();
  for (const seed of seeds) {
    await SimulatedCluster.start()
      .then((cluster) => runConsistency(cluster, seed, options, counts))
      .catch((error: unknown) => {
        failures.push(`PORTOLAN_SEED=${seed} plays it again: ${error}`);
        // A long run may be ended before its end.
        process.stdout.write(`${failures.at(-1)}\n`);
      });
  }
  const seconds = Math.round((performance.now() - start) / 1000);
  process.stdout.write(
    `${JSON.stringify({ consistency: 'simulated', seeds: seeds.length, ...counts, failures: failures.length, seconds })}\n`,
  );
  expect(failures.join('\n\n')).toBe('');
  expect(counts.checks).toBeGreaterThan(seeds.length * 50);
  // So that the schedules have led to what clients must bear.
  if (seeds.length > 1) expect([counts.gaps > 0, counts.hidden > 0]).toEqual([true, true]);
});
