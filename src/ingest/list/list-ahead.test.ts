/** The next page of a list is requested as soon as its token is known. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { ManualClock, settle } from '../../../test/kit/manual-clock.ts';
import { listText, open, reflectorBench, refused, type TestPod, whole } from '../../../test/kit/reflector-bench.ts';
import { silentLogger } from '../../base/log.ts';
import { ParseThread } from '../parse/parse-thread.ts';

const pods = (from: number, count: number): TestPod[] =>
  Array.from({ length: count }, (_, index) => ({ name: `p${from + index}`, rv: from + index + 1 }));
const page = (from: number, count: number, next?: string): string =>
  listText(100, pods(from, count), next === undefined ? {} : { continue: next });
const tokens = ({ client }: ReturnType<typeof reflectorBench>): unknown[] =>
  client.asked.filter(({ query }) => query['watch'] === undefined).map(({ query }) => query['continue']);

async function warmThread(): Promise<ParseThread> {
  const parser = new ParseThread(silentLogger, new ManualClock());
  onTestFinished(() => parser.close());
  await parser.warm();
  return parser;
}

test('the next page is asked for while a page is being read, and one only', async () => {
  const bench = reflectorBench();
  const first = page(0, 2, 'p2');
  bench.client.answer(open(first.slice(0, -30)), whole(page(2, 2, 'p3')), whole(page(4, 1)), open());
  bench.reflector().start();
  await settle();
  expect(tokens(bench)).toEqual([undefined, 'p2']);
  const [body] = bench.client.bodies;
  body?.write(first.slice(-30));
  body?.end();
  await settle();
  expect(tokens(bench)).toEqual([undefined, 'p2', 'p3']);
  expect(bench.pods()).toHaveLength(5);
});

test('a token behind the items is used when the page has ended', async () => {
  const bench = reflectorBench();
  const behind = `{"kind":"PodList","items":[],"metadata":{"resourceVersion":"100","continue":"p2"}}`;
  bench.client.answer(whole(behind), whole(page(0, 2)), open());
  bench.reflector().start();
  await settle();
  expect(tokens(bench)).toEqual([undefined, 'p2']);
  expect(bench.pods()).toHaveLength(2);
});

test('where a list says another token at its end, that page is read and the other one left', async () => {
  const bench = reflectorBench();
  const twice = page(0, 1, 'wrong').replace(/}$/, ',"metadata":{"resourceVersion":"100","continue":"right"}}');
  bench.client.answer(whole(twice), open(), whole(page(1, 1)), open());
  bench.reflector().start();
  await settle();
  expect(tokens(bench)).toEqual([undefined, 'wrong', 'right']);
  expect(bench.client.bodies[1]?.destroyed).toBe(true);
  expect(bench.pods()).toHaveLength(2);
});

test('what goes wrong with the next page counts when its turn has come', async () => {
  const bench = reflectorBench();
  const first = page(0, 2, 'p2');
  bench.client.answer(open(first.slice(0, -30)), refused(410, 'Expired'), whole(page(0, 3)), open());
  const reflector = bench.reflector();
  reflector.start();
  await settle();
  expect(reflector).toMatchObject({ phase: 'LISTING', error: null });
  const [body] = bench.client.bodies;
  body?.write(first.slice(-30));
  body?.end();
  await settle();
  expect(bench.client.asked.slice(0, 3).map(({ query }) => query)).toEqual([
    { limit: 500 },
    { limit: 500, continue: 'p2' },
    {},
  ]);
  expect(bench.pods()).toHaveLength(3);
});

test('a page that fails leaves the one that was asked for', async () => {
  const bench = reflectorBench();
  bench.client.answer(whole(page(0, 2, 'p2').slice(0, -1)), open(), whole(page(0, 1)), open());
  const reflector = bench.reflector();
  reflector.start();
  await settle();
  expect(tokens(bench)).toEqual([undefined, 'p2']);
  expect(reflector.phase).toBe('BACKOFF');
  expect(bench.client.bodies[1]?.destroyed).toBe(true);
});

test('a reflector that is stopped leaves both pages', async () => {
  const bench = reflectorBench();
  bench.client.answer(open(page(0, 2, 'p2').slice(0, -30)), open());
  const reflector = bench.reflector();
  reflector.start();
  await settle();
  await reflector.stop();
  expect(bench.client.bodies.map(({ destroyed }) => destroyed)).toEqual([true, true]);
});

test('the parse thread gets the bytes of the next page when it has all of a page, whoever waits for its objects', async () => {
  const parser = await warmThread();
  const begun = vi.spyOn(parser, 'page');
  const bench = reflectorBench();
  const never = Promise.withResolvers<void>();
  onTestFinished(() => never.resolve());
  // While the second page is written, every permit is taken.
  const { replace } = bench.writer;
  vi.spyOn(bench.writer, 'replace').mockImplementation((...args) => {
    const real = replace.apply(bench.writer, args);
    vi.spyOn(real, 'room').mockImplementation(() => never.promise);
    return real;
  });
  bench.client.answer(
    whole(page(0, 2, 'p2')),
    whole(page(2, 100, 'p3')),
    whole(page(102, 2, 'p4')),
    whole(page(104, 1)),
    open(),
  );
  bench.reflector({ parser }).start();
  await vi.waitFor(() => expect(begun).toHaveBeenCalledTimes(2));
  expect(tokens(bench)).toEqual([undefined, 'p2', 'p3']);
  never.resolve();
  await vi.waitFor(() => expect(bench.pods()).toHaveLength(105));
  expect(begun).toHaveBeenCalledTimes(3);
});

test('a page that cannot be begun ahead of its turn is begun when it has come', async () => {
  const parser = await warmThread();
  const { page: begin } = parser;
  const begun = vi.spyOn(parser, 'page').mockImplementation((...args) => {
    if (begun.mock.calls.length === 2) throw new Error('not now');
    return begin.apply(parser, args);
  });
  const bench = reflectorBench();
  bench.client.answer(whole(page(0, 2, 'p2')), whole(page(2, 2, 'p3')), whole(page(4, 1)), open());
  bench.reflector({ parser }).start();
  await vi.waitFor(() => expect(bench.pods()).toHaveLength(5));
  expect(tokens(bench)).toEqual([undefined, 'p2', 'p3']);
  expect(begun).toHaveBeenCalledTimes(3);
});

test('a page of the parse thread that breaks off is an error of the connection, and the next one is left', async () => {
  const parser = await warmThread();
  const bench = reflectorBench();
  bench.client.answer(whole(page(0, 2, 'p2')), open(page(2, 2, 'p3').slice(0, -30)), open());
  const reflector = bench.reflector({ parser });
  reflector.start();
  await vi.waitFor(() => expect(tokens(bench)).toEqual([undefined, 'p2', 'p3']));
  await bench.client.bodies[1]?.reset();
  await vi.waitFor(() => expect(reflector.phase).toBe('BACKOFF'));
  expect(reflector.error).toContain('ECONNRESET');
  expect(bench.client.bodies[2]?.destroyed).toBe(true);
});
