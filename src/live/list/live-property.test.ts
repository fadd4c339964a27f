/**
 * The property of live lists of several kinds: after each message with a cursor, a client holds the objects that matched at that
 * cursor. It holds for random writes, commit signals and reading speeds. It also holds across GAPs, and for clients that resume by
 * `since` with another filter. Changes of a kind without subscribers are never read.
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
import { localUser } from '../../access/caller.ts';
import { rightsOf, seesEverything } from '../../access/rights.ts';
import { silentLogger } from '../../base/log.ts';
import { must } from '../../base/must.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import { matches } from '../../query/evaluate/matches.ts';
import { everything, type Filter } from '../../query/plan/filter.ts';
import { changesOfKind, changesStatement } from '../../store/read/changes.ts';
import { readLayouts } from '../../store/read/layout.ts';
import { type CommittedChanges, joinCommits } from '../../store/types/change.ts';
import type { Reader } from '../../store/types/lease.ts';
import type { PageReader } from '../../store/types/page-reader.ts';
import { ChangeFeed } from '../feed/change-feed.ts';
import { decodeLiveCursor } from '../log/live-cursor.ts';
import { liveList } from './live-list.ts';

const small: Filter = {
  kind: 'compare',
  path: parsePath('spec.size'),
  type: 'Int64',
  operator: 'lt',
  values: [3],
  ignoreCase: false,
};
const gears = 'gears.example.com';
const parts = 'parts.example.com';
/** A kind that changes like the others, but has no subscriber. */
const noise = 'noises.example.com';
const kinds = [things, gears, parts, noise];

const filtersOf = (key: string): readonly Filter[] => [
  everything,
  colored('red'),
  { kind: 'not', of: colored('red') },
  small,
  { kind: 'and', of: [colored('green'), small] },
  { kind: 'clusters', in: ['west'] },
  { kind: 'ids', in: ['a', 'b', 'c'].map((name) => ({ cluster: 'east', key, namespace: 'default', name })) },
];
/** Kind and filter of each subscriber. The last is the only one of its kind, so that the kind loses and gains its window. */
const subscriptions = [
  ...filtersOf(things).map((filter) => [things, filter] as const),
  [gears, everything] as const,
  [gears, small] as const,
  [parts, everything] as const,
];
const subscribed = [...new Set(subscriptions.map(([key]) => key))];
const names = [...'abcdefgh'];
const clusters = ['east', 'west'];
const spec = { type: 'object', properties: { size: { type: 'integer' }, color: { type: 'string' } } };

function describedKind(key: string, cluster: string) {
  const [plural = ''] = key.split('.');
  return describedCrd({ cluster, kind: plural.slice(0, -1), plural, properties: { spec } });
}

/** Wakes the feed at random. Signals are sent, joined, repeated or lost. Some wakes have no signal. */
class Signals {
  readonly #feed: ChangeFeed;
  readonly #random: () => number;
  #unsent: CommittedChanges | null = null;
  #sent: CommittedChanges | null = null;

  constructor(feed: ChangeFeed, random: () => number) {
    this.#feed = feed;
    this.#random = random;
  }

  /** Records a commit, and may wake the feed. */
  note(commit: CommittedChanges): void {
    this.#unsent = this.#unsent === null ? commit : joinCommits(this.#unsent, commit);
    const chance = this.#random();
    if (chance < 0.6) this.send();
    else if (chance < 0.7) this.#feed.wake();
    else if (chance < 0.8 && this.#sent !== null) this.#feed.wake(this.#sent);
    // The signal is lost. The next signal does not connect to those before.
    else if (chance < 0.85) this.#unsent = null;
  }

  /** Wakes the feed with all commits since the last signal. */
  send(): void {
    if (this.#unsent !== null) this.#feed.wake(this.#unsent);
    this.#sent = this.#unsent ?? this.#sent;
    this.#unsent = null;
  }
}

/** The reader, which also records the kinds whose changes it reads. */
function notingKinds(reader: Reader, kindIds: Set<number>): Reader {
  return {
    ...reader,
    lease: (work, options) =>
      reader.lease(
        (lease) =>
          work({
            revision: lease.revision,
            epoch: lease.epoch,
            layoutVersion: lease.layoutVersion,
            fill: (statements, limit) => lease.fill(statements, limit),
            async all(statement) {
              const rows = await lease.all(statement);
              if (statement.sql === changesOfKind) for (const row of rows) kindIds.add(Number(row[2]));
              return rows;
            },
          }),
        options,
      ),
  };
}

/** Notes the kinds whose changes are read at once. */
function notingPages(pages: PageReader, kindIds: Set<number>): PageReader {
  const { sql } = changesStatement({ kindId: 0, after: 0, limit: 0 });
  return {
    pages: (...given) => pages.pages(...given),
    pagesNow(statements, requests) {
      const read = pages.pagesNow(statements, requests);
      if (read === null || read === 'spent') return read;
      for (const [index, statement] of statements.entries()) {
        if (statement.sql === sql) for (const row of read.rows[index] ?? []) kindIds.add(Number(row[2]));
      }
      return read;
    },
  };
}

test.each(Array.from({ length: 8 }, (_, index) => index + 1))(
  'clients hold what matches at each cursor, seed %i [L1] [L2]',
  async (seed) => {
    const random = seededRandom(seed);
    const pick = <T>(list: readonly T[]): T => must(list[Math.floor(random() * list.length)], 'an item');
    // Odd seeds keep little of the log, so that positions fall off its floor.
    const maxBytes = seed % 2 === 1 ? 6000 : 1e9;
    const fixture = engineFixture({ writer: { maxDifferences: 4, changeLog: { maxBytes, maxAgeMs: 3_600_000 } } });
    await fixture.declare(...kinds.flatMap((key) => clusters.map((cluster) => describedKind(key, cluster))));
    const readKinds = new Set<number>();
    // Some seeds read few changes on the calling thread.
    const pages = seed % 4 < 2 ? notingPages(fixture.pages, readKinds) : null;
    const feed = new ChangeFeed(notingKinds(fixture.reader, readKinds), silentLogger, {
      maxChanges: 10,
      batch: 4,
      pages,
    });
    onTestFinished(() => feed.close());
    const signals = new Signals(feed, random);
    let listening = fixture.writer().onCommit((commit) => signals.note(commit));

    const history = new TableHistory(fixture);
    const expectedAt = (revision: number, key: string, filter: Filter): Held | null =>
      history.at(revision, (object) => object.key === key && matches(filter, object));
    const subscriptionOf = (key: string, filter: Filter): Subscription => ({
      open(start, signal) {
        const { tree } = must(fixture.engine.source.generation().kind(key), 'the kind is in the schema');
        return liveList(feed, {
          kind: { key, tree },
          filter,
          rights: rightsOf(seesEverything, localUser),
          clusters: null,
          start,
          projection: 'whole',
          signal,
          chunk: 2,
          now: () => 0,
          check: () => {},
        });
      },
      expectedAt: (cursor) => expectedAt(decodeLiveCursor(cursor).sequence, key, filter),
    });
    const subscribers = subscriptions.map(([key, filter]) => ({
      key,
      filter,
      checked: new CheckedSubscriber(subscriptionOf(key, filter)),
    }));
    const speeds = subscribers.map(({ key }) => (key === parts ? 0.5 : random()));

    const object = (name: string, uid?: string) =>
      made({
        name,
        ...(uid === undefined ? {} : { uid }),
        spec: { color: pick(['red', 'green']), size: Math.floor(random() * 6) },
      });
    let lives = 0;
    const write = async (): Promise<void> => {
      const cluster = pick(clusters);
      // Things are written to as often as all others together.
      const key = random() < 0.5 ? things : pick(kinds.slice(1));
      const { synced } = fixture.writer().state(fixture.handle(key, cluster));
      const chance = random();
      if (!synced || chance < 0.08) {
        await fixture.sync(
          key,
          names.filter(() => random() < 0.6).map((name) => object(name)),
          cluster,
        );
      } else if (chance < 0.16) {
        // A relist with few differences: only one object changes.
        const one = pick(names);
        const rows = [
          ...must(
            history.at(fixture.writer().revision(), (object) => object.key === key && object.cluster === cluster),
            'each write is noted',
          ),
        ];
        const kept = rows.filter(([id]) => !id.endsWith(` ${one}`)).map(([, body]) => body);
        await fixture.sync(key, random() < 0.5 ? kept : [...kept, object(one)], cluster);
      } else if (chance < 0.3) {
        fixture.apply(key, 'DELETED', object(pick(names)), cluster);
      } else if (chance < 0.4) {
        lives += 1;
        fixture.apply(key, 'ADDED', object(pick(names), `life-${seed}-${lives}`), cluster);
      } else if (chance < 0.43) {
        listening();
        fixture.reopen();
        listening = fixture.writer().onCommit((commit) => signals.note(commit));
      } else if (chance < 0.5) {
        while (fixture.writer().maintain());
      } else {
        fixture.apply(key, 'MODIFIED', object(pick(names)), cluster);
      }
      await history.note();
    };

    await history.note();
    const checkedOf = (key: string) =>
      Math.max(...subscribers.filter((each) => each.key === key).map(({ checked: { checked } }) => checked));
    const isEnough = () =>
      subscribers.reduce((sum, { checked: { checked } }) => sum + checked, 0) > 50 &&
      subscribed.every((key) => checkedOf(key) > 5) &&
      subscribers.some(({ checked: { gaps } }) => gaps > 0);
    await stepUntil(300, isEnough, async () => {
      await write();
      for (const { checked } of subscribers) checked.check();
      for (const [index, subscriber] of subscribers.entries()) {
        const { key, checked } = subscriber;
        if (random() < must(speeds[index], 'a speed')) checked.request();
        if (random() < 0.03) {
          await checked.leave();
          const filter = pick(filtersOf(key));
          // The client begins with the result of a list with the new filter at its cursor.
          const { cursor, sequence } = checked.client;
          const held = sequence === null ? null : expectedAt(sequence, key, filter);
          const from = cursor === null || held === null ? null : { held, cursor };
          checked.resume(subscriptionOf(key, filter), from);
          subscriber.filter = filter;
        }
      }
    });
    expect(subscribers.reduce((sum, { checked: { checked } }) => sum + checked, 0)).toBeGreaterThan(50);
    for (const key of subscribed) expect(checkedOf(key), key).toBeGreaterThan(5);
    expect(subscribers.reduce((sum, { checked: { gaps } }) => sum + gaps, 0)).toBeGreaterThan(0);
    const revision = fixture.writer().revision();
    // The signal of the last commit may be lost.
    feed.wake();
    await Promise.all(
      subscribers.map(({ key, filter, checked }) =>
        checked.drain(must(expectedAt(revision, key, filter), 'the last revision was noted')),
      ),
    );
    const layouts = await fixture.reader.lease((lease) => readLayouts(lease));
    const idOf = (key: string) => must(layouts.get(key)?.kindId, 'the kind is in the store');
    expect([...readKinds].sort()).toEqual(subscribed.map(idOf).sort());
    expect(feed.reads.now > 0).toBe(pages !== null);
    await Promise.all(subscribers.map(({ checked }) => checked.leave()));
  },
);
