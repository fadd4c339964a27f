/**
 * Ingest against the simulated cluster with random operations and random faults, by seed. After the faults have ended:
 *   - the tables equal the server's set (I1);
 *   - folding the change log gives the tables (I2, I4);
 *   - no stored version has gone back (I3).
 *
 * PORTOLAN_SEEDS is the number of seeds (12); PORTOLAN_SEED=n runs that one alone. A failure names its seed. A seed fixes the
 * operations and the faults; their timing on the network depends on the machine.
 */
import { expect, test } from 'vitest';
import { configMap, configMaps, type FaultBench, faultBench } from '../faults/fault-bench.ts';
import type { FaultSwitches } from '../kit/faults/faults.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { seededRandom } from '../kit/seeded-random.ts';

const steps = 60;
const { PORTOLAN_SEED, PORTOLAN_SEEDS } = process.env;
const seeds =
  PORTOLAN_SEED === undefined
    ? Array.from({ length: Number(PORTOLAN_SEEDS ?? randomRuns(12, 40)) }, (_, index) => index + 1)
    : [Number(PORTOLAN_SEED)];

/** Every fault with a switch, except faults that block a resource for ever, which have their own tests. */
function faultsOf(pick: (below: number) => number): readonly FaultSwitches[] {
  const aim = { resource: 'configmaps', times: 1 + pick(3) } as const;
  const page = 1 + pick(3);
  return [
    { F1: { ...aim, event: 1 + pick(4) } },
    { F2: { ...aim, event: 1 + pick(4) } },
    { F3: aim },
    { F5: aim },
    { F6: aim },
    { F7: { ...aim, event: 1 + pick(4) } },
    { F8: aim },
    { F9: { ...aim, form: pick(2) === 0 ? 'cause' : 'words' } },
    { F10: { ...aim, page } },
    { F11: { ...aim, page } },
    { F12: { ...aim, form: (['cut', 'length', 'chunk'] as const)[pick(3)] ?? 'cut' } },
    { F26: aim },
    { F27: aim },
    { F29: aim },
    { F31: { ...aim, status: ([200, 502, 504] as const)[pick(3)] ?? 200 } },
    { F32: aim },
    { F33: { ...aim, form: (['type', 'kind', 'status'] as const)[pick(3)] ?? 'type' } },
    { F34: { ...aim, form: pick(2) === 0 ? 'uid' : 'resourceVersion' } },
    { F35: aim },
    { F36: { ...aim, form: 'modified' } },
    { F38: { ...aim, bytes: 1 + pick(7) } },
    { F47: { ...aim, form: pick(2) === 0 ? 'absent' : 'equal' } },
    { F52: aim },
    { F54: { ...aim, form: pick(2) === 0 ? 'redirect' : 'gzip' } },
  ];
}

function operate({ sim }: FaultBench, pick: (below: number) => number): void {
  const name = `c${pick(15)}`;
  const path = `${configMaps}/${name}`;
  const value = String(pick(1000));
  if (sim.get(path) === undefined) sim.create(configMap(name, { value }));
  else if (pick(3) === 0) sim.delete(path);
  else sim.patch(path, { data: { value } });
}

/** Waits for `count` more requests to the server, so that some of the operations have reached ingest and others have not. */
async function someAnswers({ sim }: FaultBench, count: number): Promise<void> {
  const until = sim.requests + count;
  for (let turn = 0; turn < 1000 && sim.requests < until; turn += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

/** Every second seed uses streaming lists, with a short limit for a list whose end bookmark is lost. */
function listing(seed: number): object {
  return { streamingLists: seed % 2 === 0, streamSilenceMs: 200 };
}

async function play(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const pick = (below: number): number => Math.floor(random() * below);
  const bench = await faultBench({
    objects: 8,
    reflector: { pageSize: 3, batchEvents: 2, backoff: { firstMs: 2, capMs: 10, resetMs: 600_000 }, ...listing(seed) },
    random: seededRandom(seed + 1),
  });
  const { sim } = bench;
  const done: string[] = [];
  try {
    for (let step = 0; step < steps; step += 1) {
      for (let operations = pick(6); operations > 0; operations -= 1) operate(bench, pick);
      if (pick(2) === 0) {
        const faults = faultsOf(pick);
        const chosen = faults[pick(faults.length)] ?? {};
        done.push(JSON.stringify(chosen));
        sim.faults.set(chosen);
      }
      if (pick(6) === 0) sim.dropWatches();
      if (pick(8) === 0) sim.compact();
      if (pick(15) === 0) sim.setAvailable(false);
      await someAnswers(bench, pick(6));
      sim.setAvailable(true);
      await bench.until(() => {});
      if (pick(12) !== 0) continue;
      sim.faults.clear();
      await bench.settled();
    }
    sim.faults.clear();
    await bench.settled();
  } catch (error) {
    throw new Error(`Seed ${seed} failed; PORTOLAN_SEED=${seed} plays it alone. Faults: ${done.join(' ')}`, {
      cause: error,
    });
  }
  await bench.host.close();
  expect(sim.faults.active).toBe(false);
}

test.each(seeds)('seed %i: any operations and any faults leave tables and log right', (seed) => play(seed));
