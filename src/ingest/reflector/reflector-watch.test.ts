/**
 * The state machine while it watches: how watches end, and which events they may bring.
 */
import { expect, test } from 'vitest';
import { settle } from '../../../test/kit/manual-clock.ts';
import { bookmarkLine, eventLine, listText, open, reflectorBench, whole } from '../../../test/kit/reflector-bench.ts';
import { a, asDoubt, asRelist, asWatch, watching } from '../../../test/kit/two-pods.ts';

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
  // The version is within a lost history: the server ends each watch from it, without 410. Only a list shows what is there.
  const ended = Array.from({ length: 100 }, () => whole());
  bench.client.answer(whole(), whole(), whole(listText(20, [a])), ...ended);
  bench.client.body.end();
  await settle();
  expect(bench.client.asked).toHaveLength(2);
  expect(reflector.phase).toBe('BACKOFF');
  await bench.clock.advance(60_000);
  const asked = bench.client.asked.slice(2);
  expect(asked.length).toBeGreaterThan(5);
  expect(asked.length).toBeLessThan(30);
  expect(asked.slice(0, 3)).toMatchObject([asWatch('10'), asWatch('10'), asRelist('10')]);
  expect(asked.slice(3).every(({ query }) => query['watch'] === true)).toBe(true);
  expect(bench.pods()).toEqual(['a uid-a@1']);
  const status = () => bench.writer.state(bench.handle).status;
  const listedAt = status().lastSignAt;
  expect(reflector).toMatchObject({
    phase: 'POLLING',
    failing: true,
    error: expect.stringContaining('ended by the server'),
  });
  expect(status()).toMatchObject({ staleSince: listedAt });
  await bench.clock.advance(10_000);
  expect(status()).toMatchObject({ staleSince: listedAt, lastSignAt: listedAt });
});

test('F4: a half-open connection is noticed once bookmarks come regularly on it, and not before', async () => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  const status = () => bench.writer.state(bench.handle).status;
  await bench.clock.advance(20_000);
  expect(bench.client.asked).toHaveLength(2);
  bench.client.body.write(bookmarkLine(11));
  await bench.clock.advance(30_000);
  expect(status()).toMatchObject({ phase: 'WATCHING', staleSince: null });
  bench.client.body.write(bookmarkLine(11));
  await settle();
  const lastSignAt = bench.clock.now();
  await bench.clock.advance(149_000);
  expect(status()).toMatchObject({ phase: 'WATCHING', staleSince: null });
  await bench.clock.advance(1000);
  expect(status()).toMatchObject({ phase: 'WATCHING', error: null, staleSince: lastSignAt });
  bench.client.body.write(bookmarkLine(12));
  await settle();
  expect(status()).toMatchObject({ phase: 'WATCHING', staleSince: null });
  bench.client.answer(whole(listText(13, [a])), open());
  await bench.clock.advance(214_000);
  expect(bench.client.asked).toHaveLength(2);
  await bench.clock.advance(2000);
  expect(bench.client.asked.slice(2)).toMatchObject([asDoubt('12'), asWatch('12')]);
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
  expect(status()).toMatchObject({ restarts: { idle: 1 }, staleSince: null });
});

test('F4: a watch that is silent before its first bookmark is opened again if others had some, and this is no failure', async () => {
  const bench = reflectorBench();
  const reflector = await watching(bench);
  bench.client.body.write(bookmarkLine(11));
  await settle();
  bench.client.answer(open());
  bench.client.body.end();
  await settle();
  bench.client.body.write(eventLine('MODIFIED', { ...a, rv: 12 }));
  await settle();
  bench.client.answer(open());
  await bench.clock.advance(209_000);
  expect(bench.client.asked).toHaveLength(3);
  await bench.clock.advance(1000);
  expect(bench.client.asked.slice(3)).toMatchObject([asWatch('12')]);
  bench.client.answer(whole(listText(12, [a])), open());
  await bench.clock.advance(210_000);
  expect(bench.client.asked.slice(4)).toMatchObject([asDoubt('12'), asWatch('12')]);
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
  expect(bench.writer.state(bench.handle).status).toMatchObject({ restarts: {}, staleSince: null });
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
  bench.client.body.write(bookmarkLine(11) + bookmarkLine(11));
  await settle();
  await bench.clock.advance(212_000);
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
