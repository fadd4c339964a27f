import { expect, test } from 'vitest';
import { StandingWaits } from './standing-waits.ts';

/** Waits by name that a test ends. */
function waitsOf(signal = new AbortController().signal) {
  const waits = new StandingWaits(signal);
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const begun: string[] = [];
  return {
    waits,
    begun,
    end: (id: string) => ends.get(id)?.resolve(),
    fail: (id: string, error: unknown) => ends.get(id)?.reject(error),
    begin(...ids: readonly string[]) {
      for (const id of ids) {
        waits.begin(id, (stop) => {
          begun.push(id);
          const made = Promise.withResolvers<void>();
          ends.set(id, made);
          stop.addEventListener('abort', () => made.resolve(), { once: true });
          return made.promise;
        });
      }
    },
  };
}

test('only waits that ended begin again', async () => {
  const { waits, begun, begin, end } = waitsOf();
  begin('a', 'b');
  end('a');
  expect(await waits.any(10_000)).toBe(true);
  begin('a', 'b');
  expect(begun).toEqual(['a', 'b', 'a']);
  expect(await waits.any(10)).toBe(false);
  end('b');
  end('a');
  expect(await waits.any(10_000)).toBe(true);
});

test('a wait that ended before is told once', async () => {
  const { waits, begin, end } = waitsOf();
  begin('a');
  end('a');
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await waits.any(10_000)).toBe(true);
  expect(await waits.any(10)).toBe(false);
});

test('an error of a wait is thrown', async () => {
  const { waits, begin, fail } = waitsOf();
  begin('a', 'b');
  const waiting = waits.any(10_000);
  fail('b', new Error('lost'));
  await expect(waiting).rejects.toThrow('lost');
});

test('the signal and the end end all waits', async () => {
  const stop = new AbortController();
  const first = waitsOf(stop.signal);
  first.begin('a');
  const waiting = first.waits.any(10_000);
  stop.abort();
  await waiting;
  await first.waits.any(10_000);
  const second = waitsOf();
  second.begin('a', 'b');
  second.waits.end();
  await second.waits.any(10_000);
});
