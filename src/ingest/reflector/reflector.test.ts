/**
 * The state machine from its first list to its stop, against scripted answers; names carry the numbers of the requirements and faults
 * they stand for.
 */
import { expect, test } from 'vitest';
import { settle } from '../../../test/kit/manual-clock.ts';
import {
  bookmarkLine,
  describedPods,
  eventLine,
  listText,
  open,
  type ReflectorBench,
  reflectorBench,
  refused,
  whole,
} from '../../../test/kit/reflector-bench.ts';
import { a, asRelist, asWatch, b, watching } from '../../../test/kit/two-pods.ts';
import { Slots } from '../flow/slots.ts';

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
  expect(bench.writer.state(bench.handle).status.staleSince).toBe(bench.clock.now());
  await bench.clock.advance(59_000);
  expect(bench.client.asked).toHaveLength(1);
  await bench.clock.advance(1000);
  expect(bench.client.asked).toHaveLength(2);
  expect(bench.changes()).toEqual(['RESET', 'DELETED a', 'ADDED c']);
  expect(reflector.phase).toBe('POLLING');
  expect(bench.writer.state(bench.handle).status.staleSince).toBe(bench.clock.now());
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
  const bench = reflectorBench();
  const lists = new Slots(bench.clock, 4);
  for (let index = 0; index < 6; index += 1) bench.reflector({ lists }).start();
  await settle();
  expect(bench.client.asked).toHaveLength(4);
});
