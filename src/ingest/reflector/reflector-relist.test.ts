/**
 * The state machine when it lists again: expired versions, broken lists, a server that went back in time.
 */
import { expect, test } from 'vitest';
import { settle } from '../../../test/kit/manual-clock.ts';
import {
  bookmarkLine,
  errorLine,
  eventLine,
  listText,
  open,
  reflectorBench,
  refused,
  whole,
} from '../../../test/kit/reflector-bench.ts';
import { a, asDoubt, asRelist, asWatch, b, watching } from '../../../test/kit/two-pods.ts';

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
  ['watching', [open()]],
  ['waiting', [refused(500, 'InternalError')]],
  ['parked', [refused(403, 'Forbidden'), refused(403, 'Forbidden')]],
])('R16: a rewind while it is %s lists at once, without a version, and takes what is there', async (_, answers) => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  bench.client.answer(...answers);
  bench.client.body.write(eventLine('MODIFIED', { ...b, rv: 11 }));
  bench.client.body.end();
  await settle();
  const before = bench.client.asked.length;
  bench.client.answer(whole(listText(7, [{ ...b, rv: 4 }])), open());
  reflector.rewind();
  expect(reflector.rewinding).toBe(true);
  await settle();
  expect(bench.client.asked.slice(before)).toEqual([
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
