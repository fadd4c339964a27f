/**
 * The property of live lists of several kinds with one cursor: after each message with a cursor, a client holds the objects of all its
 * kinds that matched at that cursor and that its caller could see. It holds for random writes, lists, rights, commit signals and reading
 * speeds, across GAPs, and for clients that resume by `since`.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { describedCrd, type EngineFixture, engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { LiveClient } from '../../../test/kit/live-client.ts';
import { colored, type Messages, things } from '../../../test/kit/live-lists.ts';
import { seededRandom } from '../../../test/kit/seeded-random.ts';
import { allRows, isVisible, noRows, type Scope, type Scopes, scopeIn } from '../../access/scope.ts';
import { silentLogger } from '../../base/log.ts';
import { must } from '../../base/must.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { matches } from '../../query/evaluate/matches.ts';
import { clustersIn, everything, type Filter } from '../../query/plan/filter.ts';
import { ChangeFeed } from '../feed/change-feed.ts';
import type { LiveStart } from '../list/live-request.ts';
import { cursorMarks, decodeLiveCursor, nowhere } from '../log/live-cursor.ts';
import { liveObjects } from './live-objects.ts';

const gears = 'gears.example.com';
const parts = 'parts.example.com';
/** A kind that changes like the others, and that nobody follows. */
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
const sights: readonly Scopes[] = [
  { id: 'all', of: () => allRows },
  { id: 'no gears', of: (key) => (key === gears ? noRows : allRows) },
  { id: 'west parts', of: (key) => (key === parts ? west : allRows) },
  { id: 'single things', of: (key) => (key === things ? single : allRows) },
];

const followed: readonly (readonly string[])[] = [[things, gears], [things, gears, parts], [gears, parts], [parts]];

/** The scopes in which a cursor was made, by its kinds and marks. A filter narrows the scopes to its clusters. */
const sightOf = new Map(
  followed.flatMap((keys) =>
    [null, ['west']].flatMap((within) =>
      sights.map((sight) => {
        const visible = new Map(keys.map((key) => [key, scopeIn(sight.of(key), within)]));
        return [JSON.stringify([keys, within, cursorMarks(visible)]), sight] as const;
      }),
    ),
  ),
);

/** The contents of the tables after each write. */
class History {
  readonly #tables = new Map<number, ReadonlyMap<string, string>>();
  readonly #fixture: EngineFixture;

  constructor(fixture: EngineFixture) {
    this.#fixture = fixture;
  }

  async note(): Promise<void> {
    await this.#fixture.reader.lease(async (lease) => {
      const rows = await lease.all({
        sql: `SELECT k.key, o.cluster, o.namespace, o.name, coalesce(b.text, json(b.body)) FROM object o JOIN body b ON b.id = o.id
              JOIN resource r ON r.rowset = o.rowset AND r.synced = 1 JOIN kind k ON k.id = o.kind`,
        params: [],
      });
      this.#tables.set(lease.revision, new Map(rows.map((row) => [row.slice(0, 4).join(' '), String(row[4])])));
    });
  }

  /** The matches at a revision; null for a revision inside a transaction, which no snapshot shows. */
  at(
    revision: number,
    keys: readonly string[],
    filter: Filter,
    sight: Scopes,
  ): Readonly<Record<string, string>> | null {
    const table = this.#tables.get(revision);
    if (table === undefined) return null;
    const held: Record<string, string> = {};
    for (const [id, text] of table) {
      const [key = '', cluster = '', namespace = '', name = ''] = id.split(' ');
      const body = parseExact(text);
      const identity = { cluster, key, namespace, name };
      if (!keys.includes(key) || !isVisible(sight.of(key), identity)) continue;
      if (matches(filter, { ...identity, body })) held[id] = JSON.stringify(body);
    }
    return held;
  }
}

type Open = (start: LiveStart, of: Subscription, signal: AbortSignal) => Messages;

interface Subscription {
  readonly keys: readonly string[];
  readonly filter: Filter;
  readonly isOptional: boolean;
}

class Subscriber {
  readonly of: Subscription;
  client = newClient();
  checked = 0;
  gaps = 0;
  /** LIVE messages with changes of several kinds. */
  mixed = 0;
  readonly #open: Open;
  readonly #history: History;
  #unchecked: { readonly cursor: string; readonly held: ReadonlyMap<string, string> }[] = [];
  #stop = new AbortController();
  #messages: Messages;
  #pending: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(open: Open, history: History, of: Subscription) {
    this.#open = open;
    this.#history = history;
    this.of = of;
    this.#messages = open({ at: 'snapshot' }, of, this.#stop.signal);
  }

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
    const { phase, cursor, changes } = step.value;
    if (phase === 'GAP') this.gaps += 1;
    if (phase === 'LIVE' && new Set(changes.map(({ identity }) => identity.key)).size > 1) this.mixed += 1;
    this.client.take(step.value);
    if (decodeLiveCursor(cursor).sequence !== nowhere) {
      this.#unchecked.push({ cursor, held: new Map(this.client.held) });
    }
  }

  /** Compares everything that was held since the last time. */
  check(): void {
    if (this.#failure !== null) throw this.#failure.error;
    const { keys, filter } = this.of;
    for (const { cursor, held } of this.#unchecked.splice(0)) {
      const { sequence, epoch: _, ...marks } = decodeLiveCursor(cursor);
      const sight = must(
        sightOf.get(JSON.stringify([keys, clustersIn(filter), marks])),
        'the marks are of one of the scopes',
      );
      const expected = this.#history.at(sequence, keys, filter, sight);
      if (expected === null) continue;
      expect(Object.fromEntries(held), `at ${sequence}`).toEqual(expected);
      this.checked += 1;
    }
  }

  /** Breaks the connection. The client resumes from its newest cursor. */
  async resume(): Promise<void> {
    await this.leave();
    this.check();
    const { cursor, held } = this.client;
    this.#stop = new AbortController();
    const start: LiveStart = cursor === null ? { at: 'snapshot' } : { at: 'cursor', cursor: decodeLiveCursor(cursor) };
    // A client that lost its connection inside a snapshot drops what it has.
    this.client = newClient(cursor === null || !this.client.isWhole ? undefined : { held: new Map(held), cursor });
    this.#messages = this.#open(this.client.cursor === null ? { at: 'snapshot' } : start, this.of, this.#stop.signal);
  }

  async leave(): Promise<void> {
    this.#stop.abort();
    await this.#pending;
    await this.#messages.return();
  }

  async drain(done: () => boolean): Promise<void> {
    const deadline = performance.now() + 30_000;
    for (;;) {
      this.check();
      this.request();
      const quiet = await Promise.race([
        must(this.#pending, 'it was requested').then(() => false),
        new Promise<true>((resolve) => setTimeout(() => resolve(true), 150)),
      ]);
      if (quiet && (done() || performance.now() > deadline)) break;
    }
    this.check();
  }
}

function newClient(held?: ConstructorParameters<typeof LiveClient>[0]): LiveClient {
  return new LiveClient(held, ({ key, cluster, namespace, name }) => [key, cluster, namespace, name].join(' '));
}

test.each(Array.from({ length: 8 }, (_, index) => index + 1))(
  'clients hold what matches at each cursor, of all their kinds, seed %i',
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
    let sight = must(sights[0], 'a sight');

    const history = new History(fixture);
    const open: Open = (start, { keys, filter, isOptional }, signal) =>
      liveObjects(feed, {
        kinds: keys.map((key) => ({
          kind: { key, tree: must(fixture.engine.source.generation().kind(key), 'the kind is in the schema').tree },
          clusters,
          isOptional,
        })),
        filter,
        rights: { at: async () => sight, after: () => sight },
        start,
        projection: 'whole',
        signal,
        chunk: 3,
        now: () => 0,
        check: () => {},
      });
    const subscribers = followed.flatMap((keys, index) =>
      filters.map((filter) => new Subscriber(open, history, { keys, filter, isOptional: index % 2 === 0 })),
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
        sight = pick(sights);
        feed.interrupt();
      }
    };

    await history.note();
    for (let step = 0; step < 300; step += 1) {
      await write();
      for (const subscriber of subscribers) subscriber.check();
      for (const [index, subscriber] of subscribers.entries()) {
        if (random() < must(speeds[index], 'a speed')) subscriber.request();
        if (random() < 0.02) await subscriber.resume();
      }
    }
    const revision = fixture.writer().revision();
    feed.wake();
    const expected = ({ of: { keys, filter } }: Subscriber) =>
      must(history.at(revision, keys, filter, sight), 'the last revision was noted');
    const held = ({ client }: Subscriber) => Object.fromEntries(client.held);
    await Promise.all(subscribers.map((each) => each.drain(() => isDeepStrictEqual(held(each), expected(each)))));
    for (const each of subscribers) expect(held(each)).toEqual(expected(each));
    expect(subscribers.reduce((sum, { checked }) => sum + checked, 0)).toBeGreaterThan(200);
    expect(subscribers.reduce((sum, { mixed }) => sum + mixed, 0)).toBeGreaterThan(5);
    expect(subscribers.reduce((sum, { gaps }) => sum + gaps, 0)).toBeGreaterThan(0);
    await Promise.all(subscribers.map((subscriber) => subscriber.leave()));
  },
);
