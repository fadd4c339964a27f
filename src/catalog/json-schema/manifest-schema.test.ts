import { describe, expect, test } from 'vitest';
import { runSteps } from '../../base/steps.ts';
import { manifestSchema } from './manifest-schema.ts';

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const resource = { group: 'a.example.com', version: 'v1', kind: 'Widget' };

function schemaOf(definition: object, others: Readonly<Record<string, object>> = {}): Record<string, unknown> {
  const mark = { 'x-kubernetes-group-version-kind': [resource] };
  const definitions = new Map(
    Object.entries({
      Widget: { ...mark, ...definition },
      [meta]: { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } },
      ...others,
    }).map(([name, value]) => [name, JSON.stringify(value)]),
  );
  return runSteps(manifestSchema({ resource, form: 'v3', definitions }));
}

describe('the JSON Schema of a kind', () => {
  test('stands alone, with constants and the metadata of every object', () => {
    const spec = { type: 'object', properties: { size: { type: 'integer', format: 'int32', default: 1 } } };
    expect(schemaOf({ description: 'A widget.', required: ['spec'], properties: { metadata: {}, spec } })).toEqual({
      $schema: 'http://json-schema.org/draft-07/schema#',
      title: 'Widget of a.example.com/v1',
      description: 'A widget.',
      type: 'object',
      required: ['apiVersion', 'kind', 'metadata', 'spec'],
      properties: {
        apiVersion: { type: 'string', const: 'a.example.com/v1' },
        kind: { type: 'string', const: 'Widget' },
        metadata: {
          allOf: [{ $ref: `#/$defs/${meta}` }],
          type: 'object',
          anyOf: [{ required: ['name'] }, { required: ['generateName'] }],
        },
        spec: {
          type: 'object',
          properties: {
            size: {
              default: 1,
              format: 'int32',
              type: ['integer', 'null'],
              minimum: -2147483648,
              maximum: 2147483647,
            },
          },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
      $defs: {
        [meta]: {
          type: ['object', 'null'],
          properties: { name: { type: ['string', 'null'] }, generateName: { type: ['string', 'null'] } },
          additionalProperties: false,
        },
      },
    });
  });

  test('has the messages of CEL rules where editors show them', () => {
    const rules = [{ rule: 'self.a < self.b', message: 'a is less than b' }, { rule: 'has(self.a)' }];
    const spec = { type: 'object', description: 'The spec.', 'x-kubernetes-validations': rules };
    expect(schemaOf({ properties: { spec } })).toMatchObject({
      properties: {
        spec: {
          description: 'The spec.\n\nRules:\n- a is less than b\n- has(self.a)',
          'x-kubernetes-validations': rules,
        },
      },
    });
  });

  test('has the definitions that it reaches, also in circles, and no other', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/components/schemas/b.Node' } } };
    const spec = { $ref: '#/components/schemas/b.Node' };
    const schema = schemaOf({ properties: { spec } }, { 'b.Node': node, 'b.Other': node });
    expect(Object.keys(schema['$defs'] as object)).toEqual(['b.Node', meta]);
  });

  test('has names that JavaScript knows as members of their own', () => {
    const text = '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}';
    const schema = schemaOf({ properties: { spec: JSON.parse(text) as object } });
    expect(JSON.stringify(schema)).toContain('"properties":{"__proto__":{"type":["string","null"]},"constructor":');
    expect(({} as Record<string, unknown>)['type']).toBeUndefined();
  });

  test('says what is missing', () => {
    expect(() =>
      runSteps(manifestSchema({ resource, form: 'v3', definitions: new Map([['constructor', '{}']]) })),
    ).toThrow('has no schema for Widget of a.example.com/v1');
  });

  test('is refused if it has too many parts, and cut where it is too deep', () => {
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`p${index}`, { type: 'string' }]));
    expect(() => schemaOf({ properties: { spec: { type: 'object', properties: wide } } })).toThrow(
      'more than 100000 parts',
    );
    let deep: object = { type: 'string' };
    for (let i = 0; i < 2000; i += 1) deep = { type: 'object', properties: { a: deep } };
    expect(JSON.stringify(schemaOf({ properties: { spec: deep } })).length).toBeLessThan(10_000);
  });
});
