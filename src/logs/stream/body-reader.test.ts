/** Bodies in pieces by hand: what is read while the reader is held back, and how a body ends. */
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { BodyReader } from './body-reader.ts';
import { pieceBytes, ReadingTurns } from './reading-turns.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function world(turns: ReadingTurns | null, most: number = Number.POSITIVE_INFINITY, stop = new AbortController()) {
  const body = new PassThrough({ highWaterMark: 8 * pieceBytes });
  const pieces: Buffer[] = [];
  const reader = new BodyReader({
    ...{ body, signal: stop.signal, turns },
    arrived: () => {},
    read(piece) {
      pieces.push(piece);
      if (pieces.length >= most) reader.pause();
    },
  });
  return { body, stop, pieces, reader, run: reader.run() };
}

test.each([null, new ReadingTurns()])(
  'no piece is lost or taken twice, whenever the reader is held back',
  async (turns) => {
    const { body, pieces, reader, run } = world(turns, 1);
    const whole = Buffer.from(Array.from({ length: 5 * pieceBytes + 7 }, (_, at) => at % 251));
    body.end(whole);
    let isDone = false;
    const done = run.then(() => {
      isDone = true;
    });
    for (let count = 1; count <= 6; count += 1) {
      while (pieces.length < count) await turn();
      await turn();
      expect(pieces).toHaveLength(count);
      expect(isDone).toBe(false);
      reader.resume();
    }
    await done;
    expect(Buffer.concat(pieces)).toEqual(whole);
  },
);

test('a body that is cut off is an error, and nothing of it is read after that', async () => {
  const { body, pieces, reader, run } = world(null, 1);
  const failed = run.catch((error: unknown) => error);
  body.write(Buffer.alloc(3 * pieceBytes));
  while (pieces.length === 0) await turn();
  body.destroy();
  expect(await failed).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  reader.resume();
  expect(pieces).toHaveLength(1);
});

test('after an abort nothing is read', async () => {
  const { body, stop, pieces, reader, run } = world(new ReadingTurns(), 1);
  body.write(Buffer.alloc(3 * pieceBytes));
  while (pieces.length === 0) await turn();
  reader.resume();
  const failed = expect(run).rejects.toThrow('aborted');
  stop.abort();
  await failed;
  await turn();
  expect(pieces).toHaveLength(1);
});

test('a body that came whole ends with an abort while the reader is held back', async () => {
  const { body, stop, pieces, run } = world(null, 1);
  body.end(Buffer.alloc(3 * pieceBytes));
  while (!body.readableEnded) await turn();
  stop.abort();
  await expect(run).rejects.toThrow('aborted');
  expect(pieces).toHaveLength(1);
});

test('an abort before the first piece ends a body that came whole', async () => {
  const stop = new AbortController();
  stop.abort();
  const { body, pieces, run } = world(null, 1, stop);
  const failed = expect(run).rejects.toThrow('aborted');
  body.end(Buffer.alloc(3 * pieceBytes));
  await failed;
  await turn();
  expect(pieces).toEqual([]);
});
