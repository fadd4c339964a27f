import { describe, expect, test } from 'vitest';
import type { FieldTree } from './field-tree.ts';
import { normalizeTree } from './normalize-tree.ts';
import { structureHash, structureHashes } from './structure-hash.ts';
import { SchemaWalker } from './walk-schema.ts';

function treeOf(properties: Record<string, unknown>, definitions: Record<string, unknown> = {}): FieldTree {
  const walker = new SchemaWalker(definitions);
  return normalizeTree(walker.root({ properties }), walker.drafts);
}

const text = { type: 'string' };

describe('structureHash', () => {
  test('is blind to descriptions and to the order in which fields are written', () => {
    const a = treeOf({ spec: { type: 'object', properties: { a: text, b: { type: 'integer' } } } });
    const b = treeOf({
      spec: { type: 'object', description: 'D.', properties: { b: { type: 'integer', description: 'B.' }, a: text } },
    });
    expect(structureHash(a)).toBe(structureHash(b));
    expect(structureHash(a)).toMatch(/^[0-9a-f]{32}$/);
  });

  test.each<[string, Record<string, unknown>]>([
    ['another field', { spec: { type: 'object', properties: { a: text, b: text } } }],
    ['another type', { spec: { type: 'object', properties: { a: { type: 'integer' } } } }],
    ['a list', { spec: { type: 'array', items: { type: 'object', properties: { a: text } } } }],
    ['a map', { spec: { type: 'object', additionalProperties: { type: 'object', properties: { a: text } } } }],
    [
      'an open shape',
      { spec: { type: 'object', properties: { a: text }, 'x-kubernetes-preserve-unknown-fields': true } },
    ],
  ])('sees %s', (_what, properties) => {
    const plain = treeOf({ spec: { type: 'object', properties: { a: text } } });
    expect(structureHash(treeOf(properties))).not.toBe(structureHash(plain));
  });

  test.each<[string, Record<string, unknown>]>([
    ['itself', { 'x.A': { properties: { not: { $ref: '#/definitions/x.A' }, title: text } } }],
    [
      'one that contains it',
      {
        'x.A': { properties: { b: { $ref: '#/definitions/x.B' }, a: text } },
        'x.B': { properties: { a: { $ref: '#/definitions/x.A' }, leaf: { type: 'object', properties: { z: text } } } },
      },
    ],
  ])('is the same wherever a shape that contains %s stands', (_what, definitions) => {
    const first = { $ref: '#/definitions/x.A' };
    const trees = [
      treeOf({ a: first }, definitions),
      treeOf({ spec: { type: 'object', properties: { z: first, more: text } } }, definitions),
      treeOf({ a: { $ref: `#/definitions/${'x.B' in definitions ? 'x.B' : 'x.A'}` } }, definitions),
    ];
    // Of shapes that contain each other, only the recursive ones have a name. So shapes are compared by their fields.
    const hashes = trees.map((tree) => {
      const found = structureHashes(tree);
      return Object.values(tree.shapes)
        .filter(({ fields }) => fields.some(({ name }) => name === 'title' || name === 'leaf' || name === 'b'))
        .map(({ key, fields }) => [fields.map(({ name }) => name).join(), found.get(key)])
        .sort();
    });
    expect(hashes[0]?.length).toBe('x.B' in definitions ? 2 : 1);
    expect(hashes[1]).toEqual(hashes[0]);
    expect(hashes[2]).toEqual(hashes[0]);
  });

  test('tells shapes apart that contain each other', () => {
    const of = (leaf: object): FieldTree =>
      treeOf(
        { a: { $ref: '#/definitions/x.A' } },
        {
          'x.A': { properties: { b: { $ref: '#/definitions/x.B' } } },
          'x.B': { properties: { c: { $ref: '#/definitions/x.C' } } },
          'x.C': { properties: { a: { $ref: '#/definitions/x.A' }, leaf } },
        },
      );
    expect(structureHash(of(text))).not.toBe(structureHash(of({ type: 'boolean' })));
    expect(new Set(structureHashes(of(text)).values()).size).toBe(Object.keys(of(text).shapes).length);
  });
});
