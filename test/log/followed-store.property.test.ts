/**
 * A store that follows the log of another one gets the same rows, and the same log after its last RESETs. Whatever happens in between:
 * events, lists, new and dropped collections, redaction, another cluster under the name, a log that is cut, and restarts of both sides.
 */
import { copyFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { must } from '../../src/base/must.ts';
import { describeRelation } from '../../src/catalog/relations/described-relation.ts';
import { readRelations } from '../../src/catalog/relations/read-relations.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import { decodeBatch, encodeBatch } from '../../src/log/batch/batch-codec.ts';
import { LogReader } from '../../src/log/read/log-reader.ts';
import { openReader, type PooledReader } from '../../src/store/read/reader.ts';
import { Database } from '../../src/store/sqlite/database.ts';
import type { FollowedChange, LogMessage } from '../../src/store/types/followed-log.ts';
import type { IncomingEvent } from '../../src/store/types/incoming-object.ts';
import { openWriter, type StoreWriter } from '../../src/store/write/writer.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { describedResource, storeFile } from '../kit/store-file.ts';

const { relations } = readRelations(
  {
    relations: [
      { from: 'Pod', name: 'secret', to: 'Secret', at: ['spec.secret'] },
      { from: 'Pod', name: 'peers', to: 'Pod', selector: 'spec.selector', form: 'map', empty: 'none' },
    ],
  },
  'CONFIGURED',
);
const pods = { ...describedResource(), relations: relations.map((relation) => describeRelation(relation)) };
/** Each collection: its resource and its namespace. */
const collections: readonly (readonly [DescribedResource, string])[] = [
  [pods, ''],
  [{ ...pods, cluster: 'west' }, ''],
  [describedResource({ plural: 'secrets', kind: 'Secret', promoted: [], redacted: ['data'] }), ''],
  [describedResource({ plural: 'widgets', kind: 'Widget', group: 'example.com', promoted: [] }), 'a'],
  [describedResource({ plural: 'widgets', kind: 'Widget', group: 'example.com', promoted: [] }), 'b'],
];

const word = fc.constantFrom('x', 'y', 'ünï', '"\\\n');
const deep = JSON.parse(`${'['.repeat(1100)}${']'.repeat(1100)}`) as unknown;
const body = fc.record(
  {
    status: fc.record({ phase: fc.constantFrom('Running', 'Failed', 'Pending') }),
    spec: fc.record({ secret: word, selector: fc.dictionary(fc.constantFrom('app', 'tier'), word), nodeName: word }),
    data: fc.dictionary(fc.constantFrom('k', 'l'), word),
    count: fc.oneof(fc.integer(), fc.double({ noNaN: true }), fc.constant(1e300)),
    deep: fc.constantFrom(deep, [[]], null),
  },
  { requiredKeys: [] },
);
const object = fc.record({
  namespace: fc.constantFrom('a', 'b'),
  name: fc.constantFrom('p', 'q', 'r', 'é', '𝄞'),
  /** Another uid is another object. */
  life: fc.nat(1),
  body,
  /** The identity is not in the body. */
  bare: fc.boolean(),
});
type RandomObject = typeof object extends fc.Arbitrary<infer T> ? T : never;
const collection = fc.nat(collections.length - 1);

const act = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.record({
      do: fc.constant('event' as const),
      collection,
      type: fc.constantFrom<IncomingEvent['type'][]>('ADDED', 'MODIFIED', 'MODIFIED', 'DELETED'),
      object,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('list' as const),
      collection,
      objects: fc.array(object, { maxLength: 8, size: 'max' }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const), collection }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('redact' as const), path: fc.constantFrom('spec', 'data') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('another cluster' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('maintain' as const) }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('transfer' as const), times: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('restart the reader' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('restart the follower' as const) }) },
);
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

const seen = { ADDED: 0, MODIFIED: 0, DELETED: 0, RESET: 0, PAGE: 0, last: 0, begun: 0, texts: 0 };

/** A feeder, a reader of its log, and a follower. */
class Pair {
  readonly #files = { feeder: storeFile(), follower: storeFile() };
  readonly #limit: number;
  readonly #maxBytes: number;
  readonly feeder: StoreWriter;
  readonly #reader: PooledReader;
  #log: LogReader | null = null;
  follower: StoreWriter;
  #version = 100;
  /** Statuses are read at most once a second, and here at each transfer. */
  #now = 0;
  /** The revision at which the log of the follower begins. */
  #began = 0;
  #uid = 0;
  #redacted: readonly string[] = [];

  constructor(limit: number, maxBytes: number, logBytes: number) {
    this.#limit = limit;
    this.#maxBytes = maxBytes;
    // Lists with more differences are filled anew.
    this.feeder = openWriter(this.#files.feeder, {
      checkpoints: 'inline',
      maxDifferences: 2,
      changeLog: { maxBytes: logBytes },
    });
    for (const name of ['east', 'west']) this.feeder.openCluster(name, `uid-${name}`);
    this.#reader = openReader(this.#files.feeder, { readers: 1, leaseMs: 60_000, log: silentLogger });
    this.follower = this.#openFollower();
  }

  #openFollower(): StoreWriter {
    const bounds = { maxMs: 10, maxBytes: 1500 };
    return openWriter(this.#files.follower, { checkpoints: 'inline', bounds, follows: true });
  }

  async act(given: Act): Promise<void> {
    switch (given.do) {
      case 'event':
        return this.#event(given.collection, given.type, given.object);
      case 'list':
        return this.#list(given.collection, given.objects);
      case 'drop':
        return this.#drop(given.collection);
      case 'redact':
        this.#redacted = [...new Set([...this.#redacted, given.path])];
        for (const { handle } of this.feeder.states()) this.#declare(this.#indexOf(handle));
        return;
      case 'another cluster':
        this.#uid += 1;
        return this.feeder.openCluster('west', `uid-${this.#uid}`);
      case 'maintain':
        for (let step = 0; step < 50 && this.feeder.maintain(); step += 1);
        for (let step = 0; step < 50 && this.follower.maintain(); step += 1);
        return;
      case 'transfer':
        for (let time = 0; time < given.times; time += 1) await this.#transfer();
        return;
      case 'restart the reader':
        this.#log = null;
        return;
      case 'restart the follower':
        this.follower.close();
        this.#log = null;
        this.follower = this.#openFollower();
    }
  }

  #indexOf({ cluster, key, namespace }: { cluster: string; key: string; namespace: string }): number {
    return collections.findIndex(
      ([{ cluster: other, resource }, own]) =>
        other === cluster && key.split('.')[0] === resource.plural && own === namespace,
    );
  }

  #declare(index: number): ReturnType<StoreWriter['declare']> {
    const [described, namespace] = must(collections[index], 'a collection');
    return this.feeder.declare({ ...described, redacted: [...described.redacted, ...this.#redacted] }, namespace);
  }

  #drop(index: number): Promise<void> | void {
    const state = this.feeder.states().find(({ handle }) => this.#indexOf(handle) === index);
    if (state !== undefined) return this.feeder.drop(state.handle);
  }

  #event(index: number, type: IncomingEvent['type'], given: RandomObject): void {
    const handle = this.#declare(index);
    if (!this.feeder.state(handle).synced) return;
    const event = { type, object: this.#objectOf(index, given) };
    this.feeder.apply(handle, [event], String(this.#version));
  }

  async #list(index: number, objects: readonly RandomObject[]): Promise<void> {
    const replace = this.feeder.replace(this.#declare(index));
    const named = new Map(objects.map((each) => [`${this.#namespaceOf(index, each)}/${each.name}`, each]));
    replace.put([...named.values()].map((each) => this.#objectOf(index, each)));
    this.#version += 1;
    await replace.commit(String(this.#version));
  }

  #namespaceOf(index: number, { namespace }: RandomObject): string {
    return collections[index]?.[1] || namespace;
  }

  #objectOf(index: number, given: RandomObject): IncomingEvent['object'] {
    const { name, life, body: rest, bare } = given;
    this.#version += 1;
    const namespace = this.#namespaceOf(index, given);
    const [uid, resourceVersion] = [`${namespace}-${name}-${life}`, String(this.#version)];
    const { group, kind } = must(collections[index], 'a collection')[0].resource;
    const managedFields = [{ manager: `m${life}`, operation: 'Update', time: '2026-01-31T12:00:00Z', fieldsV1: {} }];
    const owner = { uid: 'owner', controller: true, kind: 'Pod', name: 'o', apiVersion: 'v1' };
    const text = JSON.stringify({
      apiVersion: group === '' ? 'v1' : `${group}/v1`,
      kind,
      metadata: {
        name,
        namespace,
        ...(bare ? {} : { uid, resourceVersion }),
        labels: { app: name, life: String(life) },
        creationTimestamp: '2026-01-31T12:00:00Z',
        ownerReferences: life === 0 ? [] : [owner],
        managedFields,
      },
      ...rest,
    });
    return { text, ...(bare ? { uid, resourceVersion } : {}) };
  }

  /** One transfer. A follower that the log does not reach begins anew. */
  async #transfer(): Promise<readonly LogMessage[]> {
    this.#log ??= new LogReader(
      {
        reader: this.#reader,
        clock: { ...systemClock, monotonic: () => (this.#now += 1000) },
        reserve: async () => this.feeder.reserveSequence(),
        bounds: { limit: this.#limit, maxBytes: this.#maxBytes },
      },
      this.follower.followed.position(),
    );
    try {
      const messages = await decodeBatch(await encodeBatch(await this.#log.next()));
      for (const message of messages) this.#note(message);
      this.follower.followed.take(messages);
      return messages;
    } catch (error) {
      if ((error as { code?: string }).code !== 'GONE') throw error;
      seen.begun += 1;
      this.follower.close();
      this.#log = null;
      this.#files.follower = storeFile();
      this.follower = this.#openFollower();
      return this.#transfer();
    }
  }

  #note(message: LogMessage): void {
    if (message.type === 'BEGIN') this.#began = message.revision;
    else if (message.type === 'PAGE') {
      seen.PAGE += 1;
      if (message.last !== null) seen.last += 1;
    } else if (message.type === 'RESET') seen.RESET += 1;
    else if ('body' in message) {
      seen[message.type] += 1;
      if (typeof message.body === 'string') seen.texts += 1;
    }
  }

  /** Transfers until nothing is left, and compares. */
  async compare(): Promise<void> {
    for (let quiet = 0, turn = 0; quiet < 3; turn += 1) {
      expect(turn).toBeLessThan(1000);
      const messages = await this.#transfer();
      quiet = messages.every(({ type }) => type === 'STATUS' || type === 'CLUSTER') ? quiet + 1 : 0;
    }
    while (this.feeder.maintain());
    for (let turn = 0; turn < 100; turn += 1) await this.#transfer();
    while (this.follower.maintain());
    expect(this.follower.followed.position().filling).toEqual([]);
    await this.close();
    const [theirs, own] = [contentOf(this.#files.feeder), contentOf(this.#files.follower)];
    expect(own.content).toEqual(theirs.content);
    const since = new Map(own.log.map(({ of, seq, type }) => (type === 'RESET' ? [of, seq] : ['', 0])));
    // A collection that came and went between two transfers has no entry in the follower.
    const served = new Set(
      own.content['collections']?.flatMap((line) => (line.endsWith('|1') ? line.split('|').slice(0, 3).join('|') : [])),
    );
    // A RESET of the follower may be one for which its feeder has only a number.
    const newer = (log: Content['log']) =>
      log
        .filter(
          ({ of, seq }) => served.has(of) && seq > Math.max(since.get(of) ?? this.#began, theirs.floor, own.floor),
        )
        .map(({ entry }) => entry);
    expect(newer(own.log)).toEqual(newer(theirs.log));
  }

  async close(): Promise<void> {
    await this.#reader.close();
    this.feeder.close();
    this.follower.close();
  }
}

interface Content {
  readonly content: Readonly<Record<string, readonly string[]>>;
  /** The log is whole after it. */
  readonly floor: number;
  /** `of`: the collection, as in `content`. */
  readonly log: readonly { readonly of: string; readonly seq: number; readonly type: string; readonly entry: string }[];
}

/** What a follower shares with its feeder. Ids of kinds, rowsets, places and targets are those of a file. */
function contentOf(file: string): Content {
  const database = new Database(file, { readonly: true });
  const shown = (value: unknown): string =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value);
  const rows = (sql: string) => database.statement(sql).all();
  const lines = (sql: string) =>
    rows(sql)
      .map((row) => row.map(shown).join('|'))
      .sort();
  const published =
    'FROM object o JOIN kind k ON k.id = o.kind JOIN resource r ON r.rowset = o.rowset AND r.synced = 1 AND r.kind = o.kind';
  const content = {
    objects: lines(
      `SELECT k.key, o.cluster, o.id, o.namespace, o.name, o.uid, o.rv, o.created, o.deleting, o.seq, o.marks, o.health, o.health_reason, o.health_source, b.body, b.text ${published} JOIN body b ON b.id = o.id`,
    ),
    counts: lines(
      `SELECT k.key, r.cluster, r.namespace, c.namespace, c.health, c.objects FROM object_count c JOIN resource r ON r.rowset = c.rowset JOIN kind k ON k.id = r.kind`,
    ),
    uids: lines(`SELECT u.uid, u.id ${published} JOIN object_by_uid u ON u.id = o.id`),
    labels: lines(`SELECT l.key, l.value, l.id ${published} JOIN object_by_label l ON l.id = o.id AND l.kind = o.kind`),
    edges: lines(`SELECT e.owner_uid, e.id, e.controller ${published} JOIN edge e ON e.id = o.id`),
    references: lines(
      `SELECT o.id, p.spec, t.cluster, t.namespace, t.name, n.kind ${published} JOIN reference f ON f.id = o.id
       JOIN reference_place p ON p.id = f.place JOIN target t ON t.id = f.target JOIN named_kind n ON n.id = t.named`,
    ),
    selectors: lines(`SELECT o.id, s.namespace, s.key, s.value, s.needs ${published} JOIN selector s ON s.id = o.id`),
    collections: lines(
      `SELECT k.key, r.cluster, r.namespace, r.objects, r.synced FROM resource r JOIN kind k ON k.id = r.kind`,
    ),
    descriptions: lines('SELECT d.cluster, k.key, d.json FROM description d JOIN kind k ON k.id = d.kind'),
    clusters: lines('SELECT name, uid, version, error, server FROM cluster'),
  };
  const log = rows(
    `SELECT k.key || '|' || c.cluster || '|' || CASE WHEN c.type = 'RESET' THEN c.managers ->> 1 WHEN k.key LIKE 'widgets%' THEN c.namespace ELSE '' END, c.seq, c.type, c.object, c.namespace, c.name, c.uid, c.rv, c.at, c.managers, c.before
     FROM change c JOIN kind k ON k.id = c.kind ORDER BY c.seq`,
  ).map((row) => ({ of: String(row[0]), seq: Number(row[1]), type: String(row[2]), entry: row.map(shown).join('|') }));
  const floor = Number(rows('SELECT coalesce(max(floor), 0) FROM kind_log')[0]?.[0]);
  database.close();
  return { content, log, floor };
}

test('any changes, in any batches, with any interruption', { timeout: 1_800_000 }, async () => {
  const acts = fc.array(act, { minLength: 1, maxLength: 80, size: 'max' });
  await fc.assert(
    fc.asyncProperty(
      acts,
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom(400, 2000, 1_000_000),
      fc.constantFrom(256 * 1024 * 1024, 1000),
      async (given, limit, maxBytes, logBytes) => {
        const pair = new Pair(limit, maxBytes, logBytes);
        try {
          for (const each of given) await pair.act(each);
          await pair.compare();
        } finally {
          await pair.close().catch(() => {});
        }
      },
    ),
    { numRuns: randomRuns(60, 400) },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(1);
});

test('an entry that is missing, or that does not fit, is refused', async () => {
  const files = { feeder: storeFile(), follower: storeFile() };
  const filled = openWriter(files.feeder);
  const replace = filled.replace(filled.declare(pods));
  await replace.commit('100');
  filled.close();
  copyFileSync(files.feeder, files.follower);
  const feeder = openWriter(files.feeder, { checkpoints: 'inline' });
  const follower = openWriter(files.follower, { checkpoints: 'inline', follows: true });
  const reader = openReader(files.feeder, { readers: 1, leaseMs: 60_000, log: silentLogger });
  onTestFinished(async () => {
    await reader.close();
    feeder.close();
    follower.close();
  });
  const log = new LogReader(
    { reader, clock: systemClock, reserve: async () => feeder.reserveSequence() },
    follower.followed.position(),
  );
  const before = follower.revision();
  const handle = feeder.declare(pods);
  for (const name of ['p', 'q', 'r']) {
    const metadata = { name, namespace: 'a', uid: name, resourceVersion: '101' };
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata });
    feeder.apply(handle, [{ type: 'ADDED', object: { text } }], '101');
  }
  const changes = (await log.next()).filter((message): message is FollowedChange => 'body' in message);
  const [first, second, third] = changes;
  const refused = (given: readonly (FollowedChange | undefined)[], why: string) =>
    expect(() => follower.followed.take(given.map((each) => must(each, 'a change')))).toThrow(
      expect.objectContaining({ code: 'CONFLICT', message: expect.stringContaining(why) }),
    );
  refused([second], `the store is at revision ${before}`);
  refused([first, third], `Entry ${before + 3} of the change log`);
  expect(follower.revision()).toBe(before);
  expect(follower.followed.take([must(first, 'a change')])).toBe(before + 1);
  const next = must(second, 'a change');
  refused([{ ...next, type: 'DELETED', body: null }], 'is not stored');
  refused([{ ...next, objectId: must(first, 'a change').objectId }], 'is stored');
  refused([{ ...next, key: 'gadgets.example.com' }], 'no collection');
  expect(follower.followed.take(changes)).toBe(before + 3);
  // What comes twice changes nothing.
  expect(follower.followed.take(changes)).toBe(before + 3);
  expect(() => feeder.followed.take(changes)).toThrow('has reflectors');
});
