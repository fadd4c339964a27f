/**
 * Answers are computed from the visible objects alone: a caller with rights to some objects gets from the store of all objects what a
 * caller with all rights gets from a store that has these objects alone. Lists are compared where `get` shows more than `list` too, by
 * documents without fields that lead to single objects.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { unrestricted } from '../../src/access/scope.ts';
import { Dice } from '../fuzz/dice.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { cursorsOf } from '../kit/scoped-cursors.ts';
import { type KnownCursor, scopedDocument } from '../kit/scoped-documents.ts';
import { describeScopes, isSeen, randomObjects, randomScopes, scopedStore } from '../kit/scoped-world.ts';

const rounds = Number(process.env['PORTOLAN_VISIBLE_ONLY'] ?? randomRuns(4, 10));
const firstSeed = Number(process.env['PORTOLAN_SEED'] ?? '1');
const documents = 60;

type Data = Record<string, unknown>;

interface Answer {
  readonly data: Data | null;
  readonly errors?: readonly {
    readonly path?: readonly (string | number)[];
    readonly extensions: { readonly code: string };
  }[];
}

test('answers are those of a store with the visible objects alone', { timeout: 600_000 }, async () => {
  const [whole, visible] = [await scopedStore(), await scopedStore()];
  let [asked, hidden, shown, refused] = [0, 0, 0, 0];
  for (let seed = firstSeed; seed < firstSeed + rounds; seed += 1) {
    const dice = new Dice(seed);
    const listsOnly = seed % 2 === 0;
    const objects = randomObjects(dice);
    const scopes = randomScopes(dice, { same: !listsOnly });
    const seen = objects.filter((each) => isSeen(scopes, each, 'list'));
    hidden += objects.length - seen.length;
    await whole.fill(objects);
    await visible.fill(seen);
    whole.scopes = unrestricted;
    const isOfList = ({ order }: KnownCursor): boolean => !listsOnly || !order.includes('gadget.');
    const cursors = (await cursorsOf(whole.pair)).filter(isOfList);
    whole.scopes = scopes;
    for (let number = 0; number < documents; number += 1) {
      const { query } = scopedDocument(dice, { objects, cursors, listsOnly, sameForAll: true });
      const body = JSON.stringify({ query });
      const expected = JSON.parse((await visible.pair.ask(body))[1].text) as Answer;
      for (const { text } of await whole.pair.ask(body)) {
        const found = JSON.parse(text) as Answer;
        asked += 1;
        const where = `seed ${seed}: ${query}\n${describeScopes(scopes)}`;
        if (found.errors?.some(({ extensions: { code } }) => code === 'FORBIDDEN') === true) {
          refused += 1;
          expect(isWithoutRefused(found, expected), `${where}\n${JSON.stringify(expected.data)}`).toBe(true);
          continue;
        }
        shown += /"id":|"totalCount":[1-9]|"count":[1-9]/.test(text) ? 1 : 0;
        expect(found.data, where).toEqual(withoutHiddenResources(expected.data, found.data));
        expect(
          found.errors?.map(({ path }) => path),
          where,
        ).toEqual(expected.errors?.map(({ path }) => path));
      }
    }
  }
  expect(hidden).toBeGreaterThan(rounds * 5);
  expect(shown).toBeGreaterThan(asked / 4);
  expect(refused).toBeLessThan(asked / 2);
});

/** Where the caller is refused, the store of the visible objects has nothing; everything else is equal. */
function isWithoutRefused(found: Answer, expected: Answer): boolean {
  return Object.entries(found.data ?? {}).every(([name, value]) => {
    const other = expected.data?.[name];
    if (value !== null) return Array.isArray(value) || isDeepStrictEqual(value, other);
    return other === null || !/"id":|"totalCount":[1-9]|"count":[1-9]/.test(JSON.stringify(other));
  });
}

/** Resources of which the caller sees nothing are left out of `resources`, whether they have objects or not. */
function withoutHiddenResources(expected: Data | null, found: Data | null): Data | null {
  const [all, some] = [expected?.['resources'], found?.['resources']] as (readonly Data[] | undefined)[];
  if (all === undefined || some === undefined) return expected;
  const isKept = ({ key, cluster, objects }: Data): boolean =>
    objects !== 0 || some.some((each) => each['key'] === key && each['cluster'] === cluster);
  return { ...expected, resources: all.filter(isKept) };
}
