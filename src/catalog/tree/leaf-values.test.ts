import { describe, expect, test } from 'vitest';
import type { FieldTree } from './field-tree.ts';
import { mergeTrees } from './merge-trees.ts';
import { structureHash } from './structure-hash.ts';

function treeOf(type: 'String' | 'Int64', values?: readonly string[]): FieldTree {
  const field = { name: 'state', type: { kind: 'leaf', type, ...(values === undefined ? {} : { values }) } } as const;
  return { root: '$', shapes: { $: { key: '$', path: [], fields: [field] } } };
}

test('other values are another structure', () => {
  const hashes = [
    treeOf('String'),
    treeOf('String', ['a']),
    treeOf('String', ['a', 'b']),
    treeOf('String', ['b', 'a']),
  ];
  expect(new Set(hashes.map(structureHash)).size).toBe(4);
});

describe('values of two trees', () => {
  const merged = (a: FieldTree, b: FieldTree) => {
    const conflicts: string[] = [];
    const tree = mergeTrees(a, b, (path) => conflicts.push(path));
    return [tree.shapes['$']?.fields[0]?.type, conflicts];
  };

  test('are those of both', () => {
    const type = { kind: 'leaf', type: 'String', values: ['b', 'a', 'c'] };
    expect(merged(treeOf('String', ['b', 'a']), treeOf('String', ['a', 'c']))).toEqual([type, []]);
  });

  test('are any where one of them has any', () => {
    const type = { kind: 'leaf', type: 'String' };
    expect(merged(treeOf('String', ['a']), treeOf('String'))).toEqual([type, []]);
    expect(merged(treeOf('String'), treeOf('String', ['a']))).toEqual([type, []]);
    expect(merged(treeOf('Int64'), treeOf('String', ['a']))).toEqual([{ kind: 'leaf', type: 'JSON' }, ['state']]);
  });
});
