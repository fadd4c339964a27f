/**
 * Live clients of a gateway over a real control plane, as in consistency.test.ts: the API server is killed, cut off and compacted.
 *
 * PORTOLAN_SEED says which run. The test prints one JSON line.
 */
import { expect, test } from 'vitest';
import { RunCounts, runConsistency } from '../kit/consistency/consistency-run.ts';
import { RealCluster } from '../kit/consistency/real-cluster.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';

const seed = Number(process.env['PORTOLAN_SEED'] ?? 1);
const options = { phases: 2, steps: 50, clients: 8, patienceMs: 90_000 };

describeOn([mainServer], 'consistency of live clients', { timeout: 400_000 }, (server) => {
  test('clients hold what their callers may see at their cursors', async () => {
    const counts = new RunCounts();
    await runConsistency(await RealCluster.start(server), seed, options, counts);
    process.stdout.write(`${JSON.stringify({ consistency: server.name, seed, ...counts })}\n`);
    expect(counts.checks).toBeGreaterThan(30);
  });
});
