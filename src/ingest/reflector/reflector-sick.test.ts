/** The state machine when a part of the server is sick: requests that hang, a watch that the server does not have, objects without uid. */
import { expect, test } from 'vitest';
import { settle } from '../../../test/kit/manual-clock.ts';
import { eventLine, listText, open, reflectorBench, refused, whole } from '../../../test/kit/reflector-bench.ts';
import { a, asRelist, asWatch, b, watching } from '../../../test/kit/two-pods.ts';
import { RetryPace } from '../flow/retry-pace.ts';

const asLook = { query: { limit: 1 } };
const asList = { query: { limit: 500 } };

test('a list that hangs says so, and is sent again as soon as its server answers other requests', async () => {
  const bench = reflectorBench();
  const logged: string[] = [];
  const interruptions = { failed: (name: string) => logged.push(name), continues: () => {} };
  const reflector = bench.reflector({ interruptions });
  reflector.start();
  await settle();
  await bench.clock.advance(4000);
  expect(bench.client.asked).toMatchObject([asList, asLook]);
  expect(reflector).toMatchObject({ phase: 'LISTING', failing: true, error: expect.stringContaining('/api/v1/pods') });
  expect(logged).toEqual(['pods']);
  bench.client.answer(whole(listText(10, [])), whole(listText(10, [a, b])), open());
  await bench.clock.advance(2000);
  expect(bench.client.asked.slice(2)).toMatchObject([asLook, asList, asWatch('10')]);
  expect(reflector).toMatchObject({ phase: 'WATCHING', synced: true, error: null, failing: false });
});

test('a list that is only slow is looked at once, and neither cut nor sent again', async () => {
  const bench = reflectorBench();
  bench.client.answer(open(), whole(listText(10, [])), open());
  const reflector = bench.reflector();
  reflector.start();
  await settle();
  const body = bench.client.body;
  await bench.clock.advance(30_000);
  expect(bench.client.asked).toMatchObject([asList, asLook]);
  expect(reflector).toMatchObject({ phase: 'LISTING', error: null });
  body.write(listText(10, [a]));
  body.end();
  await settle();
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
});

test.each([400, 403, 404, 405, 501])(
  'a watch that is refused with %i while the list works: the collection is polled',
  async (code) => {
    const bench = reflectorBench();
    const no = refused(code, 'No');
    bench.client.answer(whole(listText(10, [a])), no, whole(listText(11, [a])), no);
    const reflector = bench.reflector();
    reflector.start();
    await settle();
    expect(bench.client.asked).toMatchObject([asList, asWatch('10'), asRelist('10')]);
    expect(reflector).toMatchObject({
      phase: 'POLLING',
      failing: true,
      refusal: null,
      error: expect.stringContaining(`${code}`),
    });
    await bench.clock.advance(6000);
    bench.client.answer(
      ...Array.from(
        { length: 40 },
        () => (request: Parameters<typeof no>[0]) =>
          request.query['watch'] === true ? no(request) : whole(listText(12, [b]))(request),
      ),
    );
    await bench.clock.advance(60_000);
    expect(bench.pods()).toEqual(['b uid-b@2']);
    expect(bench.writer.state(bench.handle).status).toMatchObject({ phase: 'POLLING', refused: false });
  },
);

test('a watch that is not answered while the list works: the collection is polled, and watched when it is answered', async () => {
  const bench = reflectorBench();
  // Another collection of the cluster is read, so the server is not away.
  const reflector = await watching(bench, { pace: new RetryPace(() => 2) });
  bench.client.body.write(eventLine('MODIFIED', { ...a, rv: 11 }));
  bench.client.body.end();
  await settle();
  await bench.clock.advance(14_900);
  bench.client.answer(whole(listText(12, [b])), open());
  await bench.clock.advance(100);
  expect(bench.client.asked.slice(2)).toMatchObject([asWatch('11'), asRelist('11')]);
  expect(reflector).toMatchObject({ phase: 'POLLING', failing: true, error: expect.stringContaining('not answered') });
  await bench.clock.advance(4000);
  expect(reflector).toMatchObject({ phase: 'WATCHING', failing: false, error: null });
});

test('a watch that was cut and is then not answered counts as soon as it is answered', async () => {
  const bench = reflectorBench();
  const reflector = await watching(bench, { pace: new RetryPace(() => 2) });
  bench.client.body.end();
  await settle();
  await bench.clock.advance(400);
  bench.client.answer(whole(listText(12, [b])));
  await bench.clock.advance(15_000);
  expect(reflector).toMatchObject({ phase: 'POLLING', error: expect.stringContaining('not answered') });
  await bench.clock.advance(1000);
  const hung = bench.client.asked.length;
  bench.client.answer(open());
  // It hangs for 4 s; after a rest the next one is answered.
  await bench.clock.advance(4000 + 3000);
  expect(bench.client.asked.length).toBe(hung + 1);
  expect(reflector).toMatchObject({ phase: 'WATCHING', error: null });
});

test('a streaming list without headers is followed by a list in pages', async () => {
  const bench = reflectorBench({ settings: { streamingLists: true } });
  const reflector = bench.reflector();
  reflector.start();
  await settle();
  await bench.clock.advance(4900);
  bench.client.answer(whole(listText(10, [a])), open());
  await bench.clock.advance(100);
  expect(bench.client.asked).toMatchObject([{ query: { sendInitialEvents: true } }, asList, asWatch('10')]);
  expect(reflector).toMatchObject({ phase: 'WATCHING', synced: true, error: null });
});

test('objects without uid are served and watched; a single event without uid is refused', async () => {
  const bench = reflectorBench();
  const bare = { name: 'a', rv: 1, uid: '' };
  bench.client.answer(whole(listText(10, [bare])), whole(listText(10, [bare])), open());
  const reflector = bench.reflector();
  reflector.start();
  await settle();
  expect(reflector).toMatchObject({ phase: 'WATCHING', synced: true, error: null });
  bench.client.body.write(
    eventLine('MODIFIED', { ...bare, rv: 11 }) + eventLine('ADDED', { name: 'b', rv: 12, uid: '' }),
  );
  await settle();
  expect(bench.pods()).toEqual(['a default/a@11', 'b default/b@12']);
  bench.client.body.write(eventLine('DELETED', { ...bare, rv: 13 }));
  await settle();
  expect(bench.pods()).toEqual(['b default/b@12']);

  const other = reflectorBench();
  const strict = await watching(other);
  other.client.body.write(eventLine('MODIFIED', { ...a, uid: '', rv: 11 }));
  await settle();
  expect(strict).toMatchObject({ phase: 'BACKOFF', error: expect.stringContaining('without a uid') });
  expect(other.version()).toBe('10');
});
