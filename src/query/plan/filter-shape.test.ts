import { expect, test } from 'vitest';
import { orderTerm } from '../../../test/kit/query-store.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import type { Filter } from './filter.ts';
import { shapeOfFilter, shapeOfOrder } from './filter-shape.ts';

const eq = (path: string): Filter => ({
  kind: 'compare',
  path: parsePath(path),
  type: 'String',
  operator: 'eq',
  values: ['hidden'],
  ignoreCase: false,
});

test.each<[string, Filter]>([
  ['', { kind: 'and', of: [] }],
  ['spec.a eq', eq('spec.a')],
  [
    'spec.a eq and (spec.b eq or spec.c eq)',
    { kind: 'and', of: [eq('spec.a'), { kind: 'or', of: [eq('spec.b'), eq('spec.c')] }] },
  ],
  [
    '(spec.a eq and spec.b eq) or spec.c eq',
    { kind: 'or', of: [{ kind: 'and', of: [eq('spec.a'), eq('spec.b')] }, eq('spec.c')] },
  ],
  ['not (spec.a exists)', { kind: 'not', of: { kind: 'exists', path: parsePath('spec.a') } }],
  ['spec.list some (name eq)', { kind: 'some', path: parsePath('spec.list'), of: eq('name') }],
  ['labels["app"] In', { kind: 'labels', requirements: [{ key: 'app', operator: 'In', values: ['hidden'] }] }],
  ['namespaces', { kind: 'namespaces', in: ['hidden'] }],
])('%s', (shape, filter) => {
  expect(shapeOfFilter(filter)).toBe(shape);
});

test('an order', () => {
  expect(shapeOfOrder([orderTerm('spec.a', 'Int', 'DESC'), orderTerm('metadata.name', 'String')])).toBe(
    'spec.a DESC, metadata.name ASC',
  );
});
