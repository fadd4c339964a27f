import { describe, expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { builtinResources } from '../builtin/builtin-resources.ts';
import { jsonPatch } from './json-patch.ts';
import { mergePatch } from './merge-patch.ts';
import { strategicMergePatch } from './strategic-merge-patch.ts';

const deployments = must(
  builtinResources().find((resource) => resource.plural === 'deployments'),
  'deployments',
);

describe('merge patch', () => {
  test('merges objects, removes nulls, replaces lists, and leaves its arguments alone', () => {
    const target = { a: { b: 1, c: 2 }, list: [1, 2] };
    expect(mergePatch(target, { a: { c: null, d: 3 }, list: [9] })).toEqual({ a: { b: 1, d: 3 }, list: [9] });
    expect(target).toEqual({ a: { b: 1, c: 2 }, list: [1, 2] });
  });
});

describe('JSON patch', () => {
  test('applies its operations in order', () => {
    const target = { a: { 'x/y': 1 }, list: ['p', 'q'] };
    const result = jsonPatch(target, [
      { op: 'test', path: '/a/x~1y', value: 1 },
      { op: 'add', path: '/list/1', value: 'new' },
      { op: 'add', path: '/list/-', value: 'end' },
      { op: 'copy', from: '/list/0', path: '/first' },
      { op: 'move', from: '/a/x~1y', path: '/moved' },
      { op: 'replace', path: '/list/0', value: 'P' },
      { op: 'remove', path: '/list/2' },
    ]);
    expect(result).toEqual({ a: {}, list: ['P', 'new', 'end'], first: 'p', moved: 1 });
    expect(target.list).toEqual(['p', 'q']);
  });

  test('an absent member is tested as null', () => {
    expect(jsonPatch({ a: {} }, [{ op: 'test', path: '/a/b', value: null }])).toEqual({ a: {} });
  });

  test.each([
    [{ op: 'test', path: '/a', value: 2 }],
    [{ op: 'test', path: '/a', value: null }],
    [{ op: 'test', path: '/missing', value: 1 }],
    [{ op: 'test', path: '/no/such', value: null }],
    [{ op: 'remove', path: '/missing' }],
    [{ op: 'replace', path: '/missing', value: 1 }],
    [{ op: 'add', path: '/no/such', value: 1 }],
  ])('refuses %j with 422', (operation) => {
    expect(() => jsonPatch({ a: 1 }, [operation])).toThrow(expect.objectContaining({ httpCode: 422 }));
  });
});

describe('strategic merge patch', () => {
  const target = {
    spec: {
      template: {
        spec: {
          containers: [
            { name: 'a', image: 'a:1', env: [{ name: 'X', value: '1' }] },
            { name: 'b', image: 'b:1' },
          ],
        },
      },
    },
  };
  const containers = (patch: unknown): unknown => {
    const merged = strategicMergePatch(
      target,
      { spec: { template: { spec: { containers: patch } } } },
      deployments.schema,
    );
    return (merged as typeof target).spec.template.spec.containers;
  };

  test('merges lists by their merge key, also nested ones', () => {
    expect(
      containers([
        { name: 'a', env: [{ name: 'Y', value: '2' }] },
        { name: 'c', image: 'c:1' },
      ]),
    ).toEqual([
      {
        name: 'a',
        image: 'a:1',
        env: [
          { name: 'X', value: '1' },
          { name: 'Y', value: '2' },
        ],
      },
      { name: 'b', image: 'b:1' },
      { name: 'c', image: 'c:1' },
    ]);
  });

  test('deletes and replaces on request', () => {
    expect(containers([{ name: 'a', $patch: 'delete' }])).toEqual([{ name: 'b', image: 'b:1' }]);
    expect(containers([{ $patch: 'replace' }, { name: 'z' }])).toEqual([{ name: 'z' }]);
  });

  test('replaces lists without a merge key', () => {
    const before = { spec: { template: { spec: { containers: [{ name: 'a', args: ['1', '2'] }] } } } };
    const patch = { spec: { template: { spec: { containers: [{ name: 'a', args: ['3'] }] } } } };
    expect(strategicMergePatch(before, patch, deployments.schema)).toEqual(patch);
  });
});
