import { expect, test } from 'vitest';
import { labelsText, selectorStructText, selectorText } from './selector-text.ts';

test('labels and selectors are sorted by key', () => {
  expect(labelsText({ b: '2', a: '1' })).toBe('a=1,b=2');
  const matchExpressions = [
    { key: 'c', operator: 'In', values: ['y', 'x'] },
    { key: 'a', operator: 'NotIn', values: ['z'] },
    { key: 'e', operator: 'Exists' },
    { key: 'd', operator: 'DoesNotExist' },
  ];
  expect(selectorText({ matchLabels: { b: '2' }, matchExpressions })).toBe('a notin (z),b=2,c in (x,y),!d,e');
});

test.each([undefined, null, {}, [], 'x'])('%j has no labels', (value) => {
  expect(labelsText(value)).toBe('<none>');
  expect(selectorText(value)).toBe('<none>');
  expect(selectorText({ matchLabels: value, matchExpressions: value })).toBe('<none>');
});

test('an operator that the API server does not know is an error', () => {
  expect(selectorText({ matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] })).toBe('<error>');
});

test('a selector of parameters is written as Go writes the struct', () => {
  expect(selectorStructText({ matchLabels: { b: '2', a: '1' } })).toBe(
    '&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{},}',
  );
});
