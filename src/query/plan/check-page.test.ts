import { expect, test } from 'vitest';
import { checkPage } from './check-page.ts';
import { encodeContent } from './cursor.ts';

const c = encodeContent([]);
const checked = (args: Parameters<typeof checkPage>[0], maximum = 500) => checkPage(args, { maximum });

test('an offset goes with first alone', () => {
  expect(checked({ first: 10, offset: 20 })).toEqual({ direction: 'forward', limit: 10, after: null, offset: 20 });
  expect(checked({ offset: 0 })).toEqual({ direction: 'forward', limit: 50, after: null });
  for (const other of [{ after: 'c' }, { last: 3 }, { before: 'c' }]) {
    expect(() => checked({ offset: 1, ...other })).toThrow(/`offset` and `\w+` cannot be combined/);
  }
  expect(() => checked({ offset: -1 })).toThrow(/`offset` is -1/);
  expect(() => checked({ offset: 100_001 })).toThrow(/at most 100000 rows can be skipped/);
});

test('one direction, with a default size', () => {
  expect(checked({})).toEqual({ direction: 'forward', limit: 50, after: null });
  expect(checked({ first: null, after: null, last: null, before: null })).toEqual({
    direction: 'forward',
    limit: 50,
    after: null,
  });
  expect(checked({ first: 0 })).toEqual({ direction: 'forward', limit: 0, after: null });
  expect(checked({ first: 500, after: c })).toEqual({ direction: 'forward', limit: 500, after: c });
  expect(checked({ last: 7 })).toEqual({ direction: 'backward', limit: 7, before: null });
  expect(checked({ before: c })).toEqual({ direction: 'backward', limit: 50, before: c });
  expect(checked({}, 10)).toEqual({ direction: 'forward', limit: 10, after: null });
});

test('two cursors bound the rows, and the page begins at the end that the size names', () => {
  expect(checked({ after: c, before: c })).toEqual({
    direction: 'forward',
    limit: 50,
    after: c,
    before: c,
    isSized: false,
  });
  expect(checked({ first: 2, after: c, before: c })).toMatchObject({ direction: 'forward', limit: 2, isSized: true });
  expect(checked({ first: 2, before: c })).toEqual({
    direction: 'forward',
    limit: 2,
    after: null,
    before: c,
    isSized: true,
  });
  expect(checked({ last: 2, after: c, before: c })).toEqual({ direction: 'backward', limit: 2, before: c, after: c });
  expect(checked({ last: 2, after: c })).toEqual({ direction: 'backward', limit: 2, before: null, after: c });
});

test.each([
  [{ first: 1, last: 1 }, /`first` and `last`/],
  [{ first: 0, last: 0 }, /`first` and `last`/],
  [{ after: 'abc', before: c }, /"abc" is not a cursor/],
  [{ after: c, before: 'abc' }, /"abc" is not a cursor/],
  [{ last: 1, after: 'abc' }, /"abc" is not a cursor/],
  [{ first: 501, after: c, before: c }, /at most 500/],
  [{ first: -1 }, /`first` is -1/],
  [{ last: -5 }, /`last` is -5/],
  [{ first: 1.5 }, /`first` is 1.5/],
  [{ first: 501 }, /at most 500/],
  [{ last: 501 }, /at most 500/],
  [{ after: 'abc' }, /"abc" is not a cursor/],
  [{ before: '' }, /"" is not a cursor/],
])('%j is refused', (args, message) => {
  expect(() => checked(args)).toThrow(
    expect.objectContaining({ code: 'BAD_USER_INPUT', message: expect.stringMatching(message) }),
  );
});
