import { expect, test } from 'vitest';
import { parsePath } from '../../catalog/tree/path.ts';
import type { Filter } from '../../query/plan/filter.ts';
import { dependsOnStatus } from './status-filter.ts';

const exists = (text: string): Filter => ({ kind: 'exists', path: parsePath(text) });
const labels: Filter = { kind: 'labels', requirements: [] };
const health: Filter = { kind: 'exists', path: { text: 'health.status', steps: [{ kind: 'health', name: 'status' }] } };

test.each<readonly [Filter, boolean]>([
  [labels, false],
  [exists('spec.replicas'), false],
  [exists('spec.status'), false],
  [exists('metadata.generation'), false],
  [exists('status.replicas'), true],
  [exists('metadata.resourceVersion'), true],
  [health, true],
  [{ kind: 'not', of: exists('status.phase') }, true],
  [{ kind: 'or', of: [labels, exists('status.phase')] }, true],
  [{ kind: 'and', of: [labels, exists('spec.replicas')] }, false],
  [{ kind: 'some', path: parsePath('status.conditions'), of: exists('type') }, true],
  [{ kind: 'some', path: parsePath('spec.containers'), of: exists('name') }, false],
  [{ kind: 'search', terms: ['a'], paths: [parsePath('metadata.name'), parsePath('status.phase')] }, true],
  [
    {
      kind: 'compareFields',
      left: { path: parsePath('spec.replicas'), type: 'Int' },
      operator: 'eq',
      right: { path: parsePath('status.replicas'), type: 'Int' },
      times: null,
    },
    true,
  ],
])('%j', (filter, expected) => {
  expect(dependsOnStatus(filter)).toBe(expected);
});
