import { describe, expect, it } from 'vitest';
import type { FieldTree } from './field-tree.ts';
import { normalizeTree } from './normalize-tree.ts';
import { inputNames, structureHash, structureHashes } from './structure-hash.ts';
import { SchemaWalker } from './walk-schema.ts';

function treeOf(properties: Record<string, unknown>, definitions: Record<string, unknown> = {}): FieldTree {
  const walker = new SchemaWalker(definitions);
  return normalizeTree(walker.root({ properties }), walker.drafts);
}

const text = { type: 'string' };

describe('structureHash', () => {
  it('is blind to descriptions and to the order in which fields are written', () => {
    const a = treeOf({ spec: { type: 'object', properties: { a: text, b: { type: 'integer' } } } });
    const b = treeOf({
      spec: { type: 'object', description: 'D.', properties: { b: { type: 'integer', description: 'B.' }, a: text } },
    });
    expect(structureHash(a)).toBe(structureHash(b));
    expect(structureHash(a)).toMatch(/^[0-9a-f]{32}$/);
  });

  it.each<[string, Record<string, unknown>]>([
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

  it('is the same for a recursive shape wherever it stands', () => {
    const props = { type: 'object', properties: { not: { $ref: '#/definitions/x.Props' }, title: text } };
    const definitions = { 'x.Props': props };
    const one = structureHashes(treeOf({ a: { $ref: '#/definitions/x.Props' } }, definitions));
    const other = structureHashes(
      treeOf({ spec: { type: 'object', properties: { z: { $ref: '#/definitions/x.Props' } } } }, definitions),
    );
    expect(one.get('x.Props')).toBeDefined();
    expect(one.get('x.Props')).toBe(other.get('x.Props'));
  });
});

describe('inputNames', () => {
  it('names by structure, not by place', () => {
    const one = inputNames(treeOf({ a: { type: 'object', properties: { x: text } } }));
    const other = inputNames(treeOf({ b: { type: 'object', properties: { x: text } }, c: text }));
    expect(one.get('$.a')).toMatch(/^F_[0-9a-f]{12}$/);
    expect(one.get('$.a')).toBe(other.get('$.b'));
    expect(one.get('$')).not.toBe(other.get('$'));
  });
});
