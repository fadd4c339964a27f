/** R12: one watch takes over from the other. A watch lasts 450 s by request, so the next is opened after 445 s. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { settle } from '../../../test/kit/manual-clock.ts';
import {
  bookmarkLine,
  endLine,
  errorLine,
  eventLine,
  listText,
  open,
  type ReflectorBench,
  reflectorBench,
  refused,
  whole,
} from '../../../test/kit/reflector-bench.ts';
import { ScriptedBody } from '../../../test/kit/scripted-client.ts';

const a = { name: 'a', rv: 1 };
const modified = (rv: number): string => eventLine('MODIFIED', { ...a, rv });

/** A reflector shortly before a rollover; its watch has applied version 11. */
async function aboutToEnd(bench: ReflectorBench) {
  const first = new ScriptedBody();
  bench.client.answer(whole(listText(10, [a])), () => first);
  const reflector = bench.reflector();
  reflector.start();
  await settle();
  first.write(modified(11));
  await bench.clock.advance(444_000);
  expect(bench.client.asked).toHaveLength(2);
  return { first, reflector };
}

test('the next watch is opened at the version reached, before the first ends, and the first is left', async () => {
  const bench = reflectorBench();
  const { first, reflector } = await aboutToEnd(bench);
  bench.client.answer(open());
  await bench.clock.advance(1000);
  expect(bench.client.asked.slice(2)).toMatchObject([{ query: { watch: true, resourceVersion: '11' } }]);
  expect(first.destroyed).toBe(true);
  bench.client.body.write(modified(12));
  await settle();
  expect(bench.version()).toBe('12');
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
  expect(bench.writer.state(bench.handle).status).toMatchObject({ staleSince: null, restarts: {} });
});

test('I4: what the first brings while the next is being opened is applied once, with bookmarks that tell of earlier', async () => {
  const bench = reflectorBench();
  const { first } = await aboutToEnd(bench);
  const opened = Promise.withResolvers<void>();
  const next = new ScriptedBody();
  const { stream } = bench.client;
  Object.assign(bench.client, {
    stream: async (...asked: Parameters<typeof stream>) => {
      const answer = await stream(...asked);
      await opened.promise;
      return answer;
    },
  });
  bench.client.answer(() => next);
  await bench.clock.advance(1000);
  first.write(modified(12) + eventLine('ADDED', { name: 'b', rv: 13 }) + eventLine('DELETED', { name: 'b', rv: 14 }));
  await settle();
  expect(bench.version()).toBe('14');
  opened.resolve();
  await settle();
  expect(first.destroyed).toBe(true);
  next.write(modified(12) + bookmarkLine(12) + eventLine('ADDED', { name: 'b', rv: 13 }));
  await settle();
  expect(bench.version()).toBe('14');
  next.write(eventLine('DELETED', { name: 'b', rv: 14 }) + bookmarkLine(14) + modified(15));
  await settle();
  expect(bench.version()).toBe('15');
  expect(bench.changes()).toEqual(['RESET', 'MODIFIED a', 'MODIFIED a', 'ADDED b', 'DELETED b', 'MODIFIED a']);
});

test('a first that ends before the next is open waits for it instead of asking again', async () => {
  const bench = reflectorBench();
  const { first, reflector } = await aboutToEnd(bench);
  await bench.clock.advance(1000);
  first.write(modified(12));
  first.end();
  await settle();
  expect(bench.client.asked).toHaveLength(3);
  expect(reflector.error).toBeNull();
  await reflector.stop();
  expect(bench.clock.sleepers).toBe(0);
});

test.each([
  ['a refusal', refused(429, 'TooManyRequests')],
  ['an expired version', refused(410, 'Expired')],
  ['a server error', refused(500, 'InternalError')],
])('%s of the next is harmless: the first goes on to its end', async (_, failure) => {
  const bench = reflectorBench();
  const { first, reflector } = await aboutToEnd(bench);
  bench.client.answer(failure);
  await bench.clock.advance(1000);
  expect(bench.client.asked).toHaveLength(3);
  first.write(modified(12));
  await settle();
  expect(bench.version()).toBe('12');
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
  bench.client.answer(open());
  first.end();
  await settle();
  expect(bench.client.asked.slice(3)).toMatchObject([{ query: { watch: true, resourceVersion: '12' } }]);
  expect(bench.writer.state(bench.handle).status.restarts).toEqual({});
});

test('I5: a pause that the server asked for when the next was refused is kept to when the first ends', async () => {
  const bench = reflectorBench();
  const { first } = await aboutToEnd(bench);
  bench.client.answer(refused(429, 'TooManyRequests', { headers: { 'retry-after': '3' } }));
  await bench.clock.advance(1000);
  bench.client.answer(open());
  first.end();
  await bench.clock.advance(2900);
  expect(bench.client.asked).toHaveLength(3);
  await bench.clock.advance(200);
  expect(bench.client.asked.slice(3)).toMatchObject([{ query: { watch: true, resourceVersion: '11' } }]);
});

test('a first that fails takes the next with it', async () => {
  const bench = reflectorBench();
  const { first, reflector } = await aboutToEnd(bench);
  await bench.clock.advance(1000);
  bench.client.answer(whole(listText(20, [{ ...a, rv: 20 }])), open());
  first.write(errorLine(410, 'Expired'));
  await settle();
  expect(bench.client.asked.slice(3)).toMatchObject([{ query: { limit: 500 } }, { query: { watch: true } }]);
  expect(reflector).toMatchObject({ phase: 'WATCHING', resourceVersion: '20' });
});

test('a stop while the next is being opened leaves nothing', async () => {
  const bench = reflectorBench();
  const { first, reflector } = await aboutToEnd(bench);
  await bench.clock.advance(1000);
  await reflector.stop();
  expect(first.destroyed).toBe(true);
  expect(bench.clock.sleepers).toBe(0);
});

test('a stream that began as a list is handed over too', async () => {
  const bench = reflectorBench({ settings: { streamingLists: true } });
  bench.client.answer(open(eventLine('ADDED', a) + endLine(10)), open());
  bench.reflector().start();
  await settle();
  await bench.clock.advance(444_000);
  bench.client.body.write(bookmarkLine(10));
  await settle();
  await bench.clock.advance(1000);
  expect(bench.client.asked).toMatchObject([
    { query: { sendInitialEvents: true } },
    { query: { watch: true, resourceVersion: '10' } },
  ]);
});

test('I4: a line that the next repeats twice is left out twice, where versions have no order too', async () => {
  const bench = reflectorBench();
  const { first } = await aboutToEnd(bench);
  const opened = Promise.withResolvers<void>();
  const { stream } = bench.client;
  Object.assign(bench.client, {
    stream: (...asked: Parameters<typeof stream>) => opened.promise.then(() => stream(...asked)),
  });
  const lines = ['x', 'y', 'z'].map((rv) => eventLine('MODIFIED', { name: 'a', rv }));
  bench.client.answer(open([lines[0], lines[0], lines[1], lines[1], lines[2]].join('')));
  await bench.clock.advance(1000);
  first.write(lines.slice(0, 2).join(''));
  await settle();
  opened.resolve();
  await settle();
  expect(bench.version()).toBe('z');
  expect(bench.changes()).toEqual(['RESET', 'MODIFIED a', 'MODIFIED a', 'MODIFIED a', 'MODIFIED a']);
});

test('I4: wherever the first is cut off and whatever the next repeats, each event is applied once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 12 }),
      fc.nat(12),
      fc.nat(12),
      async (names, overlapFrom, overlapTo) => {
        const bench = reflectorBench();
        const { first } = await aboutToEnd(bench);
        const lines = names.map((name, index) => eventLine('MODIFIED', { name, rv: 12 + index }));
        const [from, to] = [Math.min(overlapFrom, lines.length), Math.min(overlapTo, lines.length)].sort(
          (one, other) => one - other,
        ) as [number, number];
        first.write(lines.slice(0, from).join(''));
        await settle();
        const opened = Promise.withResolvers<void>();
        const { stream } = bench.client;
        Object.assign(bench.client, {
          stream: (...asked: Parameters<typeof stream>) => opened.promise.then(() => stream(...asked)),
        });
        bench.client.answer(open(lines.slice(from).join('')));
        await bench.clock.advance(1000);
        first.write(lines.slice(from, to).join(''));
        await settle();
        opened.resolve();
        await settle();
        expect(bench.version()).toBe(String(11 + lines.length));
        expect(bench.changes()).toHaveLength(2 + lines.length);
        bench.writer.close();
      },
    ),
    { numRuns: 15 },
  );
});
