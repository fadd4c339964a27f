/**
 * The property of live lists of several kinds with one cursor. After each message with a cursor, a client holds the objects of all its kinds
 * that matched at that cursor. Its caller could see them there. The property holds for random writes, lists, rights, commit signals and
 * reading speeds. It also holds across GAPs, and for clients that resume by `since`.
 */
import { expect, onTestFinished, test } from 'vitest';
import {
  CheckedSubscriber,
  type Held,
  type Subscription,
  stepUntil,
  TableHistory,
} from '../../../test/kit/checked-subscriber.ts';
import { describedCrd, engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { colored, things } from '../../../test/kit/live-lists.ts';
import { seededRandom } from '../../../test/kit/seeded-random.ts';
import { allRows, isVisible, noRows, type Scope, type Scopes, scopeIn } from '../../access/scope.ts';
import { silentLogger } from '../../base/log.ts';
import { must } from '../../base/must.ts';
import { matches } from '../../query/evaluate/matches.ts';
import { clustersIn, everything, type Filter } from '../../query/plan/filter.ts';
import { ChangeFeed } from '../feed/change-feed.ts';
import { cursorMarks, decodeLiveCursor } from '../log/live-cursor.ts';
import { liveObjects } from './live-objects.ts';

const gears = 'gears.example.com';
const parts = 'parts.example.com';
/** A kind that changes like the others, and that no subscription follows. */
const noise = 'noises.example.com';
const kinds = [things, gears, parts, noise];
const clusters = ['east', 'west'];
const names = [...'abcdefgh'];
const filters: readonly Filter[] = [everything, colored('red'), { kind: 'clusters', in: ['west'] }];
const spec = { type: 'object', properties: { size: { type: 'integer' }, color: { type: 'string' } } };

const west: Scope = { rows: 'some', clusters: new Map([['west', 'all']]) };
const single: Scope = {
  rows: 'some',
  clusters: new Map([
    ['east', { namespaces: new Set<string>(), names: new Map([['default', new Set(['a', 'b'])]]) }],
    ['west', { namespaces: new Set(['default']), names: new Map() }],
  ]),
};
const scopesOfCallers: readonly Scopes[] = [
  { id: 'all', of: () => allRows },
  { id: 'no gears', of: (key) => (key === gears ? noRows : allRows) },
  { id: 'west parts', of: (key) => (key === parts ? west : allRows) },
  { id: 'single things', of: (key) => (key === things ? single : allRows) },
];

const followed: readonly (readonly string[])[] = [[things, gears], [things, gears, parts], [gears, parts], [parts]];

/** The scopes in which a cursor was made, by its kinds and marks. A filter narrows the scopes to its clusters. */
const scopesOf = new Map(
  followed.flatMap((keys) =>
    [null, ['west']].flatMap((within) =>
      scopesOfCallers.map((scopes) => {
        const visible = new Map(keys.map((key) => [key, scopeIn(scopes.of(key), within)]));
        return [JSON.stringify([keys, within, cursorMarks(visible)]), scopes] as const;
      }),
    ),
  ),
);

test.each(Array.from({ length: 8 }, (_, index) => index + 1))(
  'clients hold what matches at each cursor, of all their kinds, seed %i [L1] [L2]',
  async (seed) => {
    const random = seededRandom(seed);
    const pick = <T>(list: readonly T[]): T => must(list[Math.floor(random() * list.length)], 'an item');
    // Odd seeds keep little of the log, so that positions fall off its floor.
    const maxBytes = seed % 2 === 1 ? 6000 : 1e9;
    const fixture = engineFixture({ writer: { maxDifferences: 4, changeLog: { maxBytes, maxAgeMs: 3_600_000 } } });
    const described = (key: string, cluster: string) => {
      const [plural = ''] = key.split('.');
      return describedCrd({ cluster, kind: plural.slice(0, -1), plural, properties: { spec } });
    };
    await fixture.declare(...kinds.flatMap((key) => clusters.map((cluster) => described(key, cluster))));
    // Some seeds read few changes on the calling thread.
    const pages = seed % 4 < 2 ? fixture.pages : null;
    const feed = new ChangeFeed(fixture.reader, silentLogger, { maxChanges: 10, batch: 4, pages });
    onTestFinished(() => feed.close());
    let listening = fixture.writer().onCommit((commit) => feed.wake(commit));
    let scopes = must(scopesOfCallers[0], 'scopes');

    const history = new TableHistory(fixture);
    const expectedAt = (revision: number, keys: readonly string[], filter: Filter, seen: Scopes): Held | null =>
      history.at(revision, (object) => {
        const isSeen = keys.includes(object.key) && isVisible(seen.of(object.key), object);
        return isSeen && matches(filter, object);
      });
    const subscriptionOf = (keys: readonly string[], filter: Filter, isOptional: boolean): Subscription => ({
      open: (start, signal) =>
        liveObjects(feed, {
          kinds: keys.map((key) => ({
            kind: { key, tree: must(fixture.engine.source.generation().kind(key), 'the kind is in the schema').tree },
            clusters,
            isOptional,
          })),
          filter,
          rights: { at: async () => scopes, after: () => scopes },
          start,
          projection: 'whole',
          signal,
          chunk: 3,
          now: () => 0,
          check: () => {},
        }),
      expectedAt(cursor) {
        const { sequence, epoch: _, ...marks } = decodeLiveCursor(cursor);
        const seen = must(
          scopesOf.get(JSON.stringify([keys, clustersIn(filter), marks])),
          'the marks are of one of the scopes',
        );
        return expectedAt(sequence, keys, filter, seen);
      },
    });
    const subscribers = followed.flatMap((keys, index) =>
      filters.map((filter) => {
        const subscription = subscriptionOf(keys, filter, index % 2 === 0);
        return { keys, filter, subscription, checked: new CheckedSubscriber(subscription) };
      }),
    );
    const speeds = subscribers.map(() => random());

    const object = (name: string, uid?: string) =>
      made({
        name,
        ...(uid === undefined ? {} : { uid }),
        spec: { color: pick(['red', 'green']), size: Math.floor(random() * 6) },
      });
    let lives = 0;
    const write = async (): Promise<void> => {
      const cluster = pick(clusters);
      const key = pick(kinds);
      const { synced } = fixture.writer().state(fixture.handle(key, cluster));
      const chance = random();
      if (!synced ? chance < 0.3 : chance < 0.05) {
        const listed = names.filter(() => random() < 0.6).map((name) => object(name));
        await fixture.sync(key, listed, cluster);
      } else if (!synced) {
        // Not yet.
      } else if (chance < 0.25) {
        fixture.apply(key, 'DELETED', object(pick(names)), cluster);
      } else if (chance < 0.35) {
        lives += 1;
        fixture.apply(key, 'ADDED', object(pick(names), `life-${seed}-${lives}`), cluster);
      } else if (chance < 0.37) {
        listening();
        fixture.reopen();
        listening = fixture.writer().onCommit((commit) => feed.wake(commit));
      } else if (chance < 0.42) {
        while (fixture.writer().maintain());
      } else {
        fixture.apply(key, 'MODIFIED', object(pick(names)), cluster);
      }
      await history.note();
      if (random() < 0.05) {
        scopes = pick(scopesOfCallers);
        feed.interrupt();
      }
    };

    await history.note();
    const sum = (of: (subscriber: CheckedSubscriber) => number) =>
      subscribers.reduce((total, { checked }) => total + of(checked), 0);
    const isEnough = () =>
      sum(({ checked }) => checked) > 200 && sum(({ mixed }) => mixed) > 5 && sum(({ gaps }) => gaps) > 0;
    await stepUntil(300, isEnough, async () => {
      await write();
      for (const { checked } of subscribers) checked.check();
      for (const [index, { checked, subscription }] of subscribers.entries()) {
        if (random() < must(speeds[index], 'a speed')) checked.request();
        if (random() < 0.02) {
          await checked.leave();
          const { cursor, held, isWhole } = checked.client;
          // A client that lost its connection inside a snapshot drops what it has.
          checked.resume(subscription, cursor === null || !isWhole ? null : { held: new Map(held), cursor });
        }
      }
    });
    expect(sum(({ checked }) => checked)).toBeGreaterThan(200);
    expect(sum(({ mixed }) => mixed)).toBeGreaterThan(5);
    expect(sum(({ gaps }) => gaps)).toBeGreaterThan(0);
    const revision = fixture.writer().revision();
    feed.wake();
    await Promise.all(
      subscribers.map(({ keys, filter, checked }) =>
        checked.drain(must(expectedAt(revision, keys, filter, scopes), 'the last revision was noted')),
      ),
    );
    await Promise.all(subscribers.map(({ checked }) => checked.leave()));
  },
);
