/**
 * Prepared answers of one cell against the executor, over HTTP: random lists of callers with random scopes over three cells. Status and body
 * must be equal, byte for byte.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fixedRights } from '../../src/access/rights.ts';
import { type Scopes, unrestricted } from '../../src/access/scope.ts';
import { must } from '../../src/base/must.ts';
import type { PageReader } from '../../src/store/types/page-reader.ts';
import { Dice } from '../fuzz/dice.ts';
import { cellsFixture } from '../kit/cells-fixture.ts';
import { changeObject } from '../kit/random-change.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { describeScopes, randomObjects, randomScopes, syncWorld, worldResources } from '../kit/scoped-world.ts';
import { serveFixture } from '../kit/served-fixture.ts';

const runs = randomRuns(6, 40);
const documents = 40;
const named = fc
  .record({
    root: fc.constantFrom('exampleComWidgets', 'exampleComGadgets', 'events'),
    clusters: fc.constantFrom('["east"]', '["west"]', '["east", "west"]', '["nowhere"]'),
    more: fc.constantFrom(
      '}',
      '}, first: 2',
      '}, orderBy: [{ path: "metadata.name", direction: DESC }], last: 2',
      ', health: { status: { ne: Failed } } }, first: 3',
      ', namespaces: ["n1", "n2"] }, orderBy: [{ path: "metadata.creationTimestamp" }]',
    ),
    fields: fc.constantFrom(
      'nodes { id cluster metadata { name namespace uid } }',
      'nodes { metadata { name labels } health { status reason } } totalCount',
      'edges { cursor node { id metadata { name resourceVersion } } } pageInfo { hasNextPage endCursor }',
    ),
  })
  .map(({ root, clusters, more, fields }) => `{ list: ${root}(filter: { clusters: ${clusters}${more}) { ${fields} } }`);
const at: Readonly<Record<string, number>> = { east: 0, west: 2 };

test('a list of clusters of one cell is prepared, and is what the executor gives', { timeout: 600_000 }, async () => {
  let current: Scopes = unrestricted;
  const rights = fixedRights(() => current);
  const fixture = cellsFixture(3, (cluster) => at[cluster] ?? 1, rights);
  await fixture.declare(...worldResources());
  const given = [0, 0, 0];
  const pages = fixture.readers().map(
    (reader, cell): PageReader => ({
      pages(statements, requests, options) {
        given[cell] = (given[cell] ?? 0) + requests.length;
        return reader.pages(statements, requests, options);
      },
      pagesNow(statements, requests) {
        const read = reader.pagesNow(statements, requests);
        if (read !== null && read !== 'spent') given[cell] = (given[cell] ?? 0) + requests.length;
        return read;
      },
    }),
  );
  const prepared = await serveFixture(fixture, { pages });
  const plain = await serveFixture(fixture);
  const ask = async (port: number, query: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    return [answer.status, await answer.text()];
  };
  const queries = fc.array(named, { minLength: documents, maxLength: documents });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), queries, async (seed, lists) => {
      const dice = new Dice(seed);
      const objects = [...randomObjects(dice)];
      current = unrestricted;
      await syncWorld([fixture], objects);
      for (const writer of fixture.writers()) while (writer.maintain());
      const callers: readonly Scopes[] = [unrestricted, ...dice.times(2, () => randomScopes(dice, { same: false }))];
      for (let step = 0; step < documents; step += 1) {
        current = dice.pick(callers);
        if (dice.chance(0.15)) {
          changeObject(dice, objects, (key, type, object, cluster) =>
            fixture.apply(key, type, object, cluster ?? 'east'),
          );
        }
        const list = must(lists[step], 'a list for each step');
        for (const each of [list, list]) {
          const [mine, executors] = await Promise.all([ask(prepared.port, each), ask(plain.port, each)]);
          expect(mine, `seed ${seed}, step ${step}: ${each}\n${describeScopes(current)}`).toEqual(executors);
        }
      }
    }),
    { numRuns: runs, endOnFailure: true },
  );
  // Otherwise the test would compare the executor with itself.
  for (const cell of [0, 2]) expect(given[cell]).toBeGreaterThan((runs * documents) / 10);
  expect(given[1]).toBe(0);
  process.stdout.write(`prepared pages of each cell: ${JSON.stringify(given)}\n`);
});
