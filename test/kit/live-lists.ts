/** Shared by the tests of live lists: one kind in a store, lists over it, and the store's own objects to compare with. */

import { onTestFinished } from 'vitest';
import { localUser } from '../../src/access/caller.ts';
import { rightsOf, seesEverything } from '../../src/access/rights.ts';
import { must } from '../../src/base/must.ts';
import { parsePath } from '../../src/catalog/tree/path.ts';
import { parseExact } from '../../src/catalog/values/values.ts';
import type { ChangeFeed } from '../../src/live/feed/change-feed.ts';
import { liveList } from '../../src/live/list/live-list.ts';
import type { CellStart, LiveMessage, LiveRequest } from '../../src/live/list/live-request.ts';
import { matches } from '../../src/query/evaluate/matches.ts';
import type { Filter } from '../../src/query/plan/filter.ts';
import type { WriterOptions } from '../../src/store/write/writer-options.ts';
import { describedCrd, type EngineFixture, engineFixture, made } from './engine-fixture.ts';
import type { LiveClient } from './live-client.ts';

export const things = 'things.example.com';

export const thing = (cluster = 'east', extra: Readonly<Record<string, unknown>> = {}) =>
  describedCrd({
    cluster,
    kind: 'Thing',
    plural: 'things',
    properties: {
      spec: { type: 'object', properties: { size: { type: 'integer' }, color: { type: 'string' }, ...extra } },
    },
  });

export const colored = (color: string): Filter => ({
  kind: 'compare',
  path: parsePath('spec.color'),
  type: 'String',
  operator: 'eq',
  values: [color],
  ignoreCase: false,
});

export type Messages = AsyncGenerator<LiveMessage, void, undefined>;

export interface LiveSetup {
  readonly fixture: EngineFixture;
  readonly feed: ChangeFeed;
  list(start: CellStart, request?: Partial<LiveRequest>): Messages;
  put(name: string, color: string, size?: number): void;
  remove(name: string): void;
  /** Replaces the kind's objects with objects of these names, all of one color. */
  relist(names: readonly string[], color: string): Promise<void>;
  /** The matching bodies in the store, in the form of LiveClient's `held`, with the revision. */
  truth(filter: Filter): Promise<{ readonly held: ReadonlyMap<string, string>; readonly revision: number }>;
}

/** Declares the kind in `east`; it is not synced yet. */
export async function liveSetup(writer: WriterOptions = {}): Promise<LiveSetup> {
  const fixture = engineFixture({ writer });
  await fixture.declare(thing());
  const { feed } = fixture.engine.source;
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const described = must(fixture.engine.source.generation().kind(things), 'the kind is in the schema');
  return {
    fixture,
    feed,
    list: (start, request) =>
      liveList(feed, {
        kind: { key: things, tree: described.tree },
        filter: { kind: 'and', of: [] },
        rights: rightsOf(seesEverything, localUser),
        clusters: null,
        start,
        projection: 'whole',
        signal: stop.signal,
        chunk: 2,
        now: () => 0,
        check: () => {},
        ...request,
      }),
    put: (name, color, size = 1) => fixture.apply(things, 'MODIFIED', made({ name, spec: { color, size } })),
    remove: (name) => fixture.apply(things, 'DELETED', made({ name })),
    relist: (names, color) =>
      fixture.sync(
        things,
        names.map((name) => made({ name, spec: { color, size: 1 } })),
      ),
    truth: (filter) => truthOf(fixture, filter),
  };
}

async function truthOf(fixture: EngineFixture, filter: Filter) {
  return fixture.reader.lease(async (lease) => {
    const rows = await lease.all({
      sql: `SELECT o.cluster, o.namespace, o.name, coalesce(b.text, json(b.body)) FROM object o JOIN body b ON b.id = o.id
            JOIN resource r ON r.rowset = o.rowset AND r.synced = 1`,
      params: [],
    });
    const held = new Map<string, string>();
    for (const [cluster, namespace, name, text] of rows) {
      const identity = { cluster: String(cluster), key: things, namespace: String(namespace), name: String(name) };
      const body = parseExact(String(text));
      if (matches(filter, { ...identity, body })) held.set(`${cluster} ${namespace} ${name}`, JSON.stringify(body));
    }
    return { held, revision: lease.revision };
  });
}

/** The next message; fails the test when the list is over. */
export async function nextOf(messages: Messages): Promise<LiveMessage> {
  const step = await messages.next();
  if (step.done === true) throw new Error('the list is over');
  return step.value;
}

/** Passes messages to the client up to the first one of this phase, which is returned. */
export async function until(messages: Messages, client: LiveClient, phase: LiveMessage['phase']): Promise<LiveMessage> {
  for (;;) {
    const message = await nextOf(messages);
    client.take(message);
    if (message.phase === phase) return message;
  }
}
