import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FollowedChange, LogMessage } from '../../store/types/followed-log.ts';
import { decodeBatch, encodeBatch } from './batch-codec.ts';

const text = fc.string({ unit: 'grapheme' });
const change: fc.Arbitrary<FollowedChange> = fc.record({
  seq: fc.nat(),
  after: fc.nat(),
  type: fc.constantFrom('ADDED', 'MODIFIED', 'DELETED'),
  key: text,
  cluster: text,
  objectId: fc.nat(),
  namespace: text,
  name: text,
  uid: text,
  resourceVersion: text,
  at: fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }),
  managers: fc.option(text),
  body: fc.option(fc.oneof(text, fc.uint8Array())),
});

const page = fc.record({
  type: fc.constant('PAGE' as const),
  cluster: text,
  key: text,
  collection: text,
  objects: fc.array(
    fc.record({
      objectId: fc.nat(),
      seq: fc.nat(),
      namespace: text,
      name: text,
      uid: text,
      resourceVersion: text,
      body: fc.oneof(text, fc.uint8Array()),
    }),
  ),
  last: fc.option(fc.record({ seq: fc.nat(), after: fc.nat(), at: fc.nat(), resourceVersion: text })),
});
const gone = fc.record({ type: fc.constant('GONE' as const), cluster: text, key: text });
const message: fc.Arbitrary<LogMessage> = fc.oneof(change, page, gone);

/** As JSON, where bytes are lists of numbers and -0 is 0. */
const plain = (messages: readonly LogMessage[]): unknown =>
  JSON.parse(
    JSON.stringify(messages, (_, value) =>
      value?.type === 'Buffer' ? value.data : ArrayBuffer.isView(value) ? [...(value as Uint8Array)] : value,
    ),
  );

test('a batch is read as it was written', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(message), async (messages) => {
      expect(plain(await decodeBatch(await encodeBatch(messages)))).toEqual(plain(messages));
    }),
  );
});

test('damaged, foreign and endless batches are refused', async () => {
  const bytes = Buffer.from(await encodeBatch(fc.sample(message, { numRuns: 5, seed: 1 })));
  const refused = (given: Uint8Array, why: string) =>
    expect(decodeBatch(given)).rejects.toMatchObject({ code: 'INVALID', message: expect.stringContaining(why) });
  const packed = (inside: Uint8Array): Buffer => Buffer.concat([Buffer.from([1]), zstdCompressSync(inside)]);
  await refused(Buffer.alloc(0), 'version none');
  await refused(Buffer.from([2, ...bytes.subarray(1)]), 'version 2');
  await refused(bytes.subarray(0, bytes.length - 3), 'cannot be read');
  await refused(packed(Buffer.from([0, 0, 0, 2, 91, 93, 1])), 'more bytes');
  const head = Buffer.from(JSON.stringify([{ type: 'ADDED', body: [9, 1] }]));
  await refused(packed(Buffer.concat([Buffer.from([0, 0, 0, head.length]), head])), 'cut off');
  await refused(packed(Buffer.alloc(65 * 1024 * 1024)), 'cannot be read');
});
