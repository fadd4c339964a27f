/** The state machine when it is refused, when it cannot read a response, and when it cannot store one. */
import { expect, test } from 'vitest';
import { settle } from '../../../test/kit/manual-clock.ts';
import {
  bookmarkLine,
  eventLine,
  listText,
  open,
  reflectorBench,
  refused,
  whole,
} from '../../../test/kit/reflector-bench.ts';
import { a, asRelist, asWatch, b, watching } from '../../../test/kit/two-pods.ts';
import { StoreFault } from '../../store/types/store-fault.ts';

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
  // A refused watch is followed by a list, because a server may refuse the watch alone. 401 concerns every request.
  const each = code === 401 ? [asWatch('11')] : [asWatch('11'), asRelist('11')];
  bench.client.answer(...each.map(() => refused(code, 'No')), ...each.map(() => refused(code, 'No')), open());
  bench.client.body.write(bookmarkLine(11));
  bench.client.body.end();
  await settle();
  expect(reflector.phase).toBe('PARKED');
  expect(bench.client.asked.slice(2)).toMatchObject(each);
  expect(bench.pods()).toHaveLength(2);
  await bench.clock.advance(2500);
  expect(bench.client.asked.slice(2)).toMatchObject([...each, ...each]);
  expect(reflector.phase).toBe('PARKED');
  reflector.probe();
  await settle();
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
  expect(bench.client.asked.at(-1)).toMatchObject(asWatch('11'));
  expect(missing).toHaveLength(code === 404 ? 2 : 0);
});

test('F32: a line that is no JSON is never skipped: watched again, then listed, then polled', async () => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  const good = eventLine('MODIFIED', { ...a, rv: 11 });
  const after = eventLine('MODIFIED', { ...a, rv: 12 });
  const nonsense = '{"type":"MODIFIED","obj\n';
  bench.client.answer(
    open(nonsense + after),
    whole(listText(30, [a])),
    open(nonsense),
    open(eventLine('DELETED', { ...a, rv: 40 }) + eventLine('ADDED', { ...b, rv: 41 })),
  );
  bench.client.body.write(good + nonsense + after);
  await settle();
  expect(bench.pods()).toEqual(['a uid-a@11', 'b uid-b@2']);
  expect(bench.version()).toBe('11');
  await bench.clock.advance(400);
  expect(bench.client.asked.slice(2)).toMatchObject([asWatch('11')]);
  await bench.clock.advance(800);
  expect(bench.client.asked.slice(3)).toMatchObject([asRelist('11'), asWatch('30')]);
  expect(reflector).toMatchObject({ phase: 'POLLING', failing: true, error: expect.stringContaining('not JSON') });
  await bench.clock.advance(2500);
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
  expect(bench.pods()).toEqual(['b uid-b@41']);
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

test('F37: a line over the cap ends in POLLING with an error, not out of memory', async () => {
  const bench = reflectorBench({ settings: { maxLineBytes: 1000 } });
  const reflector = await watching(bench);
  const large = eventLine('MODIFIED', { ...a, rv: 11, more: { spec: 'x'.repeat(1000) } });
  bench.client.answer(open(large), whole(listText(30, [a])), open(large));
  bench.client.body.write(large);
  await settle();
  await bench.clock.advance(1200);
  expect(reflector).toMatchObject({ phase: 'POLLING', failing: true, error: expect.stringContaining('oversized') });
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
    throw new StoreFault('full', () => 'There is no room.', { file: 'store.db', cause: null });
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
