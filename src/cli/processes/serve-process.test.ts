import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../test/kit/eventually.ts';
import { ManualClock, settle } from '../../../test/kit/manual-clock.ts';
import { recordedLogger } from '../../../test/kit/recorded-logger.ts';
import { childrenOf, isRunning } from '../../../test/kit/serve-processes.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { sumProgress } from '../../ingest/context/progress.ts';
import type { FromProcess, ProcessStart, ToProcess } from './process-messages.ts';
import { ServeProcess } from './serve-process.ts';

const module = new URL('../../../test/kit/scripted-process.ts', import.meta.url);

/** Its time may have passed while nothing ran. */
class JumpingClock extends ManualClock {
  jumpedMs = 0;

  override monotonic(): number {
    return super.monotonic() + this.jumpedMs;
  }
}

interface Scripted {
  readonly lives: readonly string[];
  /** Default: as many as there are. */
  readonly starts?: Semaphore;
  /** Default: none. */
  readonly othersServe?: boolean;
}

/** A serve process whose lives follow these words in turn. Further lives follow the last words. */
function scripted(...lives: readonly string[]) {
  return scriptedWith({ lives });
}

function scriptedWith({ lives, starts = new Semaphore(64), othersServe = false }: Scripted) {
  const clock = new JumpingClock();
  const { entries, logger } = recordedLogger();
  const taken: { readonly message: FromProcess; readonly answer: (message: ToProcess) => void }[] = [];
  const counts = { started: 0, ended: 0 };
  const start = (): ProcessStart => {
    counts.started += 1;
    return {
      file: lives[Math.min(counts.started, lives.length) - 1] ?? '',
      progress: sumProgress([]),
    } as unknown as ProcessStart;
  };
  const served = new ServeProcess({
    number: 1,
    clock,
    random: () => 1,
    log: logger,
    starts,
    othersServe: () => othersServe,
    start,
    take: (message, answer) => void taken.push({ message, answer }),
    changed() {},
    ended() {
      counts.ended += 1;
    },
    module,
  });
  onTestFinished(() => served.close());
  const ended = served.run();
  return { clock, counts, ended, entries, served, taken };
}

/** The process of this test. */
const pidOf = (): number => childrenOf(process.pid).at(-1) ?? 0;

test('a silent process is killed after thirty looks, and started again', async () => {
  const { clock, counts, entries, served } = scripted('listen', 'listen live');
  await served.first;
  const pid = pidOf();
  for (let second = 0; second < 29; second += 1) await clock.advance(1000);
  expect([isRunning(pid), counts.ended]).toEqual([true, 0]);
  await clock.advance(1000);
  await eventually(() => expect(counts.ended).toBe(1));
  expect(isRunning(pid)).toBe(false);
  expect(served).toMatchObject({ isServing: false, restarts: 1, error: 'it was ended by SIGKILL' });
  expect(entries.map(({ text }) => text)).toContain('a serve process gives no sign of life; it is killed');
  await clock.advance(250);
  await eventually(() => expect(served).toMatchObject({ isServing: true, restarts: 1, error: null }));
});

test('a process that does not listen yet may be silent for longer', async () => {
  const { clock, counts } = scripted('silent', 'listen live');
  await eventually(() => expect(counts.started).toBe(1));
  const pid = pidOf();
  for (let second = 0; second < 299; second += 1) await clock.advance(1000);
  expect([isRunning(pid), counts.ended]).toEqual([true, 0]);
  await clock.advance(1000);
  await eventually(() => expect(counts.ended).toBe(1));
});

test('a silent process does not serve after five looks, and serves again with its next sign of life', async () => {
  const { clock, served, taken } = scripted('listen note');
  await served.first;
  await eventually(() => expect(taken).toHaveLength(1));
  for (let second = 0; second < 4; second += 1) await clock.advance(1000);
  expect(served).toMatchObject({ isServing: true, error: null });
  await clock.advance(1000);
  expect(served).toMatchObject({ isServing: false, error: 'it gives no sign of life' });
  taken[0]?.answer({ type: 'noted', id: 1, error: null });
  await eventually(() => expect(served).toMatchObject({ isServing: true, error: null, restarts: 0 }));
});

test('processes start in turns, and one that ends in its start lets the next one start', async () => {
  const starts = new Semaphore(1);
  const first = scriptedWith({ lives: ['live'], starts });
  await eventually(() => expect(first.counts.started).toBe(1));
  const second = scriptedWith({ lives: ['listen live'], starts });
  const third = scriptedWith({ lives: ['listen live'], starts });
  expect([starts.inside, starts.waiting, childrenOf(process.pid).length]).toEqual([1, 2, 1]);
  process.kill(pidOf(), 'SIGKILL');
  await second.served.first;
  await third.served.first;
  await eventually(() => expect(first.counts.ended).toBe(1));
  expect(starts.inside).toBe(0);
});

test('a process that waits for its turn does not start after a close or a drain', async () => {
  const starts = new Semaphore(1);
  const leave = await starts.enter();
  const closed = scriptedWith({ lives: ['listen live'], starts });
  const drained = scriptedWith({ lives: ['listen live'], starts });
  await closed.served.close();
  await closed.ended;
  drained.served.drain(1000);
  leave();
  await drained.ended;
  expect([closed.counts.started, drained.counts.started, starts.inside, starts.waiting]).toEqual([0, 0, 0, 0]);
});

test('a process that V8 ends for want of memory is started again', async () => {
  const { clock, counts, served } = scripted('listen abort', 'listen live');
  await served.first;
  await eventually(() => expect(counts.ended).toBe(1));
  expect(served.error).toBe('it was ended by SIGABRT');
  await clock.advance(250);
  await eventually(() => expect(served).toMatchObject({ isServing: true, error: null }));
});

test('a process is not killed because this one was stopped', async () => {
  const { clock, counts, served } = scripted('listen live');
  await served.first;
  const pid = pidOf();
  clock.jumpedMs = 3_600_000;
  await clock.advance(1000);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(isRunning(pid)).toBe(true);
  expect(counts.ended).toBe(0);
});

test('pauses grow while a process cannot start, up to thirty seconds, and the state says why', async () => {
  const { clock, counts, entries, served } = scripted('listen die', 'fail die');
  for (let life = 1; life <= 10; life += 1) {
    await eventually(() => expect(counts.ended).toBe(life));
    await settle();
    expect(served).toMatchObject({
      isServing: false,
      restarts: life,
      error: life === 1 ? 'it ended with code 3' : 'it cannot start',
    });
    await clock.advance(30_000);
  }
  const pauses = entries.flatMap(({ fields }) => ('pauseMs' in fields ? [fields.pauseMs] : []));
  expect(pauses.slice(0, 10)).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});

test('while others serve, their new clients come first', async () => {
  const { clock, counts, entries, served } = scriptedWith({ lives: ['listen die', 'listen live'], othersServe: true });
  await eventually(() => expect(counts.ended).toBe(1));
  await settle();
  await clock.advance(999);
  expect(counts.started).toBe(1);
  await clock.advance(1);
  await eventually(() => expect(served).toMatchObject({ isServing: true, restarts: 1 }));
  expect(entries.flatMap(({ fields }) => ('pauseMs' in fields ? [fields.pauseMs] : []))).toEqual([1000]);
});

test('the first start that fails is an error with its code', async () => {
  const { served } = scripted('fail die');
  await expect(served.first).rejects.toMatchObject({ code: 'CONFIGURATION', message: 'it cannot start' });
});

test('an answer goes to the process that asked, not to the next of its number', async () => {
  const { clock, counts, taken } = scripted('listen asked die', 'listen note');
  await eventually(() => expect(counts.ended).toBe(1));
  const [first] = taken;
  await clock.advance(250);
  await eventually(() => expect(taken).toHaveLength(2));
  const [, second] = taken;
  // The disk was slow: the answer to the first comes when the second waits for its own, of the same number.
  first?.answer({ type: 'noted', id: 1, error: null });
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(taken).toHaveLength(2);
  second?.answer({ type: 'noted', id: 1, error: null });
  await eventually(() => expect(taken[2]?.message).toMatchObject({ type: 'missed' }));
});

test('what a process said before its end is taken before the end is told', async () => {
  const { counts, taken } = scripted('listen asked asked asked asked die', 'listen');
  await eventually(() => expect(counts.ended).toBe(1));
  expect(taken).toHaveLength(4);
});

test('a process that has not begun gets nothing but its start', async () => {
  const { served, taken } = scripted('listen note');
  served.send({ type: 'noted', id: 1, error: null });
  await served.first;
  await eventually(() => expect(taken).toHaveLength(1));
});

test('a close ends the process, also one that has not begun, and it is not started again', async () => {
  const { counts, ended, served } = scripted('listen live');
  // Without a turn of the event loop nothing that the process says is read.
  for (let turn = 0; turn < 1000 && childrenOf(process.pid).length === 0; turn += 1) await null;
  expect(counts.started).toBe(0);
  await served.close();
  await ended;
  expect(counts.ended).toBe(1);
  await served.close();
});
