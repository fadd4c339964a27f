/**
 * The change feed where its window does not reach back. A subscriber was too slow, the log was cut, or the store file was made anew.
 */
import { describe, expect, test } from 'vitest';
import { join, names, next, others, settled, setUp, things, type Wakes } from '../../../test/kit/change-feed-bench.ts';
import { made } from '../../../test/kit/engine-fixture.ts';
import { eventually } from '../../../test/kit/eventually.ts';

describe.each<Wakes>(['commit signals', 'bare wakes'])('woken by %s', (wakes) => {
  test('a store file that was made anew is a gap, for kinds that have no change in it too', async () => {
    const setup = await setUp(wakes);
    const { feed, thing, other, signal } = setup;
    join(feed, thing);
    join(feed, other);
    const begin = await setup.revision();
    const waiting = [thing, other].map((kindId) => next(feed, kindId, begin, 0, signal));
    await settled(setup, 2);
    setup.beginEpoch('another');
    setup.write(things, 'a');
    expect((await Promise.all(waiting)).map(names)).toEqual(['gap', 'gap']);
    const now = await setup.revision();
    const quiet = next(feed, other, now, 0, signal);
    await settled(setup);
    setup.write(others, 'x');
    expect(names(await quiet)).toEqual(['x']);
  });

  test('a subscriber that finds a store file made anew takes the window over, before any wake', async () => {
    const setup = await setUp(wakes);
    const { feed, other, signal } = setup;
    join(feed, other);
    const old = next(feed, other, await setup.revision(), 0, signal);
    await settled(setup);
    setup.beginEpoch('another');
    join(feed, other);
    const fresh = next(feed, other, await setup.revision(), 0, signal);
    expect(names(await old)).toBe('gap');
    await settled(setup);
    setup.write(others, 'x');
    expect(names(await fresh)).toEqual(['x']);
  });

  test('one that is too slow for the window reads the log, in batches', async () => {
    const setup = await setUp(wakes, { maxChanges: 4, batch: 3 });
    const { feed, thing, signal } = setup;
    join(feed, thing);
    const begin = await setup.revision();
    const fast = next(feed, thing, begin, 0, signal);
    await settled(setup);
    for (let index = 0; index < 10; index += 1) setup.write(things, `n${index}`);
    await fast;
    await eventually(() => expect(feed.held).toBe(4));
    const seen: string[] = [];
    let position = begin;
    while (seen.length < 10) {
      const batch = await next(feed, thing, position, 0, signal);
      if (batch.kind === 'gap') throw new Error('the log reaches back');
      expect(names(batch).length).toBeLessThanOrEqual(3);
      seen.push(...names(batch));
      position = { ...position, sequence: batch.upTo };
    }
    expect(seen).toEqual(Array.from({ length: 10 }, (_, index) => `n${index}`));
  });

  test('a position below the floor of the log, or of another epoch, is a gap [T5] [L3]', async () => {
    const setup = await setUp(wakes, {}, { changeLog: { maxBytes: 1000, maxAgeMs: 3_600_000 } });
    const { feed, thing, signal, fixture } = setup;
    join(feed, thing);
    const begin = await setup.revision();
    for (let index = 0; index < 20; index += 1) setup.write(things, `n${index}`);
    while (fixture.writer().maintain());
    expect(names(await next(feed, thing, begin, 0, signal))).toBe('gap');
    const now = await setup.revision();
    expect(names(await next(feed, thing, { ...now, epoch: 'another' }, 0, signal))).toBe('gap');
  });

  test('a position of a quiet kind stays above its floor while the log of another kind is cut', async () => {
    const setup = await setUp(wakes, {}, { changeLog: { maxBytes: 3000, maxAgeMs: 3_600_000 } });
    const { feed, thing, other, signal, fixture } = setup;
    join(feed, thing);
    join(feed, other);
    const begin = await setup.revision();
    setup.write(others, 'x');
    for (let index = 0; index < 40; index += 1) setup.write(things, `n${index}`);
    while (fixture.writer().maintain());
    expect(names(await next(feed, thing, begin, 0, signal))).toBe('gap');
    expect(names(await next(feed, other, begin, 0, signal))).toEqual(['x']);
  });

  test('a log that is cut behind the window, before the window was filled, is a gap and no silent loss', async () => {
    const setup = await setUp(wakes, {}, { changeLog: { maxBytes: 1000, maxAgeMs: 3_600_000 } });
    const { feed, thing, signal, fixture } = setup;
    join(feed, thing);
    const waiting = next(feed, thing, await setup.revision(), 0, signal);
    await settled(setup);
    for (let index = 0; index < 20; index += 1) fixture.apply(things, 'ADDED', made({ name: `n${index}` }));
    while (fixture.writer().maintain());
    setup.wake();
    expect(names(await waiting)).toBe('gap');
  });
});
