/**
 * The property of live lists of several kinds: after each message with a cursor, a client holds the objects that matched at that
 * cursor. It holds for random writes, commit signals and reading speeds. It also holds across GAPs, and for clients that resume by
 * `since` with another filter. Changes of a kind without subscribers are never read.
 */

import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { describedCrd, type EngineFixture, engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { LiveClient } from '../../../test/kit/live-client.ts';
import { colored, type Messages, things } from '../../../test/kit/live-lists.ts';
import { seededRandom } from '../../../test/kit/seeded-random.ts';
import { localUser } from '../../access/caller.ts';
import { rightsOf, seesEverything } from '../../access/rights.ts';
import { silentLogger } from '../../base/log.ts';
import { must } from '../../base/must.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { matches } from '../../query/evaluate/matches.ts';
import { everything, type Filter } from '../../query/plan/filter.ts';
import { changesOfKind, changesStatement } from '../../store/read/changes.ts';
import { readLayouts } from '../../store/read/layout.ts';
import { type CommittedChanges, joinCommits } from '../../store/types/change.ts';
import type { Reader } from '../../store/types/lease.ts';
import type { PageReader } from '../../store/types/page-reader.ts';
import { ChangeFeed } from '../feed/change-feed.ts';
import { decodeLiveCursor, nowhere } from '../log/live-cursor.ts';
import { liveList } from './live-list.ts';
import type { LiveStart } from './live-request.ts';

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

/** The contents of the table after each write, kept by the test. */
class History {
  /** Bodies by `kind cluster namespace name`, by revision. */
  readonly tables = new Map<number, ReadonlyMap<string, string>>();
  readonly #fixture: EngineFixture;

  constructor(fixture: EngineFixture) {
    this.#fixture = fixture;
  }

  /** Records the current table. */
  async note(): Promise<void> {
    await this.#fixture.reader.lease(async (lease) => {
      const rows = await lease.all({
        sql: `SELECT k.key, o.cluster, o.namespace, o.name, coalesce(b.text, json(b.body)) FROM object o JOIN body b ON b.id = o.id
              JOIN resource r ON r.rowset = o.rowset AND r.synced = 1 JOIN kind k ON k.id = o.kind`,
        params: [],
      });
      const table = new Map(rows.map((row) => [row.slice(0, 4).join(' '), String(row[4])]));
      this.tables.set(lease.revision, table);
    });
  }

  /** The matches of a kind at a revision; null for a revision inside a transaction, which no snapshot shows. */
  at(revision: number, key: string, filter: Filter): ReadonlyMap<string, string> | null {
    const table = this.tables.get(revision);
    if (table === undefined) return null;
    const held = new Map<string, string>();
    for (const [id, text] of table) {
      const [kind, cluster = '', namespace = '', name = ''] = id.split(' ');
      if (kind !== key) continue;
      const body = parseExact(text);
      if (!matches(filter, { cluster, key, namespace, name, body })) continue;
      held.set(`${cluster} ${namespace} ${name}`, JSON.stringify(body));
    }
    return held;
  }
}

type Open = (start: LiveStart, key: string, filter: Filter, signal: AbortSignal) => Messages;

/** A client that reads and resumes when the test calls it. */
class Subscriber {
  client = new LiveClient();
  readonly key: string;
  filter: Filter;
  checked = 0;
  /** The objects that were held at each cursor, to be compared when the history has been recorded. */
  #unchecked: { readonly sequence: number; readonly filter: Filter; readonly held: ReadonlyMap<string, string> }[] = [];
  gaps = 0;
  readonly #open: Open;
  readonly #history: History;
  #stop = new AbortController();
  #messages: Messages;
  #pending: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(open: Open, history: History, key: string, filter: Filter) {
    this.#open = open;
    this.#history = history;
    this.key = key;
    this.filter = filter;
    this.#messages = open({ at: 'snapshot' }, key, filter, this.#stop.signal);
  }

  /** Requests a message, unless one is pending. */
  request(): void {
    this.#pending ??= this.#read().catch((error: unknown) => {
      this.#failure = { error };
    });
  }

  async #read(): Promise<void> {
    const step = await this.#messages.next();
    this.#pending = null;
    if (step.done === true) {
      if (!this.#stop.signal.aborted) throw new Error('the list has ended by itself');
      return;
    }
    if (step.value.phase === 'GAP') this.gaps += 1;
    this.client.take(step.value);
    const { sequence } = decodeLiveCursor(step.value.cursor);
    if (sequence !== nowhere) this.#unchecked.push({ sequence, filter: this.filter, held: new Map(this.client.held) });
  }

  /** Compares everything that was held since the last time. */
  check(): void {
    if (this.#failure !== null) throw this.#failure.error;
    for (const { sequence, filter, held } of this.#unchecked.splice(0)) {
      const expected = this.#history.at(sequence, this.key, filter);
      if (expected === null) continue;
      expect(Object.fromEntries(held), `at ${sequence}`).toEqual(Object.fromEntries(expected));
      this.checked += 1;
    }
  }

  /** Breaks the connection. The client resumes from its newest cursor, with another filter. */
  async resume(filter: Filter): Promise<void> {
    await this.leave();
    const { cursor, sequence } = this.client;
    const held = sequence === null ? null : this.#history.at(sequence, this.key, filter);
    this.filter = filter;
    this.#stop = new AbortController();
    if (cursor === null || held === null) {
      this.client = new LiveClient();
      this.#messages = this.#open({ at: 'snapshot' }, this.key, filter, this.#stop.signal);
    } else {
      // The client begins with the result of a list with this filter at the cursor.
      this.client = new LiveClient({ held, cursor });
      this.#messages = this.#open(
        { at: 'cursor', cursor: decodeLiveCursor(cursor) },
        this.key,
        filter,
        this.#stop.signal,
      );
    }
  }

  async leave(): Promise<void> {
    this.#stop.abort();
    await this.#pending;
    await this.#messages.return();
  }

  /** Reads until no message is left. */
  async drain(done: () => boolean): Promise<void> {
    const deadline = performance.now() + 30_000;
    for (;;) {
      this.check();
      this.request();
      const quiet = await Promise.race([
        must(this.#pending, 'it was requested').then(() => false),
        new Promise<true>((resolve) => setTimeout(() => resolve(true), 150)),
      ]);
      // On a busy machine a message may take longer than any short time.
      if (quiet && (done() || performance.now() > deadline)) break;
    }
    this.check();
  }
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
  'clients hold what matches at each cursor, seed %i',
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

    const history = new History(fixture);
    const open: Open = (start, key, filter, signal) => {
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
    };
    const subscribers = subscriptions.map(([key, filter]) => new Subscriber(open, history, key, filter));
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
        const rows = [...(history.tables.get(fixture.writer().revision()) ?? [])].filter(([id]) =>
          id.startsWith(`${key} ${cluster} `),
        );
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
    for (let step = 0; step < 300; step += 1) {
      await write();
      for (const subscriber of subscribers) subscriber.check();
      for (const [index, subscriber] of subscribers.entries()) {
        if (random() < must(speeds[index], 'a speed')) subscriber.request();
        if (random() < 0.03) await subscriber.resume(pick(filtersOf(subscriber.key)));
      }
    }
    const revision = fixture.writer().revision();
    // The signal of the last commit may be lost.
    feed.wake();
    const expected = ({ key, filter }: Subscriber) =>
      Object.fromEntries(must(history.at(revision, key, filter), 'the last revision was noted'));
    const held = ({ client }: Subscriber) => Object.fromEntries(client.held);
    await Promise.all(subscribers.map((each) => each.drain(() => isDeepStrictEqual(held(each), expected(each)))));
    for (const each of subscribers) expect(held(each)).toEqual(expected(each));
    expect(subscribers.reduce((sum, { checked }) => sum + checked, 0)).toBeGreaterThan(50);
    for (const key of subscribed) {
      const checked = subscribers.filter((each) => each.key === key).map((each) => each.checked);
      expect(Math.max(...checked), key).toBeGreaterThan(5);
    }
    expect(subscribers.reduce((sum, { gaps }) => sum + gaps, 0)).toBeGreaterThan(0);
    const layouts = await fixture.reader.lease((lease) => readLayouts(lease));
    const idOf = (key: string) => must(layouts.get(key)?.kindId, 'the kind is in the store');
    expect([...readKinds].sort()).toEqual(subscribed.map(idOf).sort());
    expect(feed.reads.now > 0).toBe(pages !== null);
    await Promise.all(subscribers.map((subscriber) => subscriber.leave()));
  },
);
