/**
 * Kept answers against the executor: random questions are asked again and again between random writes, by callers with random scopes. A
 * server that keeps answers and one without must give the same status, headers and bytes each time.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Scopes, unrestricted } from '../../src/access/scope.ts';
import { Dice } from '../fuzz/dice.ts';
import type { Asking } from '../kit/answer-pair.ts';
import { changeObject } from '../kit/random-change.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { cursorsOf } from '../kit/scoped-cursors.ts';
import { scopedDocument } from '../kit/scoped-documents.ts';
import { randomObjects, randomScopes, scopedStore } from '../kit/scoped-world.ts';

const runs = Number(process.env['PORTOLAN_KEPT_ANSWERS'] ?? randomRuns(4, 12));
const questions = 8;
const steps = 200;
/** Seeds that failed: a page of no objects was warned of unknown namespaces by the executor alone. */
const failedBefore = [208_914];

test('an answer from memory is the answer of the store', { timeout: 600_000 }, async () => {
  const world = await scopedStore({ engine: { answerCacheBytes: 4_000_000 } });
  const { ask, fixture } = world.pair;
  const { answers } = fixture.engine.source;
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), async (seed) => {
      const dice = new Dice(seed);
      const objects = [...randomObjects(dice)];
      world.scopes = unrestricted;
      await world.fill(objects);
      const cursors = await cursorsOf(world.pair);
      const document = (): string =>
        scopedDocument(dice, { objects, cursors, listsOnly: false, sameForAll: false }).query;
      const asked = dice.times(questions, document);
      const callers: readonly Scopes[] = [unrestricted, ...dice.times(1, () => randomScopes(dice, { same: false }))];
      const write = (): void => changeObject(dice, objects, fixture.apply);
      // A list that finds one object less, and one that finds what was there.
      const relist = async (): Promise<void> => {
        if (dice.chance(0.5)) objects.splice(dice.below(objects.length), 1);
        await world.fill(objects);
      };
      for (let step = 0; step < steps; step += 1) {
        world.scopes = dice.pick(callers);
        if (dice.chance(0.06)) write();
        else if (dice.chance(0.02)) await relist();
        const query = dice.pick(asked);
        const [mine, executors] = await ask(JSON.stringify({ query }), dice.chance(0.3) ? asGet(query) : {});
        expect(mine, `seed ${seed}, step ${step}: ${query}`).toEqual(executors);
      }
    }),
    { numRuns: runs, endOnFailure: true, examples: failedBefore.map((seed): [number] => [seed]) },
  );
  const { hits, misses } = answers.facts;
  expect(hits).toBeGreaterThan((hits + misses) / 10);
  expect(misses).toBeGreaterThan((hits + misses) / 10);
});

function asGet(query: string): Asking {
  return {
    method: 'GET',
    path: `/graphql?query=${encodeURIComponent(query)}`,
    headers: { accept: 'application/json' },
  };
}
