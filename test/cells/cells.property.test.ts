/**
 * Answers over several cells against those over one store with the same objects: random documents of callers with random scopes. Data and
 * errors are equal byte for byte. Extensions are equal but for revisions, and cursors of changes are compared by other tests.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fixedRights } from '../../src/access/rights.ts';
import { type Scopes, unrestricted } from '../../src/access/scope.ts';
import { Dice } from '../fuzz/dice.ts';
import { cellsFixture } from '../kit/cells-fixture.ts';
import { engineFixture, queryOf } from '../kit/engine-fixture.ts';
import { changeObject } from '../kit/random-change.ts';
import { scopedDocument } from '../kit/scoped-documents.ts';
import { describeScopes, randomObjects, randomScopes, syncWorld, worldResources } from '../kit/scoped-world.ts';
import { shownAnswer } from '../kit/shown-answer.ts';

const runs = Number(process.env['PORTOLAN_CELL_RUNS'] ?? '6');
const documents = 40;

/** Where the clusters of the world are. */
const layouts: readonly { readonly cells: number; readonly at: Readonly<Record<string, number>> }[] = [
  { cells: 1, at: { east: 0, west: 0 } },
  { cells: 3, at: { east: 0, west: 2 } },
  { cells: 3, at: { east: 1, west: 0 } },
  { cells: 8, at: { east: 5, west: 3 } },
];

describe.each(layouts)('$cells cells, clusters at $at', ({ cells, at }) => {
  test('each answer is that of one store', { timeout: 600_000 }, async () => {
    let current: Scopes = unrestricted;
    const rights = fixedRights(() => current);
    const one = engineFixture({ engine: { rights } });
    const many = cellsFixture(cells, (cluster) => at[cluster] ?? 0, rights);
    await one.declare(...worldResources());
    await many.declare(...worldResources());
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), async (seed) => {
        const dice = new Dice(seed);
        const objects = [...randomObjects(dice)];
        current = unrestricted;
        await syncWorld([one, many], objects);
        while (one.writer().maintain());
        for (const writer of many.writers()) while (writer.maintain());
        const callers: readonly Scopes[] = [unrestricted, ...dice.times(2, () => randomScopes(dice, { same: false }))];
        for (let step = 0; step < documents; step += 1) {
          current = dice.pick(callers);
          if (dice.chance(0.15)) {
            changeObject(dice, objects, (key, type, object, cluster) => {
              one.apply(key, type, object, cluster);
              many.apply(key, type, object, cluster ?? 'east');
            });
          }
          const { query } = scopedDocument(dice, { objects, cursors: [], listsOnly: false, sameForAll: false });
          const [mine, wanted] = await Promise.all([
            queryOf(many.engine.source, query),
            queryOf(one.engine.source, query),
          ]);
          expect(shownAnswer(mine), `seed ${seed}, step ${step}: ${query}\n${describeScopes(current)}`).toEqual(
            shownAnswer(wanted),
          );
        }
      }),
      { numRuns: runs, endOnFailure: true },
    );
  });
});
