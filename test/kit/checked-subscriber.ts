/**
 * Shared by the property tests of live lists: the tables after each write, and a subscriber. Its objects are compared with the table at
 * each cursor.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { must } from '../../src/base/must.ts';
import { parseExact } from '../../src/catalog/values/values.ts';
import type { CellStart } from '../../src/live/list/live-request.ts';
import { decodeLiveCursor, nowhere } from '../../src/live/log/live-cursor.ts';
import type { MatchedObjectLike } from '../../src/query/evaluate/matches.ts';
import type { EngineFixture } from './engine-fixture.ts';
import { LiveClient } from './live-client.ts';
import type { Messages } from './live-lists.ts';

/** Bodies as JSON text by `kind cluster namespace name`. */
export type Held = ReadonlyMap<string, string>;

/** The contents of the tables after each write. */
export class TableHistory {
  readonly #tables = new Map<number, Held>();
  readonly #fixture: Pick<EngineFixture, 'reader'>;

  constructor(fixture: Pick<EngineFixture, 'reader'>) {
    this.#fixture = fixture;
  }

  /** Records the current tables. */
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

  /** The objects that a client must hold at a revision; null for a revision inside a transaction, which no snapshot shows. */
  at(revision: number, isHeld: (object: MatchedObjectLike) => boolean): Held | null {
    const table = this.#tables.get(revision);
    if (table === undefined) return null;
    const held = new Map<string, string>();
    for (const [id, text] of table) {
      const [key = '', cluster = '', namespace = '', name = ''] = id.split(' ');
      const body = parseExact(text);
      if (isHeld({ key, cluster, namespace, name, body })) held.set(id, JSON.stringify(body));
    }
    return held;
  }
}

export interface Subscription {
  open(start: CellStart, signal: AbortSignal): Messages;
  /** What a client must hold at a cursor; null where the history cannot tell. */
  expectedAt(cursor: string): Held | null;
}

/** A client that reads and resumes when the test calls it. */
export class CheckedSubscriber {
  client = clientOfKinds();
  /** Comparisons with the table at a cursor. */
  checked = 0;
  gaps = 0;
  /** LIVE messages with changes of several kinds. */
  mixed = 0;
  #of: Subscription;
  /** What was held at each cursor, to be compared when the history has been recorded. */
  #unchecked: { readonly of: Subscription; readonly cursor: string; readonly held: Held }[] = [];
  #stop = new AbortController();
  #messages: Messages;
  #pending: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(of: Subscription) {
    this.#of = of;
    this.#messages = of.open({ at: 'snapshot' }, this.#stop.signal);
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
    const { phase, cursor, changes } = step.value;
    if (phase === 'GAP') this.gaps += 1;
    if (phase === 'LIVE' && new Set(changes.map(({ identity }) => identity.key)).size > 1) this.mixed += 1;
    this.client.take(step.value);
    if (decodeLiveCursor(cursor).sequence !== nowhere) {
      this.#unchecked.push({ of: this.#of, cursor, held: new Map(this.client.held) });
    }
  }

  /** Compares everything that was held since the last time. */
  check(): void {
    if (this.#failure !== null) throw this.#failure.error;
    for (const { of, cursor, held } of this.#unchecked.splice(0)) {
      const expected = of.expectedAt(cursor);
      if (expected === null) continue;
      expect(Object.fromEntries(held), cursor).toEqual(Object.fromEntries(expected));
      this.checked += 1;
    }
  }

  /**
   * Connects again, after `leave`.
   * @param from the objects that the client begins with, and their cursor; null for a snapshot.
   */
  resume(of: Subscription, from: { readonly held: Held; readonly cursor: string } | null): void {
    this.#of = of;
    this.#stop = new AbortController();
    this.client = clientOfKinds(from ?? undefined);
    const start: CellStart =
      from === null ? { at: 'snapshot' } : { at: 'cursor', cursor: decodeLiveCursor(from.cursor) };
    this.#messages = of.open(start, this.#stop.signal);
  }

  /** Ends the subscription, and compares what was held up to its end. */
  async leave(): Promise<void> {
    this.#stop.abort();
    await this.#pending;
    await this.#messages.return();
    this.check();
  }

  /** Reads until no message is left and the objects are the expected ones, at most 30 s. Then compares them. */
  async drain(expected: Held): Promise<void> {
    const deadline = performance.now() + 30_000;
    for (;;) {
      this.check();
      this.request();
      const quiet = await Promise.race([
        must(this.#pending, 'it was requested').then(() => false),
        new Promise<true>((resolve) => setTimeout(() => resolve(true), 150)),
      ]);
      // On a busy machine a message may take longer than any short time.
      if (quiet && (isDeepStrictEqual(this.client.held, expected) || performance.now() > deadline)) break;
    }
    this.check();
    expect(Object.fromEntries(this.client.held)).toEqual(Object.fromEntries(expected));
  }
}

function clientOfKinds(held?: { readonly held: Held; readonly cursor: string }): LiveClient {
  return new LiveClient(held, ({ key, cluster, namespace, name }) => [key, cluster, namespace, name].join(' '));
}

/**
 * Takes steps until `isEnough`: at least `least` steps, at most ten times as many. A fixed number of steps is not enough on some machines,
 * because the number of messages depends on the speed.
 */
export async function stepUntil(least: number, isEnough: () => boolean, step: () => Promise<void>): Promise<void> {
  for (let steps = 0; steps < least || (steps < 10 * least && !isEnough()); steps += 1) await step();
}
