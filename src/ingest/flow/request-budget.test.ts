import { expect, test } from 'vitest';
import { ManualClock, settle } from '../../../test/kit/manual-clock.ts';
import { bookmarkLine, listText, open, reflectorBench, whole } from '../../../test/kit/reflector-bench.ts';
import { ScriptedBody } from '../../../test/kit/scripted-client.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { RequestBudget } from './request-budget.ts';

const rate = { burst: 10, perSecond: 5 };

/** The largest excess of requests over the allowed rate in any time window; 0 or less if the rate was kept. */
function excess(times: readonly number[]): number {
  let most = Number.NEGATIVE_INFINITY;
  for (let from = 0; from < times.length; from += 1) {
    for (let to = from; to < times.length; to += 1) {
      const seconds = ((times[to] ?? 0) - (times[from] ?? 0)) / 1000;
      most = Math.max(most, to - from + 1 - rate.burst - rate.perSecond * seconds);
    }
  }
  return most;
}

test('R13: a burst at once, then evenly, in the order of asking; what was not used is not saved beyond the burst', async () => {
  const clock = new ManualClock();
  const budget = new RequestBudget(clock, rate);
  const start = clock.monotonic();
  const { signal } = new AbortController();
  const taken: string[] = [];
  const take = (name: string): void =>
    void budget.take(1, signal).then(() => taken.push(`${name} ${clock.monotonic() - start}`));
  for (let index = 0; index < 12; index += 1) take(`a${index}`);
  await settle();
  await clock.advance(1000);
  expect(taken.slice(8)).toEqual(['a8 0', 'a9 0', 'a10 200', 'a11 400']);
  await clock.advance(3_600_000);
  taken.length = 0;
  for (let index = 0; index < 11; index += 1) take('b');
  await settle();
  expect(taken).toHaveLength(10);
});

test('R13: who stops while waiting is not let in later', async () => {
  const clock = new ManualClock();
  const budget = new RequestBudget(clock, { burst: 1, perSecond: 1 });
  const stop = new AbortController();
  await budget.take(1, stop.signal);
  const waiting = budget.take(1, stop.signal);
  stop.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
  await expect(budget.take(1, stop.signal)).rejects.toThrow('stopped');
  expect(clock.sleepers).toBe(0);
});

test('F23: who waits for its turn waits on when the collection is asked to pause meanwhile, and others do not', async () => {
  const clock = new ManualClock();
  const budget = new RequestBudget(clock, { burst: 1, perSecond: 1 });
  const start = clock.monotonic();
  const { signal } = new AbortController();
  const taken: string[] = [];
  const take = (collection: number): void =>
    void budget.take(collection, signal).then(() => taken.push(`${collection} ${clock.monotonic() - start}`));
  for (const collection of [1, 1, 2]) take(collection);
  await settle();
  budget.hold(1, 5);
  await clock.advance(10_000);
  expect(taken).toEqual(['1 0', '2 2000', '1 5000']);
});

/** Three hundred reflectors at version 10 and a server that can be down. Records the time and kind of each request. */
async function threeHundred() {
  const bench = reflectorBench({ settings: { requests: rate } });
  bench.client.answer(whole(listText(10, [{ name: 'a', rv: 1 }])), open());
  const first = bench.reflector();
  first.start();
  await settle();
  await first.stop();
  const server = { down: false, times: [] as number[], lists: 0, bodies: new Set<ScriptedBody>() };
  const stream: RestClient['stream'] = async (_, query = {}, { signal } = {}) => {
    server.times.push(bench.clock.monotonic());
    if (query['watch'] !== true) server.lists += 1;
    if (server.down) throw new Error('connect ECONNREFUSED');
    const body = new ScriptedBody();
    server.bodies.add(body);
    signal?.addEventListener('abort', () => body.destroy(signal.reason as Error), { once: true });
    body.write(bookmarkLine(11));
    return { status: 200, headers: {}, body };
  };
  let seed = 1;
  const random = (): number => {
    seed = (seed * 16807) % 2147483647;
    return seed / 2147483647;
  };
  const reflectors = Array.from({ length: 300 }, () => bench.reflector({ client: { stream }, random }));
  for (const reflector of reflectors) reflector.start();
  await settle();
  return { ...bench, server, reflectors };
}

test('R13, F25: three hundred watches that start, and end all at once, come back within the rate, and nothing is listed', async () => {
  const { clock, server, reflectors } = await threeHundred();
  await clock.advance(60_000);
  expect(server.bodies.size).toBe(300);
  for (const body of server.bodies) body.end();
  await settle();
  await clock.advance(60_000);
  expect(server.times).toHaveLength(600);
  expect(server.lists).toBe(0);
  expect(excess(server.times)).toBeLessThanOrEqual(0.001);
  expect(reflectors.every(({ phase }) => phase === 'WATCHING')).toBe(true);
});

test('R13, F24: an outage with three hundred reflectors: never over the rate, and all are back without a list', async () => {
  const { clock, server, reflectors } = await threeHundred();
  await clock.advance(60_000);
  server.down = true;
  for (const body of server.bodies) void body.reset();
  await settle();
  await clock.advance(60_000);
  const tried = server.times.length;
  expect(tried).toBeGreaterThan(500);
  server.down = false;
  await clock.advance(120_000);
  expect(server.lists).toBe(0);
  expect(excess(server.times)).toBeLessThanOrEqual(0.001);
  expect(reflectors.every(({ phase }) => phase === 'WATCHING')).toBe(true);
});

test('a collection rests for as long as its server asked, whoever asks for it next, and no other does', async () => {
  const clock = new ManualClock();
  const budget = new RequestBudget(clock, { burst: 10, perSecond: 10 });
  const start = clock.monotonic();
  const taken: string[] = [];
  const take = (collection: number, signal: AbortSignal): Promise<void> =>
    budget.take(collection, signal).then(
      () => void taken.push(`${collection} ${clock.monotonic() - start}`),
      () => void taken.push(`${collection} stopped`),
    );
  budget.hold(1, 3);
  budget.hold(2, undefined);
  const stop = new AbortController();
  const first = take(1, stop.signal);
  await take(2, never);
  stop.abort();
  await first;
  const second = take(1, never);
  await clock.advance(2999);
  expect(taken).toEqual(['2 0', '1 stopped']);
  await clock.advance(1);
  await second;
  expect(taken).toEqual(['2 0', '1 stopped', '1 3000']);
});

const never = new AbortController().signal;
