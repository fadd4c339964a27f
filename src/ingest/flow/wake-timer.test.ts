import { expect, test } from 'vitest';
import { ManualClock, settle } from '../../../test/kit/manual-clock.ts';
import { WakeTimer } from './wake-timer.ts';

test('can be brought forward while somebody waits, and put off only by set', async () => {
  const clock = new ManualClock();
  const timer = new WakeTimer(clock);
  const stop = new AbortController();
  await timer.wait(stop.signal);
  timer.set(60_000);
  let rung = 0;
  void timer.wait(stop.signal).then(() => {
    rung += 1;
  });
  await clock.advance(1000);
  timer.sooner(2000);
  timer.sooner(5000);
  await clock.advance(1999);
  expect(rung).toBe(0);
  await clock.advance(1);
  expect(rung).toBe(1);
  timer.set(1000);
  const waiting = timer.wait(stop.signal);
  stop.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
  await settle();
  expect(clock.sleepers).toBe(0);
});
