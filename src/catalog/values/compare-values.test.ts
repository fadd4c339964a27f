import { expect, test } from 'vitest';
import type { LeafType } from '../tree/field-tree.ts';
import { checkComparedLeaves, compareValues, type ValueOperator } from './compare-values.ts';
import { rawJson } from './raw-json.ts';

const leaves = (left: LeafType, right: LeafType = left, times: string | null = null) => ({ left, right, times });

test.each<[string, LeafType, unknown, ValueOperator, unknown, boolean]>([
  ['less', 'Int', 1, 'lt', 2, true],
  ['not less', 'Int', 2, 'lt', 2, false],
  ['equal quantities, written otherwise', 'Quantity', '1000m', 'eq', '1', true],
  ['large integers, exactly', 'Int64', rawJson('9007199254740993'), 'gt', rawJson('9007199254740992'), true],
  ['times by instant', 'DateTime', '2026-01-01T00:00:00Z', 'eq', '2026-01-01T01:00:00+01:00', true],
  ['texts by code point', 'String', 'B', 'lt', 'a', true],
  ['an absent left number is 0', 'Int', undefined, 'lt', 1, true],
  ['an absent right number is 0', 'Int', 1, 'gte', null, true],
  ['two absent numbers', 'Int', undefined, 'gte', undefined, false],
  ['an absent text', 'String', undefined, 'lt', 'a', false],
  ['a value that does not fit', 'Int', 'x', 'lt', 1, false],
  ['a value that does not fit beside an absent one', 'Int', 'x', 'gte', undefined, false],
])('%s', (_what, type, left, operator, right, expected) => {
  expect(compareValues(operator, leaves(type), left, right)).toBe(expected);
});

test.each([
  ['8', '0.8', '10', 'gte', true],
  ['7999m', '0.8', '10', 'gte', false],
  ['8', '0.8', '10', 'eq', true],
  ['-3', '-1', '3', 'eq', true],
  ['1', '1e3', '1m', 'eq', true],
] as const)('%s against %s x %s: %s is %s', (left, times, right, operator, expected) => {
  expect(compareValues(operator, leaves('Quantity', 'Quantity', times), left, right)).toBe(expected);
});

test('leaves of other types cannot be compared', () => {
  expect(checkComparedLeaves(leaves('Int', 'Quantity'))).toBeNull();
  expect(checkComparedLeaves(leaves('String', 'Int'))).toMatch(/String and Int/);
  expect(checkComparedLeaves(leaves('JSON'))).toMatch(/JSON/);
  expect(checkComparedLeaves(leaves('String', 'String', '2'))).toMatch(/times needs numbers/);
});
