/**
 * Answers of a server that follows the logs of its cells against those of one store with the same objects: random documents of callers with
 * random scopes, after random changes. Data and errors are equal byte for byte.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fixedRights } from '../../src/access/rights.ts';
import { type Scopes, unrestricted } from '../../src/access/scope.ts';
import { Dice } from '../fuzz/dice.ts';
import { cellsFixture } from '../kit/cells-fixture.ts';
import { engineFixture, queryOf } from '../kit/engine-fixture.ts';
import { transferring } from '../kit/followed-cells.ts';
import { changeObject } from '../kit/random-change.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { scopedDocument } from '../kit/scoped-documents.ts';
import { describeScopes, randomObjects, randomScopes, syncWorld, worldResources } from '../kit/scoped-world.ts';
import { shownAnswer } from '../kit/shown-answer.ts';

const documents = 40;

describe.each([
  { cells: 1, at: { east: 0, west: 0 } },
  { cells: 3, at: { east: 0, west: 2 } },
])('followers of $cells cells, clusters at $at', ({ cells, at }) => {
  test('each answer is that of one store', { timeout: 1_800_000 }, async () => {
    let current: Scopes = unrestricted;
    const rights = fixedRights(() => current);
    const cellOf = (cluster: string): number => (at as Readonly<Record<string, number>>)[cluster] ?? 0;
    const one = engineFixture({ engine: { rights } });
    const feeders = cellsFixture(cells, cellOf, rights);
    const followers = cellsFixture(cells, cellOf, rights, { writer: { follows: true } });
    await one.declare(...worldResources());
    await feeders.declare(...worldResources());
    const transfer = transferring(feeders, followers);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), async (seed) => {
        const dice = new Dice(seed);
        const objects = [...randomObjects(dice)];
        current = unrestricted;
        await syncWorld([one, feeders], objects);
        while (one.writer().maintain());
        for (const writer of feeders.writers()) while (writer.maintain());
        await transfer();
        const callers: readonly Scopes[] = [unrestricted, ...dice.times(2, () => randomScopes(dice, { same: false }))];
        for (let step = 0; step < documents; step += 1) {
          current = dice.pick(callers);
          if (dice.chance(0.15)) {
            changeObject(dice, objects, (key, type, object, cluster) => {
              one.apply(key, type, object, cluster);
              feeders.apply(key, type, object, cluster ?? 'east');
            });
            await transfer();
          }
          const { query } = scopedDocument(dice, { objects, cursors: [], listsOnly: false, sameForAll: false });
          const [mine, wanted] = await Promise.all([
            queryOf(followers.engine.source, query),
            queryOf(one.engine.source, query),
          ]);
          expect(shownAnswer(mine), `seed ${seed}, step ${step}: ${query}\n${describeScopes(current)}`).toEqual(
            shownAnswer(wanted),
          );
        }
      }),
      { numRuns: randomRuns(4, 60), endOnFailure: true },
    );
  });
});
