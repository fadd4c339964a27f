import { expect, test } from 'vitest';
import { absoluteTime, isRelativeTime } from './relative-time.ts';

const now = Date.UTC(2026, 0, 31, 8, 15);

test.each([
  ['-10m', '2026-01-31T08:05:00.000Z'],
  ['+30d', '2026-03-02T08:15:00.000Z'],
  ['-1d12h', '2026-01-29T20:15:00.000Z'],
  ['+2w1s', '2026-02-14T08:15:01.000Z'],
  ['-0s', '2026-01-31T08:15:00.000Z'],
  ['-2000w', '1987-10-03T08:15:00.000Z'],
])('%s is %s', (text, time) => {
  expect(isRelativeTime(text)).toBe(true);
  expect(absoluteTime(text, now)).toBe(time);
});

test.each(['10m', '-', '-10', '-10y', '-1.5h', '-10ms', '+1d 2h', '2026-01-31T08:15:00Z', '', '- 10m'])(
  '%j is no relative time',
  (text) => {
    expect(isRelativeTime(text)).toBe(false);
    expect(absoluteTime(text, now)).toBeNull();
  },
);

test.each(['+999999999w', '-999999999d', '-150000w'])('%s is too far away', (text) => {
  expect(isRelativeTime(text)).toBe(true);
  expect(absoluteTime(text, now)).toBeNull();
});
