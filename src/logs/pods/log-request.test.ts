/** Options that are refused, and what is said about them. */
import { expect, test } from 'vitest';
import { checkOptions, type LogOptions, sinceOf } from './log-request.ts';

const options: LogOptions = {
  containers: null,
  follow: true,
  previous: false,
  since: null,
  tail: null,
  grep: null,
  contains: null,
  ignoreCase: false,
};

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `c-${at}`);

test('at most 100 names of containers are taken', () => {
  expect(() => checkOptions({ ...options, containers: names(100) })).not.toThrow();
  for (const containers of [[], names(101)]) {
    expect(() => checkOptions({ ...options, containers })).toThrow(
      expect.objectContaining({ code: 'BAD_USER_INPUT', message: expect.stringContaining('`containers`') }),
    );
  }
});

test('lines since a duration are asked for with a sign or without one', () => {
  for (const text of ['5m', '-5m']) expect(sinceOf(text)).toEqual({ seconds: 300 });
  expect(() => sinceOf('-5x')).toThrow('"-5x"; write a duration such as "5m"');
});
