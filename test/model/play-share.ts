/**
 * The seeds of the model in shares, one for each test file, so that the files run side by side.
 *
 * PORTOLAN_MODEL_SEEDS says how many seeds are played in all (1000), PORTOLAN_SEED=n plays that one alone.
 */
import { expect, test } from 'vitest';
import { randomRuns } from '../kit/random-runs.ts';
import { allFaults, strikes } from './model-faults.ts';
import { play } from './play.ts';

const shares = 4;
const seedsInOne = 100;
/** So many seeds meet every fault. */
const enough = 250;
const { PORTOLAN_MODEL_SEEDS, PORTOLAN_SEED } = process.env;

/** Declares the tests of one share, from 0 to 3. */
export function playShare(share: number): void {
  if (PORTOLAN_SEED !== undefined) {
    const seed = Number(PORTOLAN_SEED);
    test.skipIf(seed % shares !== share)(`seed ${seed}: any operations and any faults leave tables and log right`, () =>
      play(seed),
    );
    return;
  }
  // Thousands of refusals are made in a second: nobody reads where they come from.
  Error.stackTraceLimit = 0;
  const each = Math.ceil(Number(PORTOLAN_MODEL_SEEDS ?? randomRuns(1000, 10_000)) / shares);
  const from = share * each + 1;
  for (let first = from; first < from + each; first += seedsInOne) {
    const last = Math.min(first + seedsInOne, from + each) - 1;
    test(`seeds ${first} to ${last}: any operations and any faults leave tables and log right`, {
      timeout: 600_000,
    }, async () => {
      for (let seed = first; seed <= last; seed += 1) await play(seed);
    });
  }
  test.skipIf(each < enough)('every fault has struck', () => {
    expect(allFaults.filter((fault) => !strikes.has(fault))).toEqual([]);
  });
}
