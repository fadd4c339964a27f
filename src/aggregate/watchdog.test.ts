import { expect, onTestFinished, test } from 'vitest';
import { ManualClock, settle } from '../../test/kit/manual-clock.ts';
import { Watchdog } from './watchdog.ts';

test('the door is ill until a probe answers, while one is late, and after one that fails', async () => {
  const clock = new ManualClock();
  const probes: PromiseWithResolvers<void>[] = [];
  const watchdog = new Watchdog({
    clock,
    probe: () => {
      const probe = Promise.withResolvers<void>();
      probes.push(probe);
      return probe.promise;
    },
  });
  onTestFinished(() => watchdog.close());
  expect(watchdog.illness).toBe('it has not been asked yet');
  watchdog.start();
  probes[0]?.resolve();
  await settle();
  expect(watchdog.illness).toBeNull();

  await clock.advance(1000);
  await clock.advance(1999);
  expect([probes.length, watchdog.illness]).toEqual([2, null]);
  await clock.advance(1);
  expect(watchdog.illness).toBe('a list was not answered within 2000 ms');
  // It asks one question at a time.
  await clock.advance(60_000);
  expect(probes).toHaveLength(2);
  probes[1]?.resolve();
  await settle();
  expect(watchdog.illness).toBeNull();

  await clock.advance(1000);
  probes[2]?.reject(new Error('shadowrecords have not been synced yet'));
  await settle();
  expect(watchdog.illness).toBe('shadowrecords have not been synced yet');
});
