import { expect, test } from 'vitest';
import { changedPaths } from './changed-paths.ts';
import { parseExact } from './values.ts';

test.each<[string, unknown, unknown, readonly string[]]>([
  ['a leaf', { spec: { a: 1, b: 2 } }, { spec: { a: 1, b: 3 } }, ['spec.b']],
  ['nothing', { spec: { a: [1, { b: 2 }] } }, { spec: { a: [1, { b: 2 }] } }, []],
  ['a list counts as one place', { spec: { list: [{ a: 1 }] } }, { spec: { list: [{ a: 2 }] } }, ['spec.list']],
  ['a list that grew', { l: [1] }, { l: [1, 2] }, ['l']],
  ['what came and went', { a: { x: 1 } }, { b: { y: 1 } }, ['a', 'b']],
  ['null and absent are one', { a: null, b: [{ c: null }] }, { b: [{}] }, []],
  ['an object for a text', { a: { x: 1 } }, { a: 'x' }, ['a']],
  [
    'the resourceVersion is no news',
    { metadata: { resourceVersion: '1', generation: 1 } },
    { metadata: { resourceVersion: '2', generation: 2 } },
    ['metadata.generation'],
  ],
  [
    'keys that are no names',
    { metadata: { labels: { 'a/b': '1' } } },
    { metadata: { labels: { 'a/b': '2' } } },
    ['metadata.labels["a/b"]'],
  ],
  ['keys that every object inherits', { l: {} }, { l: { constructor: 'x', toString: null } }, ['l.constructor']],
  ['inherited keys within lists', { l: [{}] }, { l: [{ toString: null }] }, []],
  ['sorted', { b: 1, a: 1 }, { b: 2, a: 2 }, ['a', 'b']],
  ['no object before', null, { a: 1 }, []],
])('%s', (_what, before, after, paths) => {
  expect(changedPaths(before, after, false)).toEqual(paths);
});

test('integers beyond 2^53 are compared by their digits', () => {
  const before = parseExact('{"a":9007199254740993,"b":9007199254740993}');
  const after = parseExact('{"a":9007199254740992,"b":9007199254740993}');
  expect(changedPaths(before, after, false)).toEqual(['a']);
});

test('the health in the body of an object of an abstract kind is the health of paths; a field of that name is none', () => {
  const of = (status: string) => ({ health: { status, reason: null, other: status }, list: { health: { status } } });
  expect(changedPaths(of('Current'), of('Failed'), true)).toEqual([
    '["health"].other',
    'health.status',
    'list.health.status',
  ]);
  expect(changedPaths(of('Current'), of('Failed'), false)).toContain('["health"].status');
});
