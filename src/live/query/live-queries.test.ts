import { describe, expect, test } from 'vitest';
import { engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../../../test/kit/graphql-world.ts';
import { ManualClock } from '../../../test/kit/manual-clock.ts';
import { must } from '../../base/must.ts';
import { kindState, stateStatement } from '../../query/read/kind-state.ts';
import { readLayouts } from '../../store/read/layout.ts';
import { LiveQueries } from './live-queries.ts';
import type { LiveRun } from './live-run.ts';
import type { Member, Step } from './query-cohort.ts';
import { watchedChanges } from './watched-changes.ts';

const never = new AbortController().signal;

interface RunLog {
  /** Runs that have begun. */
  runs: number;
  /** Runs that have not ended. */
  now: number;
  /** The most runs that went on at once. */
  most: number;
}

interface Made {
  readonly runs?: number;
  readonly milliseconds?: number;
  /** May a run end? Default: at once. */
  readonly mayEnd?: (log: RunLog) => boolean;
}

/** Live queries over a store with manual time. A query counts the objects of a kind. */
async function world({ runs = 1, milliseconds = 0, mayEnd = () => true }: Made = {}) {
  const fixture = engineFixture();
  await fixture.declare(widget(), gadget());
  await fixture.sync(widgets, [made({ name: 'a' })]);
  await fixture.sync(gadgets, [made({ name: 'g', namespace: null })]);
  const clock = new ManualClock();
  const queries = new LiveQueries({
    changes: watchedChanges(fixture.engine.source.feed),
    readers: [fixture.reader],
    runs,
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  });
  fixture.writer().onCommit((commit) => queries.wake(commit));
  const log: RunLog = { runs: 0, now: 0, most: 0 };
  const run = (key: string, more: Partial<LiveRun<string>> = {}): Promise<LiveRun<string>> =>
    fixture.reader.lease(async (lease) => {
      log.runs += 1;
      log.now += 1;
      log.most = Math.max(log.most, log.now);
      const kindId = must((await readLayouts(lease)).get(key), key).kindId;
      const [row] = await lease.all(stateStatement([kindId], lease.revision));
      const [count] = await lease.all({ sql: 'SELECT count(*) FROM object WHERE kind = +?', params: [kindId] });
      do await new Promise((resolve) => setTimeout(resolve, 5));
      while (!mayEnd(log));
      log.now -= 1;
      const text = `${key} ${String(count?.[0])}`;
      const state = kindState([kindId], lease, row);
      return {
        result: text,
        digest: text,
        state,
        lists: [],
        scopesId: 's',
        isOwn: false,
        isPassing: false,
        milliseconds,
        rest: 0,
        ...more,
      };
    });
  const join = (key: string, { user = null as string | null, throttle = 100, more = {} } = {}) => {
    const joined = queries.join<string>({ key, scopesId: 's', user, throttle });
    const member: Member<string> = { digest: '', run: () => run(key, more) };
    const next = async (): Promise<Step<string>> => {
      const step = await joined.cohort.next(member, never);
      if (step.kind === 'result') member.digest = step.digest;
      return step;
    };
    return { ...joined, member, next };
  };
  return { fixture, clock, queries, log, join };
}

const textOf = (step: Step<string>): string => (step.kind === 'result' ? step.digest : step.kind);

describe('a cohort', () => {
  test('runs once for all its members, and rests while its kinds do not change [Q3]', async () => {
    const { fixture, clock, join, log } = await world();
    const members = [join(widgets), join(widgets), join(widgets)];
    expect((await Promise.all(members.map(({ next }) => next()))).map(textOf)).toEqual(Array(3).fill(`${widgets} 1`));
    expect(log.runs).toBe(1);
    const again = members.map(({ next }) => next());
    await clock.advance(10_000);
    fixture.apply(gadgets, 'ADDED', made({ name: 'h', namespace: null }));
    await clock.advance(10_000);
    expect(log.runs).toBe(1);
    fixture.apply(widgets, 'ADDED', made({ name: 'b' }));
    expect((await Promise.all(again)).map(textOf)).toEqual(Array(3).fill(`${widgets} 2`));
    expect(log.runs).toBe(2);
  });

  test.each([
    ['the throttle', 0, 100],
    ['twenty times the last run', 30, 600],
  ])('waits for %s', async (_what, milliseconds, pause) => {
    const { fixture, clock, join, log } = await world({ milliseconds });
    const { next } = join(widgets, { throttle: 100 });
    await next();
    const second = next();
    fixture.apply(widgets, 'ADDED', made({ name: 'b' }));
    await expect.poll(() => clock.sleepers).toBe(1);
    await clock.advance(pause - 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(log.runs).toBe(1);
    await clock.advance(1);
    expect(textOf(await second)).toBe(`${widgets} 2`);
  });

  test('runs nothing while no member waits [Q3]', async () => {
    const { fixture, clock, join, log } = await world();
    const { next } = join(widgets);
    await next();
    for (const name of ['b', 'c', 'd']) {
      fixture.apply(widgets, 'ADDED', made({ name }));
      await clock.advance(1000);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(log.runs).toBe(1);
    expect(textOf(await next())).toBe(`${widgets} 4`);
    expect(log.runs).toBe(2);
  });

  test('keeps the result while runs end with an error that passes, and sends the error when it stays', async () => {
    const { fixture, clock, join, log } = await world();
    const { member, next } = join(widgets);
    await next();
    const { run } = member;
    const failing = (): Promise<LiveRun<string>> =>
      run().then((found) => ({ ...found, digest: 'TIMEOUT', state: null, isPassing: true }));
    member.run = failing;
    fixture.apply(widgets, 'ADDED', made({ name: 'b' }));
    const waiting = next();
    for (const rest of [100, 1000]) {
      await expect.poll(() => clock.sleepers).toBe(1);
      await clock.advance(rest);
    }
    await expect.poll(() => log.runs).toBe(3);
    member.run = run;
    await expect.poll(() => clock.sleepers).toBe(1);
    await clock.advance(2000);
    expect(textOf(await waiting)).toBe(`${widgets} 2`);
    member.run = failing;
    fixture.apply(widgets, 'ADDED', made({ name: 'c' }));
    const error = next();
    for (const rest of [100, 1000, 2000, 3000]) {
      await expect.poll(() => clock.sleepers).toBe(1);
      await clock.advance(rest);
    }
    expect(textOf(await error)).toBe('TIMEOUT');
  });

  test('repeats a first result that is nothing but a passing error soon, however long its read took', async () => {
    const { clock, join } = await world();
    const { cohort, member, next } = join(widgets);
    const cut = { state: null, lists: [], scopesId: cohort.scopesId, isOwn: false, milliseconds: 30_000 };
    cohort.accept({ ...cut, result: 'TIMEOUT', digest: 'cut', isPassing: true, rest: 5000 });
    member.digest = 'cut';
    const waiting = next();
    await expect.poll(() => clock.sleepers).toBe(1);
    await clock.advance(1000);
    expect(textOf(await waiting)).toBe(`${widgets} 1`);
  });

  test('rests for twenty times a run, but for at most half a minute', async () => {
    for (const [milliseconds, rest] of [
      [50, 1000],
      [10_000, 30_000],
    ] as const) {
      const { fixture, clock, log, join } = await world({ milliseconds });
      const { next } = join(widgets);
      await next();
      fixture.apply(widgets, 'ADDED', made({ name: 'b' }));
      const waiting = next();
      await expect.poll(() => clock.sleepers).toBe(1);
      await clock.advance(rest - 1);
      expect(log.runs).toBe(1);
      await clock.advance(1);
      expect(textOf(await waiting)).toBe(`${widgets} 2`);
    }
  });

  test('tells a member that its run failed, and goes on', async () => {
    const { clock, join } = await world();
    const [one, other] = [join(widgets), join(widgets)];
    const { run } = one.member;
    one.member.run = () => Promise.reject(new Error('no'));
    const [failed, second] = [one.next(), other.next()];
    await expect(failed).rejects.toThrow('no');
    await expect.poll(() => clock.sleepers).toBe(1);
    await clock.advance(100);
    expect(textOf(await second)).toBe(`${widgets} 1`);
    one.member.run = run;
    expect(textOf(await one.next())).toBe(`${widgets} 1`);
  });

  test('gives a run in other scopes to nobody [Q2]', async () => {
    const { join } = await world();
    expect(textOf(await join(widgets, { more: { scopesId: 'others' } }).next())).toBe('interrupted');
  });

  test('gives a result for one user to nobody, unless it is a cohort of one user', async () => {
    const { join, queries } = await world();
    const shared = join(widgets, { more: { isOwn: true } });
    expect(textOf(await shared.next())).toBe('interrupted');
    expect(shared.cohort.isOwn).toBe(true);
    expect(textOf(await join(widgets, { user: 'one', more: { isOwn: true } }).next())).toBe(`${widgets} 1`);
    expect(queries.facts.cohorts).toBe(2);
  });

  test('without a state runs again as time passes', async () => {
    const { fixture, clock, join, log } = await world();
    const { next } = join(widgets, { more: { state: null } });
    await next();
    const second = next();
    for (let turn = 0; turn < 3; turn += 1) {
      await expect.poll(() => clock.sleepers).toBe(1);
      await clock.advance(100);
      await expect.poll(() => log.runs).toBe(2 + turn);
    }
    fixture.apply(widgets, 'ADDED', made({ name: 'b' }));
    await expect.poll(() => clock.sleepers).toBe(1);
    await clock.advance(100);
    expect(textOf(await second)).toBe(`${widgets} 2`);
  });
});

test('at most so many queries run at once', async () => {
  const { join, log } = await world({ runs: 2, mayEnd: ({ runs, now }) => now === 2 || runs === 5 });
  const users = ['1', '2', '3', '4', '5'];
  await Promise.all(users.map((user) => join(widgets, { user }).next()));
  expect(log).toMatchObject({ runs: 5, most: 2 });
});

test('a run keeps its permit for a pause after its end, also when no other cohort waits', async () => {
  const { fixture } = await world();
  const pause = Promise.withResolvers<void>();
  const slept: number[] = [];
  let [now, runs] = [0, 0];
  const queries = new LiveQueries({
    changes: watchedChanges(fixture.engine.source.feed),
    readers: [fixture.reader],
    runs: 1,
    monotonic: () => now,
    sleep: (ms) => {
      slept.push(ms);
      return pause.promise;
    },
  });
  const begin = (key: string): Promise<Step<string>> => {
    const { cohort } = queries.join<string>({ key, scopesId: 's', user: null, throttle: 100 });
    const run = async (): Promise<LiveRun<string>> => {
      runs += 1;
      now += 10;
      const shown = { result: key, digest: key, state: null, lists: [], scopesId: 's' };
      return { ...shown, isOwn: false, isPassing: false, milliseconds: 10, rest: 0 };
    };
    return cohort.next({ digest: '', run }, never);
  };
  expect(textOf(await begin('first'))).toBe('first');
  const second = begin('second');
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect({ runs, slept }).toEqual({ runs: 1, slept: [50] });
  pause.resolve();
  expect(textOf(await second)).toBe('second');
  expect(runs).toBe(2);
});

test('a cohort ends with its last member', async () => {
  const { join, queries } = await world();
  const [one, other] = [join(widgets), join(widgets)];
  one.leave();
  one.leave();
  expect(queries.facts).toMatchObject({ cohorts: 1, members: 1 });
  other.leave();
  expect(queries.facts).toMatchObject({ cohorts: 0, members: 0 });
});
