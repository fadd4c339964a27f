/** A clock on which `speed` seconds pass in each second of another clock. It starts at the other clock's present time. */
import type { Clock } from '../../src/base/clock.ts';

export function fasterClock(clock: Clock, speed: number): Clock {
  const begin = { now: clock.now(), monotonic: clock.monotonic() };
  const passed = (): number => (clock.monotonic() - begin.monotonic) * speed;
  return {
    now: () => begin.now + passed(),
    monotonic: () => begin.monotonic + passed(),
    sleep: (ms, signal) => clock.sleep(ms / speed, signal),
  };
}
