import { describe, expect, test } from 'vitest';
import { codeOf, messageOf } from '../../base/errors.ts';
import type { FieldTree, FieldType } from '../tree/field-tree.ts';
import { parsePath, pathOf } from '../tree/path.ts';
import { resolvePath } from './resolve-path.ts';

const leaf = (type: 'String' | 'Int' | 'JSON'): FieldType => ({ kind: 'leaf', type });
const object = (shape: string): FieldType => ({ kind: 'object', shape });

const tree: FieldTree = {
  root: '$',
  shapes: {
    $: {
      key: '$',
      path: [],
      fields: [
        { name: 'metadata', type: object('meta') },
        { name: 'odd.name', type: leaf('Int') },
        { name: 'spec', type: object('$.spec') },
      ],
    },
    meta: { key: 'meta', path: ['metadata'], fields: [{ name: 'labels', type: { kind: 'stringMap' } }] },
    '$.spec': {
      key: '$.spec',
      path: ['spec'],
      fields: [
        { name: 'conditions', type: { kind: 'list', of: object('$.spec.conditions') } },
        { name: 'free', type: leaf('JSON') },
        { name: 'limits', type: { kind: 'map', of: object('$.open') } },
        { name: 'matrix', type: { kind: 'list', of: { kind: 'list', of: leaf('Int') } } },
        { name: 'open', type: object('$.open') },
        { name: 'replicas', type: leaf('Int') },
      ],
    },
    '$.spec.conditions': {
      key: '$.spec.conditions',
      path: ['spec', 'conditions'],
      fields: [
        { name: 'inner', type: object('$.open') },
        { name: 'status', type: leaf('String') },
        { name: 'type', type: leaf('String') },
      ],
    },
    '$.open': { key: '$.open', path: ['spec', 'open'], open: true, fields: [{ name: 'a', type: leaf('Int') }] },
  },
};

describe('resolvePath', () => {
  test.each<[string, FieldType, boolean, string?]>([
    ['spec.replicas', leaf('Int'), false],
    ['spec["replicas"]', leaf('Int'), false, 'spec.replicas'],
    ['["odd.name"]', leaf('Int'), false],
    ['metadata.labels', { kind: 'stringMap' }, false],
    ['metadata.labels["a.b/c"]', leaf('String'), false],
    ['metadata.labels.app', leaf('String'), false, 'metadata.labels["app"]'],
    ['spec.limits["cpu"].a', leaf('Int'), false],
    ['spec.conditions[type=Ready].status', leaf('String'), false],
    ['spec.conditions[].status', leaf('String'), true],
    ['spec.conditions[2]', object('$.spec.conditions'), false],
    ['spec.matrix[][0]', leaf('Int'), true],
    ['spec.free.a["b"][].c[0][x=y]', leaf('JSON'), true, 'spec.free.a.b[].c[0][x=y]'],
    ['spec.open.a', leaf('Int'), false],
    ['spec.open.unknown.more', leaf('JSON'), false],
  ])('%s', (text, type, many, canonical) => {
    const found = resolvePath(tree, parsePath(text));
    expect(found.type).toEqual(type);
    expect(found.many).toBe(many);
    expect(found.path.text).toBe(canonical ?? text);
  });

  test.each<[string, string]>([
    ['spec.replica', 'In the path "spec.replica", "replica" after "spec" is unknown; did you mean "replicas"?'],
    ['sepc.replicas', 'did you mean "spec"?'],
    ['spec.REPLICAS', 'did you mean "replicas"?'],
    ['replicas', 'did you mean "spec.replicas"?'],
    ['spec.zzzzzz', 'it has conditions, free,'],
    ['spec.replicas.x', 'is below a value (Int).'],
    ['spec.conditions.status', 'write [] for every element'],
    ['spec[]', 'it is no list'],
    ['spec.conditions[typ=Ready].status', 'did you mean "type"?'],
    ['spec.conditions[inner=Ready]', 'needs a plain value in "inner"'],
    ['spec.matrix[x=1]', 'needs a list of objects'],
    ['metadata.labels[]', 'write a key in quotes'],
    ['metadata.labels.app.kubernetes.io', 'metadata.labels["app.kubernetes.io"]'],
  ])('refuses %s', (text, message) => {
    let error: unknown;
    try {
      resolvePath(tree, parsePath(text));
    } catch (thrown) {
      error = thrown;
    }
    expect(codeOf(error)).toBe('BAD_USER_INPUT');
    expect(messageOf(error)).toContain(message);
  });

  test('resolves relative to an element', () => {
    expect(resolvePath(tree, parsePath('status'), object('$.spec.conditions')).type).toEqual(leaf('String'));
    expect(resolvePath(tree, pathOf([]), leaf('Int')).type).toEqual(leaf('Int'));
  });
});
