/**
 * Live queries against the query: random questions are asked over WebSocket with `@live`, by callers with random scopes, while objects
 * change. Once the changes stop, the newest result of each must be the answer of the store.
 */
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { localUser } from '../../src/access/caller.ts';
import { fixedRights } from '../../src/access/rights.ts';
import { type Scopes, unrestricted } from '../../src/access/scope.ts';
import { silentLogger } from '../../src/base/log.ts';
import { must } from '../../src/base/must.ts';
import { startServer } from '../../src/server/http-server.ts';
import { Dice } from '../fuzz/dice.ts';
import { askAs, connect, follow, withoutPlaces } from '../kit/live-query-client.ts';
import { changeObject } from '../kit/random-change.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { cursorsOf } from '../kit/scoped-cursors.ts';
import { scopedDocument } from '../kit/scoped-documents.ts';
import { randomObjects, randomScopes, scopedStore } from '../kit/scoped-world.ts';
import { userOf } from '../kit/user.ts';

const runs = Number(process.env['PORTOLAN_LIVE_QUERIES'] ?? randomRuns(2, 5));
const questions = 10;
const writes = 12;

test.each([
  ['the executor', false],
  ['prepared answers where there is a plan', true],
])('the newest result by %s is the answer of the store [Q1] [Q2]', { timeout: 600_000 }, async (_by, isPrepared) => {
  let current: ReadonlyMap<string, Scopes> = new Map();
  const rights = fixedRights(({ name }) => current.get(name) ?? unrestricted);
  const world = await scopedStore({ engine: { rights } });
  const { fixture } = world.pair;
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: fixture.engine.source,
    ...(isPrepared ? { pages: fixture.pages } : {}),
    authenticate: (credentials) => {
      const name = String(credentials.connectionParams?.['user'] ?? credentials.header('user') ?? 'all');
      return { ...localUser, name, user: userOf(name) };
    },
    callerBounds: {
      requests: 1000,
      costPerMinute: 1e12,
      subscriptions: 1000,
      connections: 100,
      logs: 200,
      logBytes: 1e9,
    },
    readiness: () => ({ ready: true }),
    tabs: [],
    log: silentLogger,
  });
  onTestFinished(() => server.close());
  const users = ['all', 'some', 'others'];
  let [sent, compared] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), async (seed) => {
      const dice = new Dice(seed);
      const objects = [...randomObjects(dice)];
      await world.fill(objects);
      const cursors = await cursorsOf(world.pair);
      const scopes = (): ReadonlyMap<string, Scopes> =>
        new Map(users.slice(1).map((name) => [name, randomScopes(dice, { same: false })]));
      current = scopes();
      const clients = new Map(users.map((user) => [user, connect(server.url, user)]));
      const live = dice.times(questions, () => {
        const user = dice.pick(users);
        const { query } = scopedDocument(dice, { objects, cursors, listsOnly: false, sameForAll: false });
        return {
          user,
          query,
          results: follow(must(clients.get(user), 'a client'), `query @live(throttle: 10) ${query}`),
        };
      });
      await Promise.all(
        live.map(({ results }) => expect.poll(() => results.length, { timeout: 60_000 }).toBeGreaterThan(0)),
      );
      for (let write = 0; write < writes; write += 1) {
        if (dice.chance(0.15)) {
          current = scopes();
          fixture.engine.interrupt();
        } else if (dice.chance(0.1)) {
          objects.splice(dice.below(objects.length), 1);
          await world.fill(objects);
        } else changeObject(dice, objects, fixture.apply);
        if (dice.chance(0.5)) await new Promise((resolve) => setTimeout(resolve, dice.below(30)));
      }
      for (const { user, query, results } of live) {
        const isRelative = query.includes('staleSince');
        const expected = isRelative ? null : withoutPlaces(await askAs(server.url, user, query));
        const newest = (): unknown => (isRelative ? null : withoutPlaces(must(results.at(-1), 'a result')));
        await expect.poll(newest, { timeout: 60_000, message: `seed ${seed}, ${user}: ${query}` }).toEqual(expected);
        sent += results.length;
        compared += 1;
      }
      for (const client of clients.values()) await client.dispose();
      await expect.poll(() => fixture.engine.source.liveQueries.facts).toMatchObject({ cohorts: 0, members: 0 });
    }),
    { numRuns: runs, endOnFailure: true },
  );
  // So that changes have led to results.
  expect(sent).toBeGreaterThan(compared * 1.3);
});
