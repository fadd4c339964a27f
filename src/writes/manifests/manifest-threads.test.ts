import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../test/kit/eventually.ts';
import { ManualClock } from '../../../test/kit/manual-clock.ts';
import { randomRuns } from '../../../test/kit/random-runs.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { PortolanError } from '../../base/errors.ts';
import { ManifestBudget, manifestBounds } from './manifest-bounds.ts';
import type { ManifestTask } from './manifest-messages.ts';
import { ManifestThreads } from './manifest-threads.ts';
import { manifestsOfYaml, readAt } from './read-manifests.ts';

const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
const small: ManifestTask = [{ place: 'docs[0]', text: head }];

/** Threads whose script never answers. */
const silent = new URL(
  'data:text/javascript,import{parentPort}from"node:worker_threads";parentPort.on("message",()=>{})',
);

function threadsOf(
  options: ConstructorParameters<typeof ManifestThreads>[1] = {},
  clock: Clock = systemClock,
): ManifestThreads {
  const threads = new ManifestThreads(clock, options);
  onTestFinished(() => threads.close());
  return threads;
}

/** Calls of threads that never answer, and the end of each. */
function silentCalls() {
  const clock = new ManualClock();
  const threads = threadsOf({ script: silent }, clock);
  const settled: string[] = [];
  const stops: Record<string, AbortController> = {};
  const call = (name: string): Promise<string> => {
    const stop = new AbortController();
    stops[name] = stop;
    return threads
      .read(small, name.slice(0, 1), stop.signal)
      .then(
        () => 'read',
        (error: unknown) => (error instanceof PortolanError ? error.code : String(error)),
      )
      .then((outcome) => {
        settled.push(`${name} ${outcome}`);
        return outcome;
      });
  };
  return { threads, clock, settled, call, stop: (name: string) => stops[name]?.abort(`${name} is stopped`) };
}

describe('the manifests are those of manifestsOfYaml', () => {
  const integer = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }).map(String);
  const number = fc.oneof(integer, fc.double({ noNaN: true, noDefaultInfinity: true }).map(String));
  const text = fc.string({ unit: 'grapheme' }).map((each) => JSON.stringify(each));
  const { value } = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      number,
      text,
      fc.constantFrom('null', 'yes', '0644', '2026-01-31', '"__proto__"', '*w', '!!binary YQ=='),
      fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(', ')}]`),
      fc
        .array(fc.tuple(text, tie('value')), { maxLength: 4 })
        .map((items) => `{${items.map(([key, item]) => `${key}: ${item}`).join(', ')}}`),
    ),
  }));
  const document = value.map((each) => `${head}w: &w {a: 12345678901234567890}\nspec: ${each}\n`);
  const yaml = fc.oneof(
    { weight: 8, arbitrary: document },
    { weight: 2, arbitrary: fc.array(document, { maxLength: 3 }).map((all) => all.join('---\n')) },
    { weight: 1, arbitrary: document.map((each) => each.slice(0, each.length / 2)) },
  );

  test('also with their errors', async () => {
    const threads = threadsOf();
    const outcome = (error: unknown) => {
      if (!(error instanceof PortolanError)) throw error;
      return [error.code, error.message, error.details];
    };
    let read = 0;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(yaml, { maxLength: 30 }), async (texts) => {
        const task = texts.map((each, index) => ({ place: `docs[${index}]`, text: each }));
        let expected: unknown;
        try {
          const budget = new ManifestBudget(manifestBounds);
          expected = task.map((each) =>
            readAt(each.place, () => manifestsOfYaml(each.text, budget)).map((manifest) => JSON.stringify(manifest)),
          );
          read += 1;
        } catch (error) {
          expected = outcome(error);
          refused += 1;
        }
        expect(await threads.read(task, 'a').catch(outcome)).toEqual(expected);
      }),
      { numRuns: randomRuns(8, 20) },
    );
    expect([read > 0, refused > 0]).toEqual([true, true]);
  });
});

describe('a thread is ended', () => {
  test('when its time is over', async () => {
    const { threads, clock, call } = silentCalls();
    const asked = call('a1');
    await eventually(() => expect(clock.sleepers).toBe(1));
    await clock.advance(30_000);
    expect(await asked).toBe('QUERY_TOO_COSTLY');
    expect([threads.running, clock.sleepers]).toEqual([0, 0]);
  });

  test('with its answer, with its signal, and with the gateway', async () => {
    const threads = threadsOf();
    await threads.read(small, 'a');
    expect(threads.running).toBe(0);
    const { threads: others, call, stop } = silentCalls();
    const first = call('a1');
    await eventually(() => expect(others.running).toBe(1));
    stop('a1');
    expect(await first).toBe('a1 is stopped');
    expect(others.running).toBe(0);
    const more = [call('a2'), call('a3'), call('b1'), call('c1')];
    await eventually(() => expect(others.running).toBe(2));
    await others.close();
    expect(others.running).toBe(0);
    expect(await Promise.all(more)).toEqual(Array(4).fill('INTERNAL_SERVER_ERROR'));
    expect(await call('a4')).toBe('INTERNAL_SERVER_ERROR');
  });

  test.each([
    ['ends', 'process.exit(7)', 'INTERNAL_SERVER_ERROR'],
    ['throws', 'throw new Error("lost")', 'INTERNAL_SERVER_ERROR'],
    ['lacks memory', 'throw Object.assign(new Error(),{code:"ERR_WORKER_OUT_OF_MEMORY"})', 'QUERY_TOO_COSTLY'],
  ])('before its answer, if it %s', async (_what, script, code) => {
    const threads = threadsOf({ script: new URL(`data:text/javascript,${encodeURIComponent(script)}`) });
    await expect(threads.read(small, 'a')).rejects.toMatchObject({ code });
    expect(threads.running).toBe(0);
  });
});

describe('callers', () => {
  test('have one thread each, and all together two; those who wait take turns', async () => {
    const { threads, settled, call, stop } = silentCalls();
    const calls = [call('a1'), call('a2')];
    await eventually(() => expect(threads.running).toBe(1));
    calls.push(call('b1'), call('c1'));
    await eventually(() => expect(threads.running).toBe(2));
    stop('a1');
    await calls[0];
    // Its place goes to c1, which waited before a2.
    await eventually(() => expect(threads.running).toBe(2));
    stop('c1');
    await calls[3];
    await eventually(() => expect(threads.running).toBe(2));
    for (const name of ['b1', 'a2']) stop(name);
    await Promise.all(calls);
    expect(settled.slice(0, 2)).toEqual(['a1 a1 is stopped', 'c1 c1 is stopped']);
    expect(threads.running).toBe(0);
  });

  test('are answered while the text of another one is read', async () => {
    const threads = threadsOf();
    const order: string[] = [];
    const long = [{ place: 'docs[0]', text: `${head}v: [${'[],'.repeat(130_000)}]` }];
    const slow = threads.read(long, 'a').then(
      () => order.push('a'),
      () => order.push('a'),
    );
    await threads.read(small, 'b').then(() => order.push('b'));
    await slow;
    expect(order).toEqual(['b', 'a']);
  });

  test('wait within bounds', async () => {
    const { threads, call } = silentCalls();
    const calls = Array.from({ length: 8 }, (_, index) => call(`a${index}`));
    await expect(threads.read(small, 'a')).rejects.toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      message: expect.stringMatching(/^You have 8 requests/),
    });
    for (const caller of ['b', 'c', 'd', 'e', 'f', 'g', 'h']) {
      for (let index = 0; index < 8; index += 1) calls.push(call(`${caller}${index}`));
    }
    await expect(threads.read(small, 'z')).rejects.toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      message: expect.stringMatching(/^64 requests/),
    });
    await threads.close();
    await Promise.all(calls);
  });
});
