/** A store that follows the log of another one has the same rows, log and revision, whatever the changes and the batches are. */
import { copyFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { randomRuns } from '../../../test/kit/random-runs.ts';
import { describedResource, pod, storeFile } from '../../../test/kit/store-file.ts';
import { silentLogger } from '../../base/log.ts';
import { must } from '../../base/must.ts';
import { describeRelation } from '../../catalog/relations/described-relation.ts';
import { readRelations } from '../../catalog/relations/read-relations.ts';
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import { readFollowedChanges } from '../read/followed-changes.ts';
import { openReader, type PooledReader } from '../read/reader.ts';
import { Database } from '../sqlite/database.ts';
import type { FollowedChange } from '../types/followed-log.ts';
import type { IncomingEvent } from '../types/incoming-object.ts';
import type { ResourceHandle } from '../types/progress.ts';
import { openWriter, type StoreWriter } from './writer.ts';

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
/** Each with the namespaces of its collections. */
const described: readonly (readonly [DescribedResource, readonly string[]])[] = [
  [pods, ['']],
  [{ ...pods, cluster: 'west' }, ['']],
  [describedResource({ plural: 'secrets', kind: 'Secret', promoted: [], redacted: ['data'] }), ['']],
  [describedResource({ plural: 'widgets', kind: 'Widget', group: 'example.com', promoted: [] }), ['a', 'b']],
];

interface Step {
  readonly type: IncomingEvent['type'];
  readonly collection: number;
  readonly namespace: 'a' | 'b';
  readonly name: string;
  /** Another uid is another object. */
  readonly life: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** The identity is not in the body. */
  readonly bare: boolean;
}

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
const step: fc.Arbitrary<Step> = fc.record({
  type: fc.constantFrom('ADDED', 'MODIFIED', 'MODIFIED', 'DELETED'),
  collection: fc.nat(described.length - 1),
  namespace: fc.constantFrom('a', 'b'),
  name: fc.constantFrom('p', 'q', 'r'),
  life: fc.nat(1),
  body,
  bare: fc.boolean(),
});
const round = fc.record({
  steps: fc.array(step, { maxLength: 12 }),
  /** The changes that one transfer has; null leaves them for a later round. */
  transfer: fc.option(fc.integer({ min: 1, max: 20 })),
});

let version = 100;

function eventOf({ type, namespace, name, life, body: given, bare, collection }: Step): IncomingEvent {
  version += 1;
  const [resource] = must(described[collection], 'a collection');
  const [uid, resourceVersion] = [`${namespace}-${name}-${life}`, String(version)];
  const { group, kind } = resource.resource;
  const managedFields = [{ manager: `m${life}`, operation: 'Update', time: '2026-01-31T12:00:00Z', fieldsV1: {} }];
  const text = JSON.stringify({
    apiVersion: group === '' ? 'v1' : `${group}/v1`,
    kind,
    metadata: {
      name,
      namespace,
      ...(bare ? {} : { uid, resourceVersion }),
      labels: { app: name, life: String(life) },
      creationTimestamp: '2026-01-31T12:00:00Z',
      ownerReferences: life === 0 ? [] : [{ uid: 'owner', controller: true, kind: 'Pod', name: 'o', apiVersion: 'v1' }],
      managedFields,
    },
    ...given,
  });
  return { type, object: { text, ...(bare ? { uid, resourceVersion } : {}) } };
}

interface Pair {
  readonly feeder: StoreWriter;
  readonly follower: StoreWriter;
  readonly handles: readonly (readonly ResourceHandle[])[];
  readonly reader: PooledReader;
  readonly files: { readonly feeder: string; readonly follower: string };
  close(): Promise<void>;
}

const bounds = { maxMs: 10, maxBytes: 1500 };

/** A feeder with synced collections, and a follower on a copy of its file. */
async function pair(): Promise<Pair> {
  const files = { feeder: storeFile(), follower: storeFile() };
  const filled = openWriter(files.feeder);
  for (const name of ['east', 'west']) filled.openCluster(name, `uid-${name}`);
  for (const [resource, namespaces] of described) {
    for (const namespace of namespaces) {
      const replace = filled.replace(filled.declare(resource, namespace));
      // Later events change or delete it.
      if (resource.resource.kind === 'Pod') replace.put([pod({ name: 'p', namespace: 'a', uid: 'a-p-0', rv: 90 })]);
      await replace.commit('100');
    }
  }
  while (filled.maintain());
  filled.close();
  copyFileSync(files.feeder, files.follower);
  const feeder = openWriter(files.feeder, { checkpoints: 'inline' });
  const follower = openWriter(files.follower, { checkpoints: 'inline', bounds });
  const handlesOf = (writer: StoreWriter) =>
    described.map(([resource, namespaces]) => namespaces.map((namespace) => writer.declare(resource, namespace)));
  handlesOf(follower);
  const reader = openReader(files.feeder, { readers: 1, leaseMs: 60_000, log: silentLogger });
  let closed = false;
  return {
    feeder,
    follower,
    handles: handlesOf(feeder),
    reader,
    files,
    async close() {
      if (closed) return;
      closed = true;
      await reader.close();
      feeder.close();
      follower.close();
    },
  };
}

const changesAfter = (reader: PooledReader, after: number, limit: number): Promise<readonly FollowedChange[]> =>
  reader.lease((lease) => readFollowedChanges(lease, { after, limit }));

/** Every row of the tables that a follower shares with its feeder. */
function contentOf(file: string): Readonly<Record<string, unknown>> {
  const database = new Database(file, { readonly: true });
  const rows = (sql: string) =>
    database
      .statement(sql)
      .all()
      .map((row) =>
        row
          .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)))
          .join('|'),
      )
      .sort();
  const tables = [
    'object',
    'body',
    'object_count',
    'object_by_uid',
    'object_by_label',
    'edge',
    'change',
    'kind_log',
    'reference',
    'reference_by_target',
    'target',
    'selector',
    'slot',
  ];
  const content = {
    ...Object.fromEntries(tables.map((table) => [table, rows(`SELECT * FROM ${table}`)])),
    promoted: rows(`SELECT * FROM ${rows(`SELECT promoted_table FROM kind WHERE key = 'pods'`).join()}`),
    resource: rows('SELECT cluster, kind, namespace, objects, synced FROM resource'),
    state: rows('SELECT revision, next_object FROM state'),
  };
  database.close();
  return content;
}

test('any changes, in any batches', { timeout: 600_000 }, async () => {
  const seen = { ADDED: 0, MODIFIED: 0, DELETED: 0, texts: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 6 }), async (rounds) => {
      const { feeder, follower, handles, reader, files, close } = await pair();
      try {
        const transfer = async (limit: number): Promise<void> => {
          for (;;) {
            const changes = await changesAfter(reader, follower.revision(), limit);
            if (changes.length === 0) return;
            for (const { type, body: moved } of changes) {
              seen[type] += 1;
              if (typeof moved === 'string') seen.texts += 1;
            }
            expect(follower.followed.apply(changes)).toBe(changes.at(-1)?.seq);
            // What comes twice changes nothing.
            expect(follower.followed.apply(changes)).toBe(changes.at(-1)?.seq);
          }
        };
        for (const { steps, transfer: limit } of rounds) {
          for (const each of steps) {
            const of = must(handles[each.collection], 'a collection');
            const handle = must(
              of.find(({ namespace }) => namespace === '' || namespace === each.namespace),
              'a handle',
            );
            feeder.apply(handle, [eventOf(each)], String(version));
          }
          if (limit !== null) await transfer(limit);
        }
        await transfer(100);
        await close();
        expect(contentOf(files.follower)).toEqual(contentOf(files.feeder));
      } finally {
        await close();
      }
    }),
    { numRuns: randomRuns(30, 1000) },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(5);
});

test('an entry that is missing, or that does not fit, is refused', async () => {
  const { feeder, follower, handles, reader, close } = await pair();
  onTestFinished(close);
  const [handle] = must(handles[0], 'the Pods of east');
  const one = (name: string, type: IncomingEvent['type'] = 'ADDED'): void => {
    const event = eventOf({ type, collection: 0, namespace: 'a', name, life: 0, body: {}, bare: false });
    feeder.apply(must(handle, 'a handle'), [event], String(version));
  };
  const before = follower.revision();
  for (const name of ['p', 'q', 'r']) one(name);
  const changes = await changesAfter(reader, before, 10);
  const [first, second, third] = changes.map((change) => [change] as const);
  const refused = (given: readonly FollowedChange[], why: string) =>
    expect(() => follower.followed.apply(given)).toThrow(
      expect.objectContaining({ code: 'CONFLICT', message: expect.stringContaining(why) }),
    );
  refused(second ?? [], `the store is at revision ${before}`);
  refused([...(first ?? []), ...(third ?? [])], `Entry ${before + 3} of the change log`);
  expect(follower.revision()).toBe(before);
  expect(follower.followed.apply(first ?? [])).toBe(before + 1);
  refused([{ ...must(second?.[0], 'a change'), type: 'DELETED', body: null }], 'is not stored');
  refused([{ ...must(second?.[0], 'a change'), objectId: must(first?.[0], 'a change').objectId }], 'is stored');
  refused([{ ...must(second?.[0], 'a change'), key: 'gadgets.example.com' }], 'no filled collection');
  expect(follower.followed.apply(changes)).toBe(before + 3);
});
