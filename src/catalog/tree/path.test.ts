import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PortolanError } from '../../base/errors.ts';
import { joinPaths, type PathStep, parsePath, pathOf } from './path.ts';

const field = (name: string): PathStep => ({ kind: 'field', name });

function positionOf(text: string): unknown {
  try {
    parsePath(text);
  } catch (error) {
    expect(error).toBeInstanceOf(PortolanError);
    expect((error as PortolanError).code).toBe('BAD_USER_INPUT');
    return (error as PortolanError).details['position'];
  }
  return 'parsed';
}

test('joined paths keep the fold of the last one', () => {
  const list = parsePath('spec.list[]');
  expect(joinPaths(parsePath('spec'), parsePath('sum(list[].n)')).text).toBe('sum(spec.list[].n)');
  expect(joinPaths(list, parsePath('n')).text).toBe('spec.list[].n');
});

describe('parsePath', () => {
  test.each<[string, PathStep[]]>([
    ['spec.replicas', [field('spec'), field('replicas')]],
    ['spec.containers[].image', [field('spec'), field('containers'), { kind: 'each' }, field('image')]],
    ['a[][].b', [field('a'), { kind: 'each' }, { kind: 'each' }, field('b')]],
    ['a[0].b', [field('a'), { kind: 'index', index: 0 }, field('b')]],
    ['a[12]', [field('a'), { kind: 'index', index: 12 }]],
    ['a[0=x]', [field('a'), { kind: 'where', field: '0', value: 'x' }]],
    ['c[type=Ready].status', [field('c'), { kind: 'where', field: 'type', value: 'Ready' }, field('status')]],
    ['c[type="a b"]', [field('c'), { kind: 'where', field: 'type', value: 'a b' }]],
    ['c["odd.name"=1.5]', [field('c'), { kind: 'where', field: 'odd.name', value: '1.5' }]],
    ['labels["app.kubernetes.io/name"]', [field('labels'), { kind: 'key', key: 'app.kubernetes.io/name' }]],
    ["labels['app.kubernetes.io/name']", [field('labels'), { kind: 'key', key: 'app.kubernetes.io/name' }]],
    ['["odd.name"].x', [{ kind: 'key', key: 'odd.name' }, field('x')]],
    ['[type=x].y', [{ kind: 'where', field: 'type', value: 'x' }, field('y')]],
    ['a["\\u0041\\n\\"]"]', [field('a'), { kind: 'key', key: 'A\n"]' }]],
    ['3scale.a-b._c', [field('3scale'), field('a-b'), field('_c')]],
  ])('reads %s', (text, steps) => {
    expect(parsePath(text).steps).toEqual(steps);
  });

  test.each<[string, number]>([
    ['', 0],
    ['.a', 0],
    ['a.', 2],
    ['a..b', 2],
    ['a b', 1],
    ['a[', 2],
    ['a[]b', 3],
    ['a[type]', 6],
    ['a[type=]', 7],
    ['a[type=x', 8],
    ['a["x]', 2],
    ['a["\\q"]', 3],
    ['a["\\u12"]', 3],
    ['a[-1]', 4],
    ['a.[0]', 2],
    ['$.a', 0],
    ['a.*', 2],
    ['x'.repeat(2001), 2000],
    [`${'a.'.repeat(100)}a`, 199],
  ])('refuses %j at %d', (text, position) => {
    expect(positionOf(text)).toBe(position);
  });

  test.each<[string, string]>([
    ['max(a,b.c)', 'max(a, b.c)'],
    ['min( a["x,y"] , b[k="1,2"].c,d )', 'min(a["x,y"], b[k="1,2"].c, d)'],
    ["max(a[',\\',\"'], b)", 'max(a[",\',\\""], b)'],
  ])('reads several paths of %s', (text, canonical) => {
    const path = parsePath(text);
    expect(path.steps).toMatchObject([{ kind: 'several' }]);
    expect(path.text).toBe(canonical);
    expect(parsePath(canonical)).toEqual(path);
  });

  test.each<[string, number]>([
    ['max(a,)', 0],
    ['max(,a)', 0],
    ['max(a, b', 3],
    ['sum(a, b)', 5],
    ['sum(a["x,y"], b)', 12],
    ['count(a[], b[])', 9],
    ['max(max(a), b)', 3],
    [`max(a${', a'.repeat(8)})`, 27],
    ['max( )', 0],
  ])('refuses %j at %d', (text, position) => {
    expect(positionOf(text)).toBe(position);
  });

  test('one path in a fold may have spaces around it, as several may', () => {
    expect(parsePath('max( a[].b )')).toEqual(parsePath('max(a[].b)'));
  });

  test('gives canonical text', () => {
    expect(parsePath(`a['x'][b='c'].d["e"]`).text).toBe('a["x"][b=c].d["e"]');
  });

  test('reads back every text that pathOf writes', () => {
    const name = fc.oneof(fc.stringMatching(/^[A-Za-z0-9_-]{1,8}$/), fc.string({ unit: 'binary', maxLength: 6 }));
    const step = fc.oneof(
      fc.stringMatching(/^[A-Za-z0-9_-]{1,8}$/).map(field),
      fc.constant<PathStep>({ kind: 'each' }),
      fc.nat({ max: 999_999_999 }).map((index): PathStep => ({ kind: 'index', index })),
      fc.tuple(name, name).map(([member, value]): PathStep => ({ kind: 'where', field: member, value })),
      name.map((key): PathStep => ({ kind: 'key', key })),
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) => {
        const path = pathOf(steps);
        expect(parsePath(path.text)).toEqual(path);
      }),
    );
  });

  test('never throws anything but its own error', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab.[]="\'\\u0-'), maxLength: 12 }), (text) => {
        expect(positionOf(text)).toSatisfy((at) => at === 'parsed' || (Number(at) >= 0 && Number(at) <= text.length));
      }),
    );
  });
});

describe('pathOf', () => {
  test('quotes field names that are not plain', () => {
    expect(pathOf([field('a'), field('odd.name')]).text).toBe('a["odd.name"]');
  });

  test('quotes names at the start that mean something else', () => {
    expect(pathOf([field('health'), field('status')]).text).toBe('["health"].status');
    expect(pathOf([field('cluster')]).text).toBe('["cluster"]');
    expect(pathOf([field('a'), field('health'), field('status')]).text).toBe('a.health.status');
    expect(parsePath('health.status').steps).toEqual([{ kind: 'health', name: 'status' }]);
    expect(pathOf(parsePath('health.reason').steps).text).toBe('health.reason');
  });

  test('gives frozen data', () => {
    expect(Object.isFrozen(pathOf([field('a')]).steps)).toBe(true);
  });
});

describe('joinPaths', () => {
  test('goes through one path after the other', () => {
    expect(joinPaths(parsePath('a[]'), parsePath('["k"].b'), pathOf([])).text).toBe('a[]["k"].b');
  });
});
