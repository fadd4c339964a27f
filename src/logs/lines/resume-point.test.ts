/** Requests that are cut off and go on, against the whole log: nothing is lost, and nothing comes twice. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { timeKey } from './log-time.ts';
import { ResumePoint } from './resume-point.ts';

interface Line {
  readonly key: string;
  readonly text: number;
}

const keyOf = (tenths: number): string => {
  const seconds = String(Math.floor(tenths / 10) % 60).padStart(2, '0');
  return `2026-11-28T07:00:${seconds}.${tenths % 10}00000000Z`;
};

/** A log with many lines in a second, some with the same time. */
const logs = fc.array(fc.nat(7), { minLength: 1, maxLength: 60 }).map((steps) => {
  let at = 0;
  return steps.map((step, text): Line => {
    at += step > 4 ? step : step % 2;
    return { key: keyOf(at), text };
  });
});

function answer(log: readonly Line[], since: string | null): readonly Line[] {
  return since === null ? log : log.filter(({ key }) => key >= since.replace('Z', '.'));
}

test('a log that is read in parts is the whole log', () => {
  fc.assert(
    fc.property(logs, fc.array(fc.nat(20), { maxLength: 6 }), (log, parts) => {
      const point = new ResumePoint();
      point.begin(true);
      const got: Line[] = [];
      for (const part of [...parts, log.length]) {
        let left = part;
        if (point.since !== null) point.resume();
        for (const line of answer(log, point.since)) {
          if (left === 0) break;
          if (point.take(line.key)) {
            got.push(line);
            left -= 1;
          }
        }
      }
      expect(got).toEqual(log);
    }),
    { numRuns: 500 },
  );
});

test('lines that were read and not sent come again, and those before them do not', () => {
  fc.assert(
    fc.property(logs, fc.array(fc.tuple(fc.nat(20), fc.nat(20)), { maxLength: 6 }), (log, parts) => {
      const point = new ResumePoint();
      point.begin(true);
      const got: Line[] = [];
      for (const [part, unsent] of [...parts, [log.length, 0] as const]) {
        let left = part;
        if (point.since !== null) point.resume();
        for (const line of answer(log, point.since)) {
          if (left === 0) break;
          if (!point.take(line.key)) continue;
          got.push(line);
          left -= 1;
        }
        const first = got.at(Math.max(0, got.length - unsent));
        if (unsent === 0 || first === undefined) continue;
        // Lines of one time go together.
        got.splice(got.findIndex(({ key }) => key === first.key));
        point.backTo(first.key);
      }
      expect(got).toEqual(log);
    }),
    { numRuns: 500 },
  );
});

test('after lines that were not sent, an earlier line of the second that is passed over does not count', () => {
  const point = new ResumePoint();
  point.begin(true);
  for (const at of [11, 12]) point.take(keyOf(at));
  point.backTo(keyOf(12));
  point.resume();
  expect([11, 12].map((at) => point.take(keyOf(at)))).toEqual([false, true]);
  point.resume();
  point.passOver(keyOf(11));
  expect([12, 13].map((at) => point.take(keyOf(at)))).toEqual([false, true]);
});

test('after tail, earlier lines of the same second are not wanted', () => {
  const point = new ResumePoint();
  point.begin(false);
  const take = (...tenths: readonly number[]) => tenths.filter((each) => point.take(keyOf(each)));
  expect(take(13, 14)).toEqual([13, 14]);
  point.resume();
  expect(take(10, 11, 13, 14, 15, 21)).toEqual([15, 21]);
  point.resume();
  expect(take(20, 21, 22)).toEqual([21, 22]);
});

test('a line that is later than all before is delivered although the file was rotated', () => {
  const point = new ResumePoint();
  point.begin(true);
  for (const at of [10, 11, 12]) point.take(keyOf(at));
  point.resume();
  expect(point.take(keyOf(13))).toBe(true);
});

test('times with another offset or fewer digits have the key of the same time', () => {
  expect(timeKey('2026-11-28T09:00:00.12+02:00')).toBe('2026-11-28T07:00:00.120000000Z');
  expect(timeKey('2026-11-28T07:00:00Z')).toBe('2026-11-28T07:00:00.000000000Z');
  expect(timeKey('2026-11-28T07:00:00.123456789Z')).toBe('2026-11-28T07:00:00.123456789Z');
  for (const text of ['', 'unable to retrieve', '2026-11-28', '2026-13-28T07:00:00Z']) expect(timeKey(text)).toBeNull();
});
