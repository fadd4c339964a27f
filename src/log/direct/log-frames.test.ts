import fc from 'fast-check';
import { expect, test } from 'vitest';
import { frameKinds, frameOf, framesIn } from './log-frames.ts';

const frame = fc.record({
  kind: fc.constantFrom(...Object.values(frameKinds)),
  bytes: fc.uint8Array({ maxLength: 40 }),
});

/** The bytes in pieces of these sizes, again and again. */
async function* inPieces(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function read(chunks: AsyncIterable<Buffer>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { kind, bytes } of framesIn(chunks)) found.push([kind, bytes.toString('hex')]);
  return found;
}

test('frames are read as they were written, in any pieces', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(fc.array(frame), sizes, async (frames, some) => {
      const bytes = Buffer.concat(frames.map((each) => frameOf(each.kind, each.bytes)));
      const expected = frames.map((each) => [each.kind, Buffer.from(each.bytes).toString('hex')]);
      expect(await read(inPieces(bytes, some))).toEqual(expected);
    }),
  );
});

test('frames of another form are refused before their bytes are kept', async () => {
  const refused = (bytes: Buffer, why: string) =>
    expect(read(inPieces(bytes, [3]))).rejects.toMatchObject({
      code: 'INVALID',
      message: expect.stringContaining(why),
    });
  await refused(Buffer.from([9, 0, 0, 0, 0]), 'another form');
  await refused(Buffer.from([0, 255, 255, 255, 255, 1, 2]), 'another form');
  await refused(frameOf(frameKinds.batch, Buffer.from('abc')).subarray(0, 6), 'half a frame');
});
