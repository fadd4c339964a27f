/**
 * The state machine against scripted answers; names carry the numbers of the requirements and faults they stand for.
 * Random is always a half: a backoff's first delays are 400, 800, 1600 ms; a watch is asked to last 450 s.
 */
import { expect, test } from 'vitest';
import { StoreFault } from '../store/store-fault.ts';
import {
  bookmarkLine,
  describedPods,
  errorLine,
  eventLine,
  listText,
  open,
  type ReflectorBench,
  reflectorBench,
  refused,
  settle,
  whole,
} from './test-support.ts';

const [a, b] = [
  { name: 'a', rv: 1 },
  { name: 'b', rv: 2 },
];

/** A reflector that has listed `a` and `b` at version 10 and watches. */
async function watching(bench: ReflectorBench, more: Parameters<ReflectorBench['reflector']>[0] = {}) {
  bench.client.answer(whole(listText(10, [a, b])), open());
  const reflector = bench.reflector(more);
  reflector.start();
  await settle();
  expect(reflector).toMatchObject({ phase: 'WATCHING', synced: true, error: null });
  expect(bench.client.asked).toHaveLength(2);
  return reflector;
}

const asWatch = (resourceVersion: string) => ({ query: { watch: true, resourceVersion } });
const asRelist = (resourceVersion: string) => ({
  query: { limit: 500, resourceVersion, resourceVersionMatch: 'NotOlderThan' },
});

/** One object that must not be older: whether the server has reached this version at all. */
const asDoubt = (resourceVersion: string) => ({
  query: { limit: 1, resourceVersion, resourceVersionMatch: 'NotOlderThan' },
});

test('R1, R3: lists without a version, publishes in one step, watches from the list, applies in order', async () => {
  const bench = reflectorBench();
  await watching(bench);
  expect(bench.client.asked).toEqual([
    { path: '/api/v1/pods', query: { limit: 500 } },
    {
      path: '/api/v1/pods',
      query: { watch: true, resourceVersion: '10', allowWatchBookmarks: true, timeoutSeconds: 450 },
    },
  ]);
  bench.client.body.write(
    eventLine('MODIFIED', { ...a, rv: 11 }) +
      eventLine('ADDED', { name: 'c', rv: 12 }) +
      eventLine('DELETED', { ...b, rv: 13 }),
  );
  await settle();
  expect(bench.pods()).toEqual(['a uid-a@11', 'c uid-c@12']);
  expect(bench.changes()).toEqual(['RESET', 'MODIFIED a', 'ADDED c', 'DELETED b']);
  expect(bench.version()).toBe('13');
  bench.client.body.write(bookmarkLine(20));
  await settle();
  expect(bench.version()).toBe('20');
});

test('R4: pages are followed, without a version on continuations, and published together', async () => {
  const bench = reflectorBench();
  const page = open(listText(10, [b]));
  bench.client.answer(whole(listText(10, [a], { continue: 'next' })), page);
  bench.reflector().start();
  await settle();
  expect(bench.client.asked[1]).toEqual({ path: '/api/v1/pods', query: { limit: 500, continue: 'next' } });
  expect(bench.pods()).toEqual([]);
  bench.client.body.end();
  await settle();
  expect(bench.pods()).toEqual(['a uid-a@1', 'b uid-b@2']);
});

test('warm start: watches from the stored version, and lists nothing', async () => {
  const bench = reflectorBench();
  await (await watching(bench)).stop();
  bench.client.answer(open());
  const second = bench.reflector();
  expect(second.synced).toBe(true);
  second.start();
  second.start();
  await settle();
  expect(bench.client.asked.slice(2)).toEqual([
    { path: '/api/v1/pods', query: expect.objectContaining({ watch: true, resourceVersion: '10' }) },
  ]);
});

test('a shape that changed makes it list first, no older than what is stored', async () => {
  const bench = reflectorBench();
  await (await watching(bench)).stop();
  bench.reflector({ resume: false }).start();
  await settle();
  expect(bench.client.asked[2]).toMatchObject(asRelist('10'));
});

test('a crash between a new shape and its list: the next run lists, and watches only from there', async () => {
  const bench = reflectorBench();
  await (await watching(bench)).stop();
  bench.writer.declare({ ...describedPods(), shapeHash: 'another' });
  bench.client.answer(whole(listText(30, [{ ...a, more: { spec: 'defaulted' } }, b])), open());
  const second = bench.reflector();
  second.start();
  await settle();
  expect(bench.client.asked.slice(2)).toMatchObject([asRelist('10'), asWatch('30')]);
  expect(bench.changes()).toEqual(['RESET', 'MODIFIED a']);
  await second.stop();
  bench.client.answer(open());
  bench.reflector().start();
  await settle();
  expect(bench.client.asked.slice(4)).toMatchObject([asWatch('30')]);
});

test('F1: a connection that breaks in the middle of a line drops the half line and resumes', async () => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  bench.client.body.write(`${eventLine('MODIFIED', { ...a, rv: 11 })}{"type":"DELETED","object":{"kind":"Po`);
  await bench.client.body.reset();
  await settle();
  expect(reflector).toMatchObject({ phase: 'BACKOFF', error: expect.stringContaining('ECONNRESET') });
  expect(bench.version()).toBe('11');
  bench.client.answer(open(eventLine('DELETED', { ...a, rv: 12 })));
  await bench.clock.advance(400);
  expect(bench.client.asked.slice(2)).toMatchObject([asWatch('11')]);
  expect(bench.pods()).toEqual(['b uid-b@2']);
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
});

test('F1: a clean end in the middle of a line is a broken connection too', async () => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  bench.client.body.write('{"type":"DELETED"');
  bench.client.body.end();
  await settle();
  expect(reflector).toMatchObject({ phase: 'BACKOFF', error: expect.stringContaining('middle of a line') });
});

test('F2: a clean end is followed by a watch at once, without a list', async () => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  bench.client.answer(open());
  bench.client.body.write(eventLine('MODIFIED', { ...a, rv: 11 }));
  bench.client.body.end();
  await settle();
  expect(bench.client.asked.slice(2)).toMatchObject([asWatch('11')]);
  expect(reflector.phase).toBe('WATCHING');
});

test('F3: watches that end at once are not opened again and again', async () => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  bench.client.answer(...Array.from({ length: 100 }, () => whole()));
  bench.client.body.end();
  await settle();
  expect(bench.client.asked).toHaveLength(2);
  expect(reflector.phase).toBe('BACKOFF');
  await bench.clock.advance(60_000);
  const asked = bench.client.asked.slice(2);
  expect(asked.length).toBeGreaterThan(5);
  expect(asked.length).toBeLessThan(11);
  expect(asked.every(({ query }) => query['watch'] === true)).toBe(true);
});

test('F4: a half-open connection is noticed once bookmarks were seen, and not before', async () => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  await bench.clock.advance(240_000);
  expect(bench.client.asked).toHaveLength(2);
  bench.client.body.write(bookmarkLine(11));
  await settle();
  await bench.clock.advance(179_000);
  bench.client.body.write(bookmarkLine(12));
  await settle();
  bench.client.answer(open());
  // This watch is handed over at 445 s; from here on only silence can end the next one.
  await bench.clock.advance(61_000);
  expect(bench.client.asked.slice(2)).toMatchObject([asWatch('12')]);
  await bench.clock.advance(140_000);
  bench.client.body.write(bookmarkLine(13));
  await settle();
  await bench.clock.advance(179_000);
  expect(bench.client.asked).toHaveLength(3);
  bench.client.answer(whole(listText(13, [a])), open());
  await bench.clock.advance(7000);
  expect(bench.client.asked.slice(3)).toMatchObject([asDoubt('13'), asWatch('13')]);
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
  expect(bench.writer.state(bench.handle).status.restarts).toEqual({ idle: 1 });
});

test('F35: an old event that comes again behind a newer one does not take the version back', async () => {
  const bench = reflectorBench();
  await watching(bench);
  const [newer, older] = [eventLine('MODIFIED', { name: 'a', rv: 13 }), eventLine('MODIFIED', { name: 'a', rv: 12 })];
  bench.client.body.write(older + newer + older);
  await settle();
  expect(bench.version()).toBe('13');
});

test('F44: silence is believed at a second look: what waited in the socket while this thread was held up counts', async () => {
  const bench = reflectorBench();
  await watching(bench);
  bench.client.body.write(bookmarkLine(11));
  await settle();
  await bench.clock.advance(182_000);
  bench.client.body.write(bookmarkLine(12));
  await settle();
  await bench.clock.advance(100_000);
  expect(bench.client.asked).toHaveLength(2);
  expect(bench.version()).toBe('12');
});

test('R11: a server that ignores timeoutSeconds is left at a deadline of our own', async () => {
  const bench = reflectorBench();
  await watching(bench);
  bench.client.answer(whole(listText(10, [a])), open());
  await bench.clock.advance(479_000);
  expect(bench.client.asked).toHaveLength(2);
  await bench.clock.advance(1000);
  expect(bench.client.asked.slice(2)).toMatchObject([asDoubt('10'), asWatch('10')]);
});

test('F5: HTTP 410 on a watch is answered with a list no older than what is known; nothing is added twice', async () => {
  const bench = reflectorBench();
  await watching(bench);
  bench.client.answer(refused(410, 'Expired'), whole(listText(30, [a, { name: 'c', rv: 25 }])), open());
  bench.client.body.write(eventLine('MODIFIED', { ...b, rv: 11 }));
  bench.client.body.end();
  await settle();
  expect(bench.client.asked.slice(2)).toMatchObject([asWatch('11'), asRelist('11'), asWatch('30')]);
  expect(bench.pods()).toEqual(['a uid-a@1', 'c uid-c@25']);
  expect(bench.changes()).toEqual(['RESET', 'MODIFIED b', 'DELETED b', 'ADDED c']);
});

test('F6, F7: an ERROR 410 in the stream does the same, and what came before it is kept', async () => {
  const bench = reflectorBench();
  await watching(bench);
  bench.client.answer(whole(listText(30, [a, { ...b, rv: 11 }])), open());
  bench.client.body.write(eventLine('MODIFIED', { ...b, rv: 11 }) + errorLine(410, 'Expired'));
  await settle();
  expect(bench.client.asked.slice(2)).toMatchObject([asRelist('11'), asWatch('30')]);
  expect(bench.changes()).toEqual(['RESET', 'MODIFIED b']);
});

test('a server that expires each version it has just listed is not listed in a loop', async () => {
  const bench = reflectorBench();
  await watching(bench);
  for (let round = 0; round < 50; round += 1)
    bench.client.answer(whole(listText(20 + round, [a])), open(errorLine(410, 'Expired')));
  bench.client.body.write(errorLine(410, 'Expired'));
  await settle();
  expect(bench.client.asked).toHaveLength(2);
  await bench.clock.advance(10_000);
  expect(bench.client.asked.length).toBeGreaterThan(6);
  expect(bench.client.asked.length).toBeLessThan(14);
});

test.each([
  ['F8: 410 on the relist', refused(410, 'Expired')],
  ['F9: 504 with the cause', refused(504, 'Timeout', { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } })],
  ['F9: 504 with the words alone', refused(504, 'Timeout', { message: 'Too large resource version: 11, current: 5' })],
])('%s: the list without a version is tried at once, and once', async (_, answer) => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  bench.client.answer(refused(410, 'Expired'), answer, refused(410, 'Expired'), whole(listText(40, [a])), open());
  bench.client.body.write(eventLine('MODIFIED', { ...b, rv: 11 }));
  bench.client.body.end();
  await settle();
  expect(bench.client.asked.slice(3)).toMatchObject([asRelist('11'), { query: { limit: 500 } }]);
  expect(bench.client.asked[4]?.query['resourceVersion']).toBeUndefined();
  expect(reflector.phase).toBe('BACKOFF');
  await bench.clock.advance(400);
  expect(bench.client.asked.slice(5)).toMatchObject([{ query: { limit: 500 } }, asWatch('40')]);
  expect(bench.client.asked[5]?.query['resourceVersion']).toBeUndefined();
  expect(bench.pods()).toEqual(['a uid-a@1']);
});

test('F10, F11: a token that expires on a later page drops what is staged; the whole is listed without pages', async () => {
  const bench = reflectorBench();
  await watching(bench);
  bench.client.answer(
    whole(listText(30, [a], { continue: 'p2' })),
    whole(listText(30, [{ name: 'stale', rv: 5 }], { continue: 'p3' })),
    refused(410, 'Expired', { details: { continue: 'inconsistent' } }),
    whole(listText(31, [a, b])),
    open(),
  );
  bench.client.body.write(eventLine('MODIFIED', { ...b, rv: 11 }) + errorLine(410, 'Expired'));
  await settle();
  expect(bench.client.asked.slice(2).map(({ query }) => query)).toEqual([
    { limit: 500, resourceVersion: '11', resourceVersionMatch: 'NotOlderThan' },
    { limit: 500, continue: 'p2' },
    { limit: 500, continue: 'p3' },
    { resourceVersion: '11', resourceVersionMatch: 'NotOlderThan' },
    expect.objectContaining({ watch: true, resourceVersion: '31' }),
  ]);
  expect(bench.pods()).toEqual(['a uid-a@1', 'b uid-b@2']);
  expect(bench.changes()).not.toContain('DELETED b');
});

test.each([
  ['is cut off', (text: string) => whole(text.slice(0, -2))],
  ['is cut in an item', (text: string) => whole(text.slice(0, 150))],
  ['is a page of a proxy', () => whole('<html></html>')],
  ['is a Status', () => whole('{"kind":"Status","code":500}')],
])('F12, F31: a list that %s is not committed, the old table stays', async (_, answer) => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  bench.client.answer(answer(listText(30, [a])), whole(listText(31, [b])), open());
  bench.client.body.write(eventLine('MODIFIED', { ...b, rv: 11 }) + errorLine(410, 'Expired'));
  await settle();
  expect(reflector.phase).toBe('BACKOFF');
  expect(bench.pods()).toEqual(['a uid-a@1', 'b uid-b@11']);
  expect(bench.version()).toBe('11');
  await bench.clock.advance(400);
  expect(bench.pods()).toEqual(['b uid-b@2']);
});

test('F13, F14, F15: deleted, recreated and changed while nobody watched', async () => {
  const bench = reflectorBench();
  await (await watching(bench)).stop();
  bench.client.answer(
    refused(410, 'Gone'),
    whole(
      listText(30, [
        { name: 'b', rv: 20, uid: 'another' },
        { name: 'c', rv: 21 },
      ]),
    ),
    open(eventLine('MODIFIED', { name: 'c', rv: 22 })),
  );
  bench.reflector().start();
  await settle();
  expect(bench.pods()).toEqual(['b another@20', 'c uid-c@22']);
  expect(bench.changes()).toEqual(['RESET', 'DELETED a', 'DELETED b', 'ADDED b', 'ADDED c', 'MODIFIED c']);
});

test('F20: a list below the known version is taken as it is, and said', async () => {
  const bench = reflectorBench();
  await (await watching(bench)).stop();
  bench.client.answer(
    refused(410, 'Expired'),
    refused(504, 'Timeout', { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } }),
    whole(listText(7, [a])),
    open(),
  );
  bench.reflector().start();
  await settle();
  expect(bench.pods()).toEqual(['a uid-a@1']);
  expect(bench.version()).toBe('7');
  expect(bench.client.asked.at(-1)).toMatchObject(asWatch('7'));
  expect(bench.writer.state(bench.handle).status.restarts).toMatchObject({ rewind: 1 });
});

test('I5: a pause that the server asked for when it refused a comparison is kept to by whoever asks next', async () => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  bench.client.answer(refused(429, 'TooManyRequests', { headers: { 'retry-after': '3' } }));
  await reflector.audit(new AbortController().signal);
  expect(bench.client.asked).toHaveLength(3);
  bench.client.answer(open());
  bench.client.body.write(eventLine('MODIFIED', { ...b, rv: 11 }));
  bench.client.body.end();
  await bench.clock.advance(2900);
  expect(bench.client.asked).toHaveLength(3);
  await bench.clock.advance(200);
  expect(bench.client.asked.slice(3)).toMatchObject([asWatch('11')]);
});

test('F20: a version that a server gives again, behind a past it went back to, is not taken for the one that is stored', async () => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  bench.client.body.write(eventLine('MODIFIED', { ...b, rv: 12, more: { spec: { of: 'the former future' } } }));
  bench.client.body.write(bookmarkLine(15));
  await settle();
  bench.client.answer(whole(listText(12, [a, { ...b, rv: 12, more: { spec: { of: 'now' } } }])), open());
  reflector.rewind();
  await settle();
  expect(bench.pods()).toEqual(['a uid-a@1', 'b uid-b@12']);
  expect(bench.changes()).toEqual(['RESET', 'MODIFIED b', 'MODIFIED b']);
});

test('F20: a watch that was silent for all its time is doubted; a server that is behind its version is listed anew', async () => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  bench.client.answer(
    refused(504, 'Timeout', { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } }),
    whole(listText(7, [a])),
    open(),
  );
  await bench.clock.advance(450_000);
  bench.client.body.end();
  await settle();
  await bench.clock.advance(400);
  expect(bench.client.asked.slice(2, 4)).toMatchObject([asDoubt('10'), { query: { limit: 500 } }]);
  expect(bench.client.asked[3]?.query['resourceVersion']).toBeUndefined();
  expect(bench.client.asked.slice(4)).toMatchObject([asWatch('7')]);
  expect(bench.pods()).toEqual(['a uid-a@1']);
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
});

test.each([
  ['watching', open()],
  ['waiting', refused(500, 'InternalError')],
  ['parked', refused(403, 'Forbidden')],
])('R16: a rewind while it is %s lists at once, without a version, and takes what is there', async (_, answer) => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  bench.client.answer(answer);
  bench.client.body.write(eventLine('MODIFIED', { ...b, rv: 11 }));
  bench.client.body.end();
  await settle();
  bench.client.answer(whole(listText(7, [{ ...b, rv: 4 }])), open());
  reflector.rewind();
  expect(reflector.rewinding).toBe(true);
  await settle();
  expect(bench.client.asked.slice(3)).toEqual([
    { path: '/api/v1/pods', query: { limit: 500 } },
    expect.objectContaining({ query: expect.objectContaining({ watch: true, resourceVersion: '7' }) }),
  ]);
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null, rewinding: false });
  expect(bench.pods()).toEqual(['b uid-b@4']);
  expect(bench.version()).toBe('7');
  expect(bench.writer.state(bench.handle).status.restarts).toMatchObject({ rewind: 1 });
  await reflector.stop();
  expect(bench.clock.sleepers).toBe(0);
});

test('R16: a bookmark below the known version does not lower it, so that the rewind can still be noticed', async () => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  bench.client.body.write(bookmarkLine(4));
  await settle();
  expect(reflector.resourceVersion).toBe('10');
  expect(bench.version()).toBe('10');
});

test('F23: 429 on a list and on a watch is obeyed, and nothing is listed for it', async () => {
  const bench = reflectorBench();
  const slow = refused(429, 'TooManyRequests', { headers: { 'retry-after': '7' } });
  bench.client.answer(slow, whole(listText(10, [a])), slow, open());
  const reflector = bench.reflector();
  reflector.start();
  await settle();
  expect(bench.client.asked).toHaveLength(1);
  await bench.clock.advance(7400);
  expect(bench.client.asked).toHaveLength(1);
  await bench.clock.advance(200);
  expect(bench.client.asked.slice(1)).toMatchObject([{ query: { limit: 500 } }, asWatch('10')]);
  expect(reflector.phase).toBe('BACKOFF');
  await bench.clock.advance(7600);
  expect(bench.client.asked.slice(3)).toMatchObject([asWatch('10')]);
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
});

test('F23: a later page that is throttled is waited for, and the staged pages stay', async () => {
  const bench = reflectorBench();
  const slow = refused(429, 'TooManyRequests', { headers: { 'retry-after': '2' } });
  bench.client.answer(whole(listText(10, [a], { continue: 'p2' })), slow, whole(listText(10, [b])), open());
  bench.reflector().start();
  await settle();
  await bench.clock.advance(3000);
  expect(bench.client.asked.map(({ query }) => query['continue'])).toEqual([undefined, 'p2', 'p2', undefined]);
  expect(bench.pods()).toEqual(['a uid-a@1', 'b uid-b@2']);
});

test('F24: 5xx on a watch is waited out; after five the collection is listed', async () => {
  const bench = reflectorBench();
  await watching(bench);
  bench.client.answer(
    ...Array.from({ length: 5 }, () => refused(500, 'InternalError')),
    whole(listText(30, [a])),
    open(),
  );
  bench.client.body.write(bookmarkLine(11));
  bench.client.body.end();
  await settle();
  await bench.clock.advance(60_000);
  expect(bench.client.asked.slice(2)).toMatchObject([
    ...Array.from({ length: 5 }, () => asWatch('11')),
    asRelist('11'),
    asWatch('30'),
  ]);
});

test.each([401, 403, 404, 405])('F26, F27: %i parks the resource; a probe tries again at once', async (code) => {
  const bench = reflectorBench();
  const missing: number[] = [];
  const reflector = await watching(bench, { missing: () => missing.push(code) });
  bench.client.answer(refused(code, 'No'), refused(code, 'No'), open());
  bench.client.body.write(bookmarkLine(11));
  bench.client.body.end();
  await settle();
  expect(reflector.phase).toBe('PARKED');
  expect(bench.client.asked).toHaveLength(3);
  expect(bench.pods()).toHaveLength(2);
  await bench.clock.advance(2500);
  expect(bench.client.asked).toHaveLength(4);
  expect(reflector.phase).toBe('PARKED');
  reflector.probe();
  await settle();
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
  expect(bench.client.asked.at(-1)).toMatchObject(asWatch('11'));
  expect(missing).toHaveLength(code === 404 ? 2 : 0);
});

test('F32: a line that is no JSON is never skipped: watched again, then listed, then parked', async () => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  const good = eventLine('MODIFIED', { ...a, rv: 11 });
  const after = eventLine('MODIFIED', { ...a, rv: 12 });
  const nonsense = '{"type":"MODIFIED","obj\n';
  bench.client.answer(
    open(nonsense + after),
    whole(listText(30, [a])),
    open(nonsense),
    whole(listText(40, [b])),
    open(),
  );
  bench.client.body.write(good + nonsense + after);
  await settle();
  expect(bench.pods()).toEqual(['a uid-a@11', 'b uid-b@2']);
  expect(bench.version()).toBe('11');
  await bench.clock.advance(400);
  expect(bench.client.asked.slice(2)).toMatchObject([asWatch('11')]);
  await bench.clock.advance(800);
  expect(bench.client.asked.slice(3)).toMatchObject([asRelist('11'), asWatch('30')]);
  expect(reflector).toMatchObject({ phase: 'PARKED', error: expect.stringContaining('not JSON') });
  await bench.clock.advance(2500);
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
  expect(bench.pods()).toEqual(['b uid-b@2']);
});

test('F33, F34: an object that cannot be placed stores nothing and moves nothing', async () => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  bench.client.body.write(
    '{"type":"ADDED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"n","uid":"u","resourceVersion":"99"}}}\n',
  );
  await settle();
  expect(reflector.phase).toBe('BACKOFF');
  expect(bench.version()).toBe('10');
  expect(bench.pods()).toHaveLength(2);
});

test('F37: a line over the cap ends in PARKED, not out of memory', async () => {
  const bench = reflectorBench({ settings: { maxLineBytes: 1000 } });
  const reflector = await watching(bench);
  const large = eventLine('MODIFIED', { ...a, rv: 11, more: { spec: 'x'.repeat(1000) } });
  bench.client.answer(open(large), whole(listText(30, [a])), open(large));
  bench.client.body.write(large);
  await settle();
  await bench.clock.advance(1200);
  expect(reflector).toMatchObject({ phase: 'PARKED', error: expect.stringContaining('oversized') });
});

test('F42: what the store refuses is tried again from the version that the store has', async () => {
  const bench = reflectorBench();
  let broken = true;
  const writer: typeof bench.writer = Object.create(bench.writer, {
    apply: {
      value: (...given: Parameters<typeof bench.writer.apply>) => {
        if (broken) throw new Error('SQLITE_FULL');
        return bench.writer.apply(...given);
      },
    },
    state: { value: (handle: typeof bench.handle) => bench.writer.state(handle) },
    replace: { value: (handle: typeof bench.handle) => bench.writer.replace(handle) },
    setStatus: { value: (...given: Parameters<typeof bench.writer.setStatus>) => bench.writer.setStatus(...given) },
  });
  const reflector = await watching(bench, { writer });
  bench.client.body.write(eventLine('MODIFIED', { ...a, rv: 11 }));
  await settle();
  expect(reflector).toMatchObject({ phase: 'BACKOFF', error: 'SQLITE_FULL' });
  broken = false;
  bench.client.answer(open(eventLine('MODIFIED', { ...a, rv: 11 })));
  await bench.clock.advance(400);
  expect(bench.client.asked.slice(2)).toMatchObject([asWatch('10')]);
  expect(bench.pods()).toContain('a uid-a@11');
});

test('F42: a store without room parks what it refuses again and again; the old set stays, and it goes on when there is room', async () => {
  const bench = reflectorBench();
  let room = false;
  const refuse = (): never => {
    throw new StoreFault('full', 'There is no room.', null);
  };
  const writer: typeof bench.writer = Object.create(bench.writer, {
    apply: {
      value: (...given: Parameters<typeof bench.writer.apply>) => (room ? bench.writer.apply(...given) : refuse()),
    },
    state: { value: (handle: typeof bench.handle) => bench.writer.state(handle) },
    replace: { value: (handle: typeof bench.handle) => bench.writer.replace(handle) },
    setStatus: { value: (...given: Parameters<typeof bench.writer.setStatus>) => bench.writer.setStatus(...given) },
  });
  const reflector = await watching(bench, { writer });
  const newer = eventLine('MODIFIED', { ...a, rv: 11 });
  bench.client.body.write(newer);
  bench.client.answer(open(newer), open(newer), open(newer));
  await settle();
  await bench.clock.advance(400);
  expect(reflector.failing).toBe(false);
  await bench.clock.advance(800);
  expect(reflector).toMatchObject({ phase: 'PARKED', error: 'There is no room.', failing: true, synced: true });
  expect(bench.pods()).toContain('a uid-a@1');
  expect(bench.version()).toBe('10');
  expect(bench.writer.state(bench.handle).status.restarts).toEqual({ 'store full': 3 });
  room = true;
  await bench.clock.advance(2500);
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
  expect(bench.client.asked.slice(2)).toMatchObject([asWatch('10'), asWatch('10'), asWatch('10')]);
  expect(bench.pods()).toContain('a uid-a@11');
});

test('F45, R19: a stop while listing, waiting, parked or watching leaves nothing behind', async () => {
  const arrange: ((bench: ReflectorBench) => void)[] = [
    () => {},
    ({ client }) => client.answer(open(listText(10, [a]).slice(0, 140))),
    ({ client }) => client.answer(refused(500, 'InternalError')),
    ({ client }) => client.answer(refused(403, 'Forbidden')),
    ({ client }) => client.answer(whole(listText(10, [a])), open(eventLine('ADDED', b).slice(0, 20))),
  ];
  for (const prepare of arrange) {
    const bench = reflectorBench();
    prepare(bench);
    const reflector = bench.reflector();
    reflector.start();
    await settle();
    await Promise.all([reflector.stop(), reflector.stop()]);
    expect(bench.clock.sleepers).toBe(0);
    expect(bench.client.bodies.filter((body) => !body.destroyed)).toEqual([]);
    const asked = bench.client.asked.length;
    reflector.start();
    await bench.clock.advance(600_000);
    expect(bench.client.asked).toHaveLength(asked);
    expect(reflector.phase).toBe('STOPPED');
  }
});

test('events that are read when the stop comes are not applied after it', async () => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  bench.client.body.write(eventLine('DELETED', { ...a, rv: 11 }));
  const stopped = reflector.stop();
  await stopped;
  expect(bench.pods()).toHaveLength(2);
  expect(bench.version()).toBe('10');
});

test('what cannot be watched is listed again and again, as a difference', async () => {
  const bench = reflectorBench({ verbs: ['list'] });
  bench.client.answer(whole(listText('', [a, b])), whole(listText('', [b, { name: 'c', rv: 3 }])));
  const reflector = bench.reflector();
  reflector.start();
  await settle();
  expect(reflector.phase).toBe('POLLING');
  await bench.clock.advance(59_000);
  expect(bench.client.asked).toHaveLength(1);
  await bench.clock.advance(1000);
  expect(bench.client.asked).toHaveLength(2);
  expect(bench.changes()).toEqual(['RESET', 'DELETED a', 'ADDED c']);
  expect(reflector.phase).toBe('POLLING');
});

test('a watchable collection without a resourceVersion is polled: nothing is ever watched from nowhere', async () => {
  const bench = reflectorBench();
  bench.client.answer(whole(listText('0', [a])));
  const reflector = bench.reflector();
  reflector.start();
  await settle();
  expect(reflector.phase).toBe('POLLING');
  expect(bench.client.asked).toHaveLength(1);
});

test('objects without uid and resourceVersion are stored by their name, and change by their text', async () => {
  const bench = reflectorBench({ verbs: ['list'] });
  const bare = (name: string, state: string): string =>
    `{"metadata":{"name":"${name}"},"conditions":[{"type":"${state}"}]}`;
  const list = (...items: readonly string[]) => whole(`{"kind":"PodList","metadata":{},"items":[${items.join(',')}]}`);
  bench.client.answer(
    list(bare('etcd-0', 'Healthy'), bare('etcd-1', 'Healthy')),
    list(bare('etcd-0', 'Healthy'), bare('etcd-1', 'Healthy')),
    list(bare('etcd-0', 'Sick'), bare('etcd-2', 'Healthy')),
    list(bare('etcd-0', 'Sick'), bare('etcd-2', 'Healthy')),
  );
  const reflector = bench.reflector();
  reflector.start();
  await settle();
  expect(bench.writer.state(bench.handle).objects).toBe(2);
  await bench.clock.advance(60_000);
  expect(bench.client.asked).toHaveLength(2);
  expect(bench.changes()).toEqual(['RESET']);
  await bench.clock.advance(60_000);
  expect(reflector.error).toBeNull();
  expect(bench.changes()).toEqual(['RESET', 'DELETED etcd-1', 'MODIFIED etcd-0', 'ADDED etcd-2']);
});

test('R13: no more than four lists at a time', async () => {
  const { Gate } = await import('./gate.ts');
  const bench = reflectorBench();
  const lists = new Gate(4);
  for (let index = 0; index < 6; index += 1) bench.reflector({ lists }).start();
  await settle();
  expect(bench.client.asked).toHaveLength(4);
});
