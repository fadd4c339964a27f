import { describe, expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { builtinResources } from '../builtin/builtin-resources.ts';
import { parseFieldSelector } from './field-selector.ts';
import { labelSelectorOf, parseLabelSelector } from './label-selector.ts';

describe('label selectors', () => {
  const labels = { app: 'web', tier: 'front', empty: '' };
  test.each([
    ['app=web', true],
    ['app==web,tier=front', true],
    ['app=api', false],
    ['app!=api', true],
    ['missing!=x', true],
    ['app in (api, web)', true],
    ['app notin (web)', false],
    ['missing notin (web)', true],
    ['app', true],
    ['!app', false],
    ['!missing,app in (web)', true],
    ['empty=', true],
  ])('%s is %s', (text, expected) => {
    expect(parseLabelSelector(text)?.(labels)).toBe(expected);
  });

  test('treats an empty selector as none and refuses what it cannot read', () => {
    expect(parseLabelSelector('')).toBeUndefined();
    expect(() => parseLabelSelector('a in b')).toThrow(/unable to parse requirement/);
  });

  test('reads selector objects', () => {
    const matches = labelSelectorOf({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['front', 'back'] },
        { key: 'gone', operator: 'DoesNotExist' },
      ],
    });
    expect(matches(labels)).toBe(true);
    expect(matches({ app: 'web', tier: 'edge' })).toBe(false);
  });
});

describe('field selectors', () => {
  const pods = must(
    builtinResources().find((resource) => resource.plural === 'pods'),
    'pods',
  );
  const pod = { metadata: { name: 'a', namespace: 'n' }, spec: { nodeName: 'node-1' }, status: {} };

  test('compares fields, absent ones as empty', () => {
    expect(parseFieldSelector('spec.nodeName=node-1', pods)?.(pod)).toBe(true);
    expect(parseFieldSelector('metadata.name=a,status.phase!=Running', pods)?.(pod)).toBe(true);
    expect(parseFieldSelector('status.phase=', pods)?.(pod)).toBe(true);
    expect(parseFieldSelector('spec.nodeName!=node-1', pods)?.(pod)).toBe(false);
  });

  test('refuses fields that are not supported', () => {
    expect(() => parseFieldSelector('spec.hostname=a', pods)).toThrow(/field label not supported: spec.hostname/);
  });
});
