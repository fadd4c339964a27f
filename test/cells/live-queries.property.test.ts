/**
 * Live queries over several cells: while objects and rights of single cells change, the newest result of each becomes the answer of the
 * stores. A query runs only after a commit in a cell that it reads.
 */
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { localUser } from '../../src/access/caller.ts';
import { fixedRights } from '../../src/access/rights.ts';
import { type Scopes, unrestricted } from '../../src/access/scope.ts';
import { silentLogger } from '../../src/base/log.ts';
import { must } from '../../src/base/must.ts';
import { type RunningServer, startServer } from '../../src/server/http-server.ts';
import { Dice } from '../fuzz/dice.ts';
import { type CellsFixture, cellsFixture } from '../kit/cells-fixture.ts';
import { made } from '../kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../kit/graphql-world.ts';
import { askAs, connect, follow, withoutPlaces } from '../kit/live-query-client.ts';
import { changeObject } from '../kit/random-change.ts';
import { scopedDocument } from '../kit/scoped-documents.ts';
import { type PlacedObject, randomObjects, randomScopes, syncWorld, worldResources } from '../kit/scoped-world.ts';
import { userOf } from '../kit/user.ts';

const runs = Number(process.env['PORTOLAN_CELL_RUNS'] ?? '2');
const questions = 8;
const writes = 12;

const layouts: readonly { readonly cells: number; readonly at: Readonly<Record<string, number>> }[] = [
  { cells: 1, at: { east: 0, west: 0 } },
  { cells: 3, at: { east: 2, west: 0 } },
  { cells: 8, at: { east: 5, west: 3 } },
];

async function serverOf(fixture: CellsFixture): Promise<RunningServer> {
  const most = { connections: 100, logs: 200, logBytes: 1e9 };
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: fixture.engine.source,
    authenticate: (credentials) => {
      const name = String(credentials.connectionParams?.['user'] ?? credentials.header('user') ?? 'all');
      return { ...localUser, name, user: userOf(name) };
    },
    callerBounds: { requests: 1000, costPerMinute: 1e12, subscriptions: 1000, ...most },
    readiness: () => ({ ready: true }),
    tabs: [],
    log: silentLogger,
  });
  onTestFinished(() => server.close());
  return server;
}

describe.each(layouts)('$cells cells, clusters at $at', ({ cells, at }) => {
  test('the newest result is the answer of the stores [Q1] [Q2]', { timeout: 600_000 }, async () => {
    let current: ReadonlyMap<string, readonly Scopes[]> = new Map();
    const fixture = cellsFixture(
      cells,
      (cluster) => at[cluster] ?? 0,
      (cell) => fixedRights(({ name }) => current.get(name)?.[cell] ?? unrestricted),
    );
    await fixture.declare(...worldResources());
    const server = await serverOf(fixture);
    const fill = async (objects: readonly PlacedObject[]): Promise<void> => {
      await syncWorld([fixture], objects);
      for (const writer of fixture.writers()) while (writer.maintain());
    };
    const users = ['all', 'some', 'others'];
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), async (seed) => {
        const dice = new Dice(seed);
        const objects = [...randomObjects(dice)];
        await fill(objects);
        const scopes = () => Array.from({ length: cells }, () => randomScopes(dice, { same: false }));
        current = new Map(users.slice(1).map((name) => [name, scopes()]));
        const clients = new Map(users.map((user) => [user, connect(server.url, user)]));
        const live = dice.times(questions, () => {
          const user = dice.pick(users);
          const { query } = scopedDocument(dice, { objects, cursors: [], listsOnly: false, sameForAll: false });
          const client = must(clients.get(user), 'a client');
          return { user, query, results: follow(client, `query @live(throttle: 10) ${query}`) };
        });
        await Promise.all(
          live.map(({ results }) => expect.poll(() => results.length, { timeout: 60_000 }).toBeGreaterThan(0)),
        );
        for (let write = 0; write < writes; write += 1) {
          if (dice.chance(0.15)) {
            // In one cell.
            const user = dice.pick(users.slice(1));
            const cell = dice.below(cells);
            const own = current
              .get(user)
              ?.map((each, index) => (index === cell ? randomScopes(dice, { same: false }) : each));
            current = new Map([...current, [user, own ?? []]]);
            fixture.engine.interrupt();
          } else if (dice.chance(0.1)) {
            objects.splice(dice.below(objects.length), 1);
            await fill(objects);
          } else changeObject(dice, objects, fixture.apply);
          if (dice.chance(0.5)) await new Promise((resolve) => setTimeout(resolve, dice.below(30)));
        }
        for (const { user, query, results } of live) {
          if (query.includes('staleSince')) continue;
          const expected = withoutPlaces(await askAs(server.url, user, query));
          const newest = (): unknown => withoutPlaces(must(results.at(-1), 'a result'));
          await expect.poll(newest, { timeout: 60_000, message: `seed ${seed}, ${user}: ${query}` }).toEqual(expected);
        }
        for (const client of clients.values()) await client.dispose();
        await expect.poll(() => fixture.engine.source.liveQueries.facts).toMatchObject({ cohorts: 0, members: 0 });
      }),
      { numRuns: runs, endOnFailure: true },
    );
  });
});

test('a query runs after a commit in a cell that it reads, and sends no result without a difference', async () => {
  const fixture = cellsFixture(3, (cluster) => ['east', 'west'].indexOf(cluster) + 1);
  await fixture.declare(widget('east'), widget('west'), gadget('east'), gadget('west'));
  for (const cluster of ['east', 'west']) for (const key of [widgets, gadgets]) await fixture.sync(key, [], cluster);
  const server = await serverOf(fixture);
  const client = connect(server.url, 'all');
  const ran = () => fixture.engine.source.liveQueries.facts.runs;
  const results = follow(
    client,
    'query @live(throttle: 10) { exampleComWidgets(filter: { clusters: ["east"] }) { nodes { cluster metadata { name } } } }',
  );
  const names = () => JSON.stringify(results.at(-1)?.data).match(/"name":"(\w+)"/g) ?? [];
  await expect.poll(() => results).toMatchObject([{ data: { exampleComWidgets: { nodes: [] } } }]);
  fixture.apply(widgets, 'ADDED', made({ name: 'a' }), 'east');
  await expect.poll(names).toEqual(['"name":"a"']);
  const [before, sent] = [ran(), results.length];
  for (let step = 0; step < 5; step += 1) {
    fixture.apply(gadgets, 'MODIFIED', made({ name: 'g', namespace: null }), 'east');
    fixture.apply(widgets, 'MODIFIED', made({ name: 'w' }), 'west');
  }
  // The selection shows no difference.
  fixture.apply(widgets, 'MODIFIED', made({ name: 'a', spec: { total: 2 } }), 'east');
  await expect.poll(ran).toBe(before + 1);
  fixture.apply(widgets, 'ADDED', made({ name: 'b' }), 'east');
  await expect.poll(names).toEqual(['"name":"a"', '"name":"b"']);
  expect(results).toHaveLength(sent + 1);
  expect(ran()).toBe(before + 2);
});
