import { describe, expect, test } from 'vitest';
import { compareByOrder, orderKeysOf } from '../../../test/kit/evaluate-order.ts';
import { orderTerm } from '../../../test/kit/query-store.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { parsePath, pathOf } from '../../catalog/tree/path.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { type CompareOperator, everything, type Filter } from '../plan/filter.ts';
import { compareIdentity } from '../plan/identity-order.ts';
import { matches } from './matches.ts';

const object = {
  cluster: 'east',
  key: 'pods',
  namespace: 'default' as string | null,
  name: 'web',
  body: parseExact(
    `{"metadata":{"labels":{"app":"web","odd":5,"cut":"\\ud800"}},
      "spec":{"size":9007199254740993,"name":"Web\\u0000X","none":null,"wrong":5,"cpu":"500m","ports":[80,443],
      "items":[{"name":"a","v":1},{"name":"b","v":2},"text"]},
      "status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Ready","status":"False"}]}}`,
  ),
};
const is = (
  path: string,
  type: LeafType,
  operator: CompareOperator,
  values: readonly unknown[],
  ignoreCase = false,
): Filter => ({
  kind: 'compare',
  path: path === '' ? pathOf([]) : parsePath(path),
  type,
  operator,
  values,
  ignoreCase,
});
const not = (of: Filter): Filter => ({ kind: 'not', of });
const labels = (operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist', key: string, ...values: string[]): Filter => ({
  kind: 'labels',
  requirements: [{ key, operator, values }],
});

describe('matches', () => {
  test.each<[string, Filter, boolean]>([
    ['everything', everything, true],
    ['an empty or', { kind: 'or', of: [] }, false],
    ['int64 exactly', is('spec.size', 'Int64', 'eq', ['9007199254740993']), true],
    ['int64 next door', is('spec.size', 'Int64', 'eq', ['9007199254740992']), false],
    ['quantities by value', is('spec.cpu', 'Quantity', 'eq', ['0.5']), true],
    ['text behind NUL', is('spec.name', 'String', 'endsWith', ['X']), true],
    ['NUL itself', is('spec.name', 'String', 'contains', ['\0']), true],
    ['case', is('spec.name', 'String', 'startsWith', ['web']), false],
    ['ignored case', is('spec.name', 'String', 'startsWith', ['web'], true), true],
    ['text operators know texts only', is('spec.cpu', 'Quantity', 'startsWith', ['500m']), false],
    ['a value of another type has no key', is('spec.wrong', 'Boolean', 'eq', [true]), false],
    ['a number is a text in a String', is('spec.wrong', 'String', 'eq', ['5']), true],
    ['but it exists', { kind: 'exists', path: parsePath('spec.wrong') }, true],
    ['null does not exist', { kind: 'exists', path: parsePath('spec.none') }, false],
    ['a comparison with nothing is false', is('spec.gone', 'Int', 'lt', [5]), false],
    ['and its negation true', not(is('spec.gone', 'Int', 'lt', [5])), true],
    ['ne matches an absent leaf', not(is('spec.gone', 'Int', 'eq', [5])), true],
    ['in takes any', is('spec.wrong', 'Int', 'in', [4, 5]), true],
    ['in of nothing', is('spec.wrong', 'Int', 'in', []), false],
    ['the first element that fits', is('status.conditions[type=Ready].status', 'String', 'eq', ['False']), false],
    ['some element itself', { kind: 'some', path: parsePath('spec.ports'), of: is('', 'Int', 'gt', [100]) }, true],
    ['no such element', { kind: 'some', path: parsePath('spec.ports'), of: is('', 'Int', 'gt', [1000]) }, false],
    [
      'one element meets both',
      {
        kind: 'some',
        path: parsePath('spec.items'),
        of: { kind: 'and', of: [is('name', 'String', 'eq', ['a']), is('v', 'Int', 'eq', [2])] },
      },
      false,
    ],
    ['every, written with not', not({ kind: 'some', path: parsePath('spec.gone'), of: everything }), true],
    ['label', labels('In', 'app', 'web', 'db'), true],
    ['label with a lone surrogate', labels('In', 'cut', '\ufffd'), true],
    ['label asked with a lone surrogate', labels('NotIn', 'cut', '\udc00'), false],
    ['label that is a number', labels('In', 'odd', '5'), true],
    ['label not in', labels('NotIn', 'gone', 'x'), true],
    ['label not in, but is', labels('NotIn', 'app', 'web'), false],
    ['label does not exist', labels('DoesNotExist', 'app'), false],
    ['namespace', { kind: 'namespaces', in: ['a', 'default'] }, true],
    ['cluster', { kind: 'clusters', in: ['west'] }, false],
    ['id', { kind: 'ids', in: [{ cluster: 'east', key: 'pods', namespace: 'default', name: 'web' }] }, true],
    [
      'id of another kind',
      { kind: 'ids', in: [{ cluster: 'east', key: 'nodes', namespace: 'default', name: 'web' }] },
      false,
    ],
  ])('%s', (_name, filter, expected) => {
    expect(matches(filter, object)).toBe(expected);
  });

  test('a cluster-scoped object is in no namespace', () => {
    expect(matches({ kind: 'namespaces', in: [''] }, { ...object, namespace: null })).toBe(false);
  });
});

describe('orders', () => {
  const at = (name: string, size: unknown, more: Partial<typeof object> = {}) => ({
    ...object,
    name,
    body: { spec: { size } },
    ...more,
  });

  test('keys are null where the leaf has none', () => {
    expect(orderKeysOf([orderTerm('spec.size', 'Int64'), orderTerm('spec.gone', 'String')], object)).toEqual([
      9007199254740993n,
      null,
    ]);
  });

  test.each([
    ['ASC', 'LAST', ['one', 'two', 'none', 'nought']],
    ['ASC', 'FIRST', ['none', 'nought', 'one', 'two']],
    ['DESC', 'LAST', ['two', 'one', 'nought', 'none']],
    ['DESC', 'FIRST', ['nought', 'none', 'two', 'one']],
  ] as const)('%s, nulls %s', (direction, nulls, expected) => {
    const order = [orderTerm('spec.size', 'Int', direction, nulls)];
    const objects = [at('two', 2), at('nought', null), at('one', 1), at('none', 'text')];
    expect(objects.sort((a, b) => compareByOrder(order, a, b)).map(({ name }) => name)).toEqual(expected);
  });

  test('ties: cluster, group, plural, namespace, name, by code point', () => {
    const id = (cluster: string, key: string, namespace: string | null, name: string) => ({
      cluster,
      key,
      namespace,
      name,
    });
    const sorted = [
      id('a', 'pods', null, 'z'),
      id('a', 'pods', 'n', '\uffff'),
      id('a', 'pods', 'n', '😀'),
      id('a', 'services', 'a', 'a'),
      id('a', 'deployments.apps', 'a', 'a'),
      id('a', 'ingresses.networking.k8s.io', 'a', 'a'),
      id('a', 'certs.x', 'a', 'a'),
      id('b', 'pods', 'a', 'a'),
    ];
    expect([...sorted].reverse().sort(compareIdentity)).toEqual(sorted);
  });
});
