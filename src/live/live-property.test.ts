/**
 * The property of live lists: whatever is written, and however fast a client reads, what it holds after a message with a cursor is
 * what matched at that cursor; across GAPs, and when it goes on by `since` with another filter.
 */

import { expect, onTestFinished, test } from 'vitest';
import { type EngineFixture, engineFixture, made } from '../../test/kit/engine-fixture.ts';
import { LiveClient } from '../../test/kit/live-client.ts';
import { colored, type Messages, thing, things } from '../../test/kit/live-lists.ts';
import { seededRandom } from '../../test/kit/seeded-random.ts';
import { unrestricted } from '../access/scope.ts';
import { silentLogger } from '../base/log.ts';
import { must } from '../base/must.ts';
import { parsePath } from '../catalog/tree/path.ts';
import { parseExact } from '../catalog/values/values.ts';
import { matches } from '../query/evaluate/matches.ts';
import { everything, type Filter } from '../query/plan/filter.ts';
import { ChangeFeed } from './change-feed.ts';
import { decodeLiveCursor, nowhere } from './live-cursor.ts';
import { type LiveStart, liveList } from './live-list.ts';

const small: Filter = {
  kind: 'compare',
  path: parsePath('spec.size'),
  type: 'Int64',
  operator: 'lt',
  values: [3],
  ignoreCase: false,
};
const filters: readonly Filter[] = [
  everything,
  colored('red'),
  { kind: 'not', of: colored('red') },
  small,
  { kind: 'and', of: [colored('green'), small] },
  { kind: 'clusters', in: ['west'] },
  { kind: 'ids', in: ['a', 'b', 'c'].map((name) => ({ cluster: 'east', key: things, namespace: 'default', name })) },
];
const names = [...'abcdefgh'];
const clusters = ['east', 'west'];

/** The table at every revision that a write has ended at, kept by the test. */
class History {
  /** Bodies by cluster and name, and the log's own account of every change after them. */
  readonly tables = new Map<number, ReadonlyMap<string, string>>();
  readonly #fixture: EngineFixture;

  constructor(fixture: EngineFixture) {
    this.#fixture = fixture;
  }

  /** Notes the table as it is now. */
  async note(): Promise<void> {
    await this.#fixture.reader.lease(async (lease) => {
      const rows = await lease.all({
        sql: `SELECT o.cluster, o.namespace, o.name, coalesce(b.text, json(b.body)) FROM object o JOIN body b ON b.id = o.id
              JOIN resource r ON r.rowset = o.rowset AND r.synced = 1`,
        params: [],
      });
      this.tables.set(
        lease.revision,
        new Map(rows.map(([cluster, namespace, name, body]) => [`${cluster} ${namespace} ${name}`, String(body)])),
      );
    });
  }

  /** What matches at a revision; null for one in the middle of a transaction, which no table ever showed. */
  at(revision: number, filter: Filter): ReadonlyMap<string, string> | null {
    const table = this.tables.get(revision);
    if (table === undefined) return null;
    const held = new Map<string, string>();
    for (const [id, text] of table) {
      const [cluster = '', namespace = '', name = ''] = id.split(' ');
      const body = parseExact(text);
      if (matches(filter, { cluster, key: things, namespace, name, body })) held.set(id, JSON.stringify(body));
    }
    return held;
  }
}

/** A client that reads when it is told to, and goes on elsewhere when it is told to. */
class Subscriber {
  client = new LiveClient();
  filter: Filter;
  checked = 0;
  /** What was held at which cursor, to be compared when the history has been noted. */
  #unchecked: { readonly sequence: number; readonly filter: Filter; readonly held: ReadonlyMap<string, string> }[] = [];
  gaps = 0;
  readonly #open: (start: LiveStart, filter: Filter, signal: AbortSignal) => Messages;
  readonly #history: History;
  #stop = new AbortController();
  #messages: Messages;
  #pending: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(
    open: (start: LiveStart, filter: Filter, signal: AbortSignal) => Messages,
    history: History,
    filter: Filter,
  ) {
    this.#open = open;
    this.#history = history;
    this.filter = filter;
    this.#messages = open({ at: 'snapshot' }, filter, this.#stop.signal);
  }

  /** Asks for a message unless it waits for one. */
  ask(): void {
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
      const expected = this.#history.at(sequence, filter);
      if (expected === null) continue;
      expect(Object.fromEntries(held), `at ${sequence}`).toEqual(Object.fromEntries(expected));
      this.checked += 1;
    }
  }

  /** The connection breaks; the client goes on from its newest cursor, with another filter. */
  async resume(filter: Filter): Promise<void> {
    await this.leave();
    const { cursor, sequence } = this.client;
    const held = sequence === null ? null : this.#history.at(sequence, filter);
    this.filter = filter;
    this.#stop = new AbortController();
    if (cursor === null || held === null) {
      this.client = new LiveClient();
      this.#messages = this.#open({ at: 'snapshot' }, filter, this.#stop.signal);
    } else {
      // What a list with this filter would have shown at the cursor.
      this.client = new LiveClient({ held, cursor });
      this.#messages = this.#open({ at: 'cursor', cursor: decodeLiveCursor(cursor) }, filter, this.#stop.signal);
    }
  }

  async leave(): Promise<void> {
    this.#stop.abort();
    await this.#pending;
    await this.#messages.return();
  }

  /** Reads until nothing is left to tell. */
  async drain(): Promise<void> {
    for (;;) {
      this.check();
      this.ask();
      const quiet = await Promise.race([
        must(this.#pending, 'it was asked').then(() => false),
        new Promise<true>((resolve) => setTimeout(() => resolve(true), 150)),
      ]);
      if (quiet) break;
    }
    this.check();
  }
}

test.each(Array.from({ length: 8 }, (_, index) => index + 1))(
  'clients hold what matches at each cursor, seed %i',
  async (seed) => {
    const random = seededRandom(seed);
    const pick = <T>(list: readonly T[]): T => must(list[Math.floor(random() * list.length)], 'an item');
    // Odd seeds keep little of the log, so that positions fall off its floor.
    const maxBytes = seed % 2 === 1 ? 6000 : 1e9;
    const fixture = engineFixture({ writer: { maxDifferences: 4, changeLog: { maxBytes, maxAgeMs: 3_600_000 } } });
    await fixture.declare(thing('east'), thing('west'));
    const kind = must(fixture.engine.source.generation().kind(things), 'the kind is in the schema');
    const feed = new ChangeFeed(fixture.reader, silentLogger, { maxChanges: 10, batch: 4 });
    onTestFinished(() => feed.close());
    let listening = fixture.writer().onCommit(() => feed.wake());

    const history = new History(fixture);
    const open = (start: LiveStart, filter: Filter, signal: AbortSignal): Messages =>
      liveList(feed, {
        kind: { key: things, tree: kind.tree },
        filter,
        scopes: unrestricted,
        clusters: null,
        start,
        projection: 'whole',
        signal,
        chunk: 2,
        now: () => 0,
        check: () => {},
      });
    const subscribers = filters.map((filter) => new Subscriber(open, history, filter));
    const speeds = filters.map(() => random());

    const object = (name: string, uid?: string) =>
      made({
        name,
        ...(uid === undefined ? {} : { uid }),
        spec: { color: pick(['red', 'green']), size: Math.floor(random() * 6) },
      });
    let lives = 0;
    const write = async (): Promise<void> => {
      const cluster = pick(clusters);
      const { synced } = fixture.writer().state(fixture.handle(things, cluster));
      const chance = random();
      if (!synced || chance < 0.08) {
        await fixture.sync(
          things,
          names.filter(() => random() < 0.6).map((name) => object(name)),
          cluster,
        );
      } else if (chance < 0.16) {
        // A relist with few differences: everything as it is but one.
        const one = pick(names);
        const rows = [...(history.tables.get(fixture.writer().revision()) ?? [])].filter(([id]) =>
          id.startsWith(`${cluster} `),
        );
        const kept = rows.filter(([id]) => !id.endsWith(` ${one}`)).map(([, body]) => body);
        await fixture.sync(things, random() < 0.5 ? kept : [...kept, object(one)], cluster);
      } else if (chance < 0.3) {
        fixture.apply(things, 'DELETED', object(pick(names)), cluster);
      } else if (chance < 0.4) {
        lives += 1;
        fixture.apply(things, 'ADDED', object(pick(names), `life-${seed}-${lives}`), cluster);
      } else if (chance < 0.43) {
        listening();
        fixture.reopen();
        listening = fixture.writer().onCommit(() => feed.wake());
      } else if (chance < 0.5) {
        while (fixture.writer().maintain());
      } else {
        fixture.apply(things, 'MODIFIED', object(pick(names)), cluster);
      }
      await history.note();
    };

    await history.note();
    for (let step = 0; step < 150; step += 1) {
      await write();
      for (const subscriber of subscribers) subscriber.check();
      for (const [index, subscriber] of subscribers.entries()) {
        if (random() < must(speeds[index], 'a speed')) subscriber.ask();
        if (random() < 0.03) await subscriber.resume(pick(filters));
      }
    }
    const revision = fixture.writer().revision();
    await Promise.all(subscribers.map((subscriber) => subscriber.drain()));
    for (const subscriber of subscribers) {
      expect(Object.fromEntries(subscriber.client.held)).toEqual(
        Object.fromEntries(must(history.at(revision, subscriber.filter), 'the last revision was noted')),
      );
    }
    expect(subscribers.reduce((sum, { checked }) => sum + checked, 0)).toBeGreaterThan(50);
    expect(subscribers.reduce((sum, { gaps }) => sum + gaps, 0)).toBeGreaterThan(0);
    await Promise.all(subscribers.map((subscriber) => subscriber.leave()));
  },
);
