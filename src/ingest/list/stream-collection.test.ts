/** Streaming lists through the reflector, against scripted answers; names carry the numbers of the requirements and faults. */
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
  type TestPod,
  whole,
} from '../../../test/kit/reflector-bench.ts';
import type { ScriptedAnswer } from '../../../test/kit/scripted-client.ts';

const [a, b, c] = [
  { name: 'a', rv: 5 },
  { name: 'b', rv: 2 },
  { name: 'c', rv: 3 },
];
const added = (...pods: readonly TestPod[]): string => pods.map((pod) => eventLine('ADDED', pod)).join('');

const asStream = (resourceVersion: string) => ({
  query: { watch: true, sendInitialEvents: true, resourceVersion, resourceVersionMatch: 'NotOlderThan' },
});
const asWatch = (resourceVersion: string) => ({ query: { watch: true, resourceVersion } });
const asList = { query: { limit: 500 } };

const streamingBench = (): ReflectorBench => reflectorBench({ settings: { streamingLists: true } });

/** A reflector that has streamed `a`, `b` and `c` at version 10 and now watches on the same stream. */
async function streamed(bench: ReflectorBench) {
  bench.client.answer(open(added(a, b, c) + endLine(10)));
  const reflector = bench.reflector();
  reflector.start();
  await settle();
  expect(reflector).toMatchObject({ phase: 'WATCHING', synced: true, error: null, resourceVersion: '10' });
  return reflector;
}

test('R15: one request brings the set and goes on as the watch; later end marks are plain bookmarks', async () => {
  const bench = streamingBench();
  bench.client.answer(open(added(a, b)));
  const reflector = bench.reflector();
  reflector.start();
  await settle();
  expect(bench.client.asked).toEqual([
    {
      path: '/api/v1/pods',
      query: {
        watch: true,
        sendInitialEvents: true,
        resourceVersion: '',
        resourceVersionMatch: 'NotOlderThan',
        allowWatchBookmarks: true,
        timeoutSeconds: 450,
      },
    },
  ]);
  expect(reflector).toMatchObject({ phase: 'LISTING', synced: false });
  expect(bench.pods()).toEqual([]);
  // The end mark, what follows it, and half a line come in one piece.
  const next = eventLine('MODIFIED', { ...a, rv: 12 });
  bench.client.body.write(added(c) + endLine(10) + eventLine('DELETED', { ...b, rv: 11 }) + next.slice(0, 40));
  await settle();
  expect(bench.changes()).toEqual(['RESET', 'DELETED b']);
  bench.client.body.write(next.slice(40) + endLine(20));
  await settle();
  expect(bench.pods()).toEqual(['a uid-a@12', 'c uid-c@3']);
  expect(bench.changes()).toEqual(['RESET', 'DELETED b', 'MODIFIED a']);
  expect(bench.version()).toBe('20');
  bench.client.answer(open());
  bench.client.body.end();
  await settle();
  expect(bench.client.asked.slice(1)).toMatchObject([asWatch('20')]);
  expect(bench.client.asked[1]?.query['sendInitialEvents']).toBeUndefined();
});

test('R15: what changes or goes before the end mark changes what is staged', async () => {
  const bench = streamingBench();
  bench.client.answer(
    open(
      added(a, b, c) +
        eventLine('MODIFIED', { ...a, rv: 8 }) +
        eventLine('DELETED', { ...b, rv: 9 }) +
        eventLine('DELETED', { name: 'unknown', rv: 9 }) +
        bookmarkLine(9) +
        eventLine('DELETED', { ...c, rv: 9 }) +
        eventLine('ADDED', { ...c, uid: 'again', rv: 10 } as typeof c) +
        endLine(10),
    ),
  );
  bench.reflector().start();
  await settle();
  expect(bench.pods()).toEqual(['a uid-a@8', 'c again@10']);
  expect(bench.changes()).toEqual(['RESET']);
});

test('F16: initial events in any order, cut off half-way: no version is recorded, and it begins anew', async () => {
  const bench = streamingBench();
  bench.client.answer(open(added({ name: 'z', rv: 900 }, b, a) + bookmarkLine(901)));
  const first = bench.reflector();
  first.start();
  await settle();
  expect(bench.version()).toBeNull();
  await first.stop();
  expect(bench.client.body.destroyed).toBe(true);
  expect(bench.version()).toBeNull();
  expect(bench.writer.state(bench.handle).synced).toBe(false);
  await streamed(bench);
  expect(bench.client.asked[1]).toMatchObject(asStream(''));
  expect(bench.pods()).toEqual(['a uid-a@5', 'b uid-b@2', 'c uid-c@3']);
});

test('F17: an end mark that never comes, whatever else does: a short deadline, then a list at once, and lists for an hour', async () => {
  const bench = streamingBench();
  bench.client.answer(open(added(a, b)), whole(listText(10, [a])), open());
  const reflector = bench.reflector();
  reflector.start();
  await settle();
  await bench.clock.advance(4000);
  bench.client.body.write(bookmarkLine(6) + eventLine('MODIFIED', { ...a, rv: 7 }));
  await bench.clock.advance(5900);
  expect(reflector.phase).toBe('LISTING');
  expect(bench.client.asked).toHaveLength(1);
  await bench.clock.advance(100);
  expect(bench.client.asked.slice(1)).toMatchObject([asList, asWatch('10')]);
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
  expect(bench.pods()).toEqual(['a uid-a@5']);
  bench.client.answer(whole(listText(20, [a])), open());
  bench.client.body.write(eventLine('MODIFIED', { ...a, rv: 12 }) + errorLine(410, 'Expired'));
  await settle();
  expect(bench.client.asked.slice(3)).toMatchObject([asList, asWatch('20')]);
});

test('F17: objects that are created while a stream is open do not prolong it', async () => {
  const bench = streamingBench();
  bench.client.answer(open(), whole(listText(10, [a])), open());
  const reflector = bench.reflector();
  reflector.start();
  for (let second = 0; second < 9; second += 1) {
    await settle();
    expect(bench.client.asked).toHaveLength(1);
    const created = new Date(bench.clock.now() + 1000).toISOString();
    bench.client.body.write(added({ name: `p${second}`, rv: 100 + second, created }));
    await bench.clock.advance(1000);
  }
  await bench.clock.advance(1000);
  expect(bench.client.asked.slice(1)).toMatchObject([asList, asWatch('10')]);
  expect(bench.pods()).toEqual(['a uid-a@5']);
});

test('a stream may take as long as its objects keep coming', async () => {
  const bench = streamingBench();
  bench.client.answer(open());
  const reflector = bench.reflector();
  reflector.start();
  for (let turn = 0; turn < 100; turn += 1) {
    await settle();
    expect(reflector.phase).toBe('LISTING');
    bench.client.body.write(added({ name: `p${turn}`, rv: 100 + turn, created: '2020-01-01T00:00:00Z' }));
    await bench.clock.advance(4000);
  }
  bench.client.body.write(endLine(400));
  await settle();
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
  expect(bench.pods()).toHaveLength(100);
  expect(bench.client.asked).toHaveLength(1);
});

test('a long stream that breaks off is followed by a list at once', async () => {
  const bench = streamingBench();
  bench.client.answer(open(), whole(listText(10, [a])), open());
  bench.reflector().start();
  for (let turn = 0; turn < 10; turn += 1) {
    await settle();
    bench.client.body.write(added({ name: `p${turn}`, rv: 100 + turn, created: '2020-01-01T00:00:00Z' }));
    await bench.clock.advance(4000);
  }
  bench.client.body.end();
  await settle();
  expect(bench.client.asked.slice(1)).toMatchObject([asList, asWatch('10')]);
});

test.each([
  [400, 'BadRequest'],
  [403, 'Forbidden'],
  [405, 'MethodNotAllowed'],
  [406, 'NotAcceptable'],
  [422, 'Invalid'],
])('F18: %i to the stream is followed by a list at once, and remembered', async (code, reason) => {
  const bench = streamingBench();
  bench.client.answer(refused(code, reason), whole(listText(10, [a])), open());
  const reflector = bench.reflector();
  reflector.start();
  await settle();
  expect(bench.client.asked).toMatchObject([asStream(''), asList, asWatch('10')]);
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
  bench.client.answer(whole(listText(20, [a])), open());
  bench.client.body.write(eventLine('MODIFIED', { ...a, rv: 11 }) + errorLine(410, 'Expired'));
  await settle();
  expect(bench.client.asked.slice(3)).toMatchObject([asList, asWatch('20')]);
});

test('F18: a hundred reflectors of a server that refuses cost one attempt', async () => {
  const bench = streamingBench();
  const answer: ScriptedAnswer = (request) => {
    if (request.query['sendInitialEvents'] === true) return refused(422, 'Invalid')(request);
    return request.query['watch'] === true ? open()(request) : whole(listText(10, [a]))(request);
  };
  bench.client.answer(...Array.from({ length: 300 }, () => answer));
  const reflectors = Array.from({ length: 100 }, () => bench.reflector());
  for (const reflector of reflectors) reflector.start();
  await settle();
  await bench.clock.advance(60_000);
  const streams = bench.client.asked.filter(({ query }) => query['sendInitialEvents'] === true);
  expect(streams).toHaveLength(1);
  expect(bench.client.asked.length).toBeGreaterThan(150);
});

test.each([
  [
    'is cut in a line',
    (body: ReflectorBench['client']['body']) => {
      body.write('{"type":"ADD');
      body.end();
    },
  ],
  ['ends cleanly', (body: ReflectorBench['client']['body']) => body.end()],
  ['is reset', (body: ReflectorBench['client']['body']) => void body.reset()],
  ['has nonsense in it', (body: ReflectorBench['client']['body']) => body.write('nonsense\n')],
])(
  'F19: a stream that %s before its end drops what is staged; the table stays; the second time it is listed',
  async (_, end) => {
    const bench = streamingBench();
    const reflector = await streamed(bench);
    bench.client.answer(open(added(a)));
    bench.client.body.write(eventLine('MODIFIED', { ...a, rv: 12 }) + errorLine(410, 'Expired'));
    await settle();
    expect(bench.client.asked.slice(1)).toMatchObject([asStream('12')]);
    for (const answers of [[open(added(a))], [whole(listText(30, [b])), open()]]) {
      bench.client.answer(...answers);
      end(bench.client.body);
      await settle();
      if (reflector.phase === 'WATCHING') break;
      expect(bench.pods()).toHaveLength(3);
      expect(bench.version()).toBe('12');
      await bench.clock.advance(400);
    }
    expect(bench.client.asked.slice(2)).toMatchObject([asStream('12'), asList, asWatch('30')]);
    expect(bench.pods()).toEqual(['b uid-b@2']);
  },
);

test('F5: 410 on a watch is answered with a stream no older than what is known; the difference alone is said', async () => {
  const bench = streamingBench();
  await streamed(bench);
  bench.client.answer(open(added({ name: 'd', rv: 29 }, c, { ...a, rv: 12 }) + endLine(30)));
  bench.client.body.write(eventLine('MODIFIED', { ...a, rv: 12 }) + errorLine(410, 'Expired'));
  await settle();
  expect(bench.client.asked.slice(1)).toMatchObject([asStream('12')]);
  expect(bench.changes()).toEqual(['RESET', 'MODIFIED a', 'DELETED b', 'ADDED d']);
  expect(bench.version()).toBe('30');
});

test.each([
  ['F8: expired, as a status', refused(410, 'Expired')],
  ['F8: expired, in the stream', whole(errorLine(410, 'Expired'))],
  ['F9: too new', refused(504, 'Timeout', { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } })],
])('a version that the server cannot serve (%s) is given up at once, once', async (_, answer) => {
  const bench = streamingBench();
  await streamed(bench);
  bench.client.answer(answer, open(added(a) + endLine(40)));
  bench.client.body.write(eventLine('MODIFIED', { ...a, rv: 12 }) + errorLine(410, 'Expired'));
  await settle();
  expect(bench.client.asked.slice(1)).toMatchObject([asStream('12'), asStream('')]);
  expect(bench.pods()).toEqual(['a uid-a@5']);
});

test('F24: an outage says nothing about streams', async () => {
  const bench = streamingBench();
  const none = () => {
    throw new Error('connect ECONNREFUSED');
  };
  bench.client.answer(none, refused(503, 'ServiceUnavailable'), none, open(added(a) + endLine(10)));
  bench.reflector().start();
  await settle();
  await bench.clock.advance(10_000);
  expect(bench.client.asked).toMatchObject([asStream(''), asStream(''), asStream(''), asStream('')]);
  expect(bench.pods()).toEqual(['a uid-a@5']);
});

test('F47: a carried stream that ends as soon as its objects were sent is a short watch', async () => {
  const bench = streamingBench();
  bench.client.answer(whole(added(a) + endLine(10)), open());
  const reflector = bench.reflector();
  reflector.start();
  await settle();
  expect(reflector).toMatchObject({ phase: 'BACKOFF', synced: true });
  await bench.clock.advance(400);
  expect(bench.client.asked.slice(1)).toMatchObject([asWatch('10')]);
});

test('F52: an empty collection is ready at its end mark', async () => {
  const bench = streamingBench();
  bench.client.answer(open(endLine(10)));
  const reflector = bench.reflector();
  reflector.start();
  await settle();
  expect(reflector).toMatchObject({ phase: 'WATCHING', synced: true, resourceVersion: '10' });
});

test('F45, R19: a stop while streaming or going on with the stream leaves nothing behind', async () => {
  for (const text of [added(a), added(a) + endLine(10), endLine(10) + added(b).slice(0, 20)]) {
    const bench = streamingBench();
    bench.client.answer(open(text));
    const reflector = bench.reflector();
    reflector.start();
    await settle();
    await reflector.stop();
    await settle();
    expect(bench.clock.sleepers).toBe(0);
    expect(bench.client.body.destroyed).toBe(true);
    expect(bench.client.asked).toHaveLength(1);
  }
});
