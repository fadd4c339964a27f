import { expect, test } from 'vitest';
import { runSliced, runSteps, type Steps } from './steps.ts';

/** Advances a manual clock by this many milliseconds in each step. */
function counted(time: { ms: number }, count: number, each: number, ends: string[] = []): Steps<number> {
  return (function* () {
    try {
      for (let done = 0; done < count; done += 1) {
        time.ms += each;
        yield;
      }
      return count;
    } finally {
      ends.push('ended');
    }
  })();
}

function sliced(time: { ms: number }) {
  const turns: number[] = [];
  const options = {
    clock: { monotonic: () => time.ms },
    sliceMs: 5,
    turn: async () => void turns.push(time.ms),
  };
  return { turns, options };
}

test('in one piece, steps give their result', () => {
  expect(runSteps(counted({ ms: 0 }, 100, 1))).toBe(100);
});

test('the event loop turns at the first step after each slice, and not behind the last', async () => {
  const time = { ms: 0 };
  const { turns, options } = sliced(time);
  expect(await runSliced(counted(time, 12, 2), options)).toBe(12);
  expect(turns).toEqual([6, 12, 18, 24]);
});

test('steps that are quick take one slice', async () => {
  const time = { ms: 0 };
  const { turns, options } = sliced(time);
  expect(await runSliced(counted(time, 4, 1), options)).toBe(4);
  expect(turns).toEqual([]);
});

test('an aborted run ends between two slices, with the reason, and the steps clean up', async () => {
  const time = { ms: 0 };
  const ends: string[] = [];
  const { turns, options } = sliced(time);
  const stop = new AbortController();
  const turn = async (): Promise<void> => {
    await options.turn();
    if (turns.length === 2) stop.abort(new Error('outdated'));
  };
  const steps = counted(time, 100, 3, ends);
  await expect(runSliced(steps, { ...options, turn, signal: stop.signal })).rejects.toThrow('outdated');
  expect(turns).toEqual([6, 12]);
  expect(ends).toEqual(['ended']);
});

test('what a step throws is thrown', async () => {
  const failing = (function* (): Steps<never> {
    yield;
    throw new Error('broken');
  })();
  await expect(runSliced(failing, sliced({ ms: 0 }).options)).rejects.toThrow('broken');
});

test('by default the event loop turns between slices', async () => {
  let ended = false;
  const waiting = (function* (): Steps<void> {
    while (!ended) yield;
  })();
  setTimeout(() => {
    ended = true;
  }, 1);
  await runSliced(waiting);
  expect(ended).toBe(true);
});
