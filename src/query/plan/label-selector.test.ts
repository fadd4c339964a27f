import { describe, expect, test } from 'vitest';
import { parseLabelSelector } from './label-selector.ts';

const one = (key: string, operator: string, ...values: string[]): unknown => ({ key, operator, values });

describe('parseLabelSelector', () => {
  test.each([
    ['', []],
    ['   ', []],
    ['a', [one('a', 'Exists')]],
    ['!a', [one('a', 'DoesNotExist')]],
    ['! a', [one('a', 'DoesNotExist')]],
    ['a=b', [one('a', 'In', 'b')]],
    ['a==b', [one('a', 'In', 'b')]],
    [' a = b ', [one('a', 'In', 'b')]],
    ['a=', [one('a', 'In', '')]],
    ['a=,b', [one('a', 'In', ''), one('b', 'Exists')]],
    ['a!=b', [one('a', 'NotIn', 'b')]],
    ['a!=', [one('a', 'NotIn', '')]],
    ['a in (x,y)', [one('a', 'In', 'x', 'y')]],
    ['a in(x)', [one('a', 'In', 'x')]],
    ['a in ( x , y,x )', [one('a', 'In', 'x', 'y')]],
    ['a in (,x)', [one('a', 'In', '', 'x')]],
    ['a in (x,)', [one('a', 'In', 'x', '')]],
    ['a in ()', [one('a', 'In', '')]],
    ['a>1', [one('a', 'Gt', '1')]],
    ['a < 007', [one('a', 'Lt', '007')]],
    ['a notin (in,notin)', [one('a', 'NotIn', 'in', 'notin')]],
    ['in', [one('in', 'Exists')]],
    ['in in (in)', [one('in', 'In', 'in')]],
    ['notin=in', [one('notin', 'In', 'in')]],
    [
      'a=b,c!=d,e in (x,y),!f,app.kubernetes.io/name',
      [
        one('a', 'In', 'b'),
        one('c', 'NotIn', 'd'),
        one('e', 'In', 'x', 'y'),
        one('f', 'DoesNotExist'),
        one('app.kubernetes.io/name', 'Exists'),
      ],
    ],
  ])('%s', (text, expected) => {
    expect(parseLabelSelector(text)).toEqual(expected);
  });

  test.each([
    [',', 0, /label key/],
    ['a,', 2, /label key/],
    ['a b', 2, /operator/],
    ['a=b c', 4, /comma or the end/],
    ['!a=b', 2, /comma or the end/],
    ['a in x', 5, /"\("/],
    ['a in (x', 7, /"\)"/],
    ['a in (x y)', 8, /"\)"/],
    ['a>b', 2, /integer/],
    ['a<', 2, /integer/],
    ['(a)', 0, /label key/],
    ['a(b)', 1, /operator/],
    ['-a', 0, /label key/],
    [`a=${'x'.repeat(64)}`, 2, /label value/],
    ['a=b_', 2, /label value/],
    ['a=é', 2, /label value/],
    ['a=\u00a0b', 2, /label value/],
    ['\u00a0', 0, /label key/],
    ['Example.com/a', 0, /DNS name/],
    ['a/b/c', 0, /DNS name/],
    ['/a', 0, /DNS name/],
    ['a/', 0, /label key/],
    [`${'x'.repeat(64)}`, 0, /label key/],
    ['a===b', 3, /comma or the end/],
  ])('%s is refused at %i', (text, position, message) => {
    expect(() => parseLabelSelector(text)).toThrow(
      expect.objectContaining({
        code: 'BAD_USER_INPUT',
        message: expect.stringMatching(message),
        details: { position },
      }),
    );
  });

  test('takes no more than a hundred requirements', () => {
    const many = (count: number): string => Array.from({ length: count }, (_, index) => `k${index}`).join(',');
    expect(parseLabelSelector(many(100))).toHaveLength(100);
    expect(() => parseLabelSelector(many(101))).toThrow(/more than 100/);
  });
});
