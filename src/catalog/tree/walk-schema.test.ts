import { describe, expect, test } from 'vitest';
import type { FieldTree, FieldType, Shape } from './field-tree.ts';
import { normalizeTree } from './normalize-tree.ts';
import { conditionKey, embeddedObjectMetaKey, objectMetaKey } from './shared-shapes.ts';
import { SchemaWalker } from './walk-schema.ts';

function treeOf(
  properties: Record<string, unknown>,
  definitions: Record<string, unknown> = {},
  more: object = {},
): FieldTree {
  const walker = new SchemaWalker(definitions);
  return normalizeTree(walker.root({ type: 'object', properties, ...more }), walker.drafts);
}

function shape(tree: FieldTree, key: string): Shape {
  const found = tree.shapes[key];
  if (found === undefined) throw new Error(`no shape ${key} among ${Object.keys(tree.shapes).join(' ')}`);
  return found;
}

function typeOf(schema: unknown, definitions: Record<string, unknown> = {}): FieldType {
  const tree = treeOf({ x: schema }, definitions);
  const field = shape(tree, '$').fields.find(({ name }) => name === 'x');
  if (field === undefined) throw new Error('no field x');
  return field.type;
}

const ref = (name: string): object => ({ $ref: `#/definitions/${name}` });
const ref3 = (name: string): object => ({ allOf: [{ $ref: `#/components/schemas/${name}` }], default: {} });
const leaf = (type: string): object => ({ kind: 'leaf', type });
const object = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more });
const text = { type: 'string' };

describe('a leaf', () => {
  test.each<[string, unknown, string]>([
    ['string', text, 'String'],
    ['boolean', { type: 'boolean' }, 'Boolean'],
    ['integer of 32 bits', { type: 'integer', format: 'int32' }, 'Int'],
    ['integer of 64 bits', { type: 'integer', format: 'int64' }, 'Int64'],
    ['integer of unknown width', { type: 'integer' }, 'Int64'],
    ['number', { type: 'number' }, 'Float'],
    ['double', { type: 'number', format: 'double' }, 'Float'],
    ['number that is an int64', { type: 'number', format: 'int64' }, 'Int64'],
    ['time', { type: 'string', format: 'date-time' }, 'DateTime'],
    ['duration', { type: 'string', format: 'duration' }, 'Duration'],
    ['bytes', { type: 'string', format: 'byte' }, 'String'],
    ['address', { type: 'string', format: 'ipv4' }, 'IP'],
    ['unknown format', { type: 'string', format: 'hostname' }, 'String'],
    ['nullable', { type: 'string', nullable: true }, 'String'],
    ['one of JSON Schema 3.1 types', { type: ['string', 'null'] }, 'String'],
    ['several types', { type: ['string', 'integer'] }, 'JSON'],
    ['int-or-string of a CRD', { 'x-kubernetes-int-or-string': true }, 'IntOrString'],
    ['int-or-string of OpenAPI v2', { type: 'string', format: 'int-or-string' }, 'IntOrString'],
    ['union of integer and string', { anyOf: [{ type: 'integer' }, { type: 'string' }] }, 'IntOrString'],
    [
      'quantity of a CRD',
      {
        'x-kubernetes-int-or-string': true,
        pattern:
          '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
      },
      'Quantity',
    ],
    ['Quantity', ref('io.k8s.apimachinery.pkg.api.resource.Quantity'), 'Quantity'],
    ['Quantity of v3', ref3('io.k8s.apimachinery.pkg.api.resource.Quantity'), 'Quantity'],
    ['IntOrString', ref('io.k8s.apimachinery.pkg.util.intstr.IntOrString'), 'IntOrString'],
    ['Time', ref('io.k8s.apimachinery.pkg.apis.meta.v1.Time'), 'DateTime'],
    ['MicroTime', ref('io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime'), 'DateTime'],
    ['Duration', ref('io.k8s.apimachinery.pkg.apis.meta.v1.Duration'), 'Duration'],
    ['RawExtension', ref('io.k8s.apimachinery.pkg.runtime.RawExtension'), 'JSON'],
    ['JSON', ref('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON'), 'JSON'],
    ['free object', { type: 'object' }, 'JSON'],
    ['open object', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, 'JSON'],
    ['object without properties', { type: 'object', properties: {} }, 'JSON'],
    ['map of anything', { type: 'object', additionalProperties: true }, 'JSON'],
    ['map of free objects', { type: 'object', additionalProperties: { type: 'object' } }, 'JSON'],
    ['nothing said', {}, 'JSON'],
    ['no schema at all', 'oops', 'JSON'],
    ['unknown type', { type: 'file' }, 'JSON'],
    ['missing definition', ref('nowhere.Foo'), 'JSON'],
  ])('%s', (_what, schema, type) => {
    expect(typeOf(schema)).toEqual(leaf(type));
  });
});

describe('lists and maps', () => {
  test.each<[string, unknown, object]>([
    ['list of strings', { type: 'array', items: text }, { kind: 'list', of: leaf('String') }],
    ['list of anything', { type: 'array' }, { kind: 'list', of: leaf('JSON') }],
    [
      'list of lists',
      { type: 'array', items: { type: 'array', items: text } },
      { kind: 'list', of: { kind: 'list', of: leaf('String') } },
    ],
    ['map of strings', { type: 'object', additionalProperties: text }, { kind: 'stringMap' }],
    [
      'map of bytes',
      { type: 'object', additionalProperties: { type: 'string', format: 'byte' } },
      { kind: 'stringMap' },
    ],
    [
      'map of integers',
      { type: 'object', additionalProperties: { type: 'integer', format: 'int32' } },
      { kind: 'map', of: leaf('Int') },
    ],
    [
      'map of quantities',
      { type: 'object', additionalProperties: ref('io.k8s.apimachinery.pkg.api.resource.Quantity') },
      { kind: 'map', of: leaf('Quantity') },
    ],
    [
      'map of lists',
      { type: 'object', additionalProperties: { type: 'array', items: text } },
      { kind: 'map', of: { kind: 'list', of: leaf('String') } },
    ],
    ['map without a type', { additionalProperties: text }, { kind: 'stringMap' }],
  ])('%s', (_what, schema, type) => {
    expect(typeOf(schema)).toEqual(type);
  });
});

describe('objects', () => {
  test('stand under the path of their first place', () => {
    const tree = treeOf({
      spec: object({ a: object({ deep: text }), list: { type: 'array', items: object({ b: text }) } }),
    });
    expect(Object.keys(tree.shapes)).toEqual([
      '$',
      objectMetaKey,
      '$.spec',
      expect.stringContaining('OwnerReference'),
      '$.spec.a',
      '$.spec.list',
    ]);
    expect(shape(tree, '$.spec.list')).toMatchObject({ path: ['spec', 'list'], fields: [{ name: 'b' }] });
  });

  test('of equal structure are one, whatever they say of themselves', () => {
    const tree = treeOf({
      z: object({ inner: object({ b: { type: 'string', description: 'Z.' } }) }),
      a: { type: 'array', items: object({ inner: object({ b: { type: 'string', description: 'A.' } }) }) },
    });
    expect(typeOfField(tree, '$', 'z')).toEqual({ kind: 'object', shape: '$.a' });
    expect(shape(tree, '$.a.inner').fields[0]?.description).toBe('A.');
  });

  test('that differ only far below are not', () => {
    const of = (leaf: object): object => object({ a: object({ b: object({ c: object({ d: leaf }) }) }) });
    const tree = treeOf({ x: of(text), y: of({ type: 'boolean' }), z: of(text) });
    expect(typeOfField(tree, '$', 'y')).toEqual({ kind: 'object', shape: '$.y' });
    expect(typeOfField(tree, '$', 'z')).toEqual({ kind: 'object', shape: '$.x' });
    expect(typeOfField(tree, '$.y.a.b.c', 'd')).toEqual(leaf('Boolean'));
  });

  test('keep what is declared where unknown fields are kept', () => {
    const tree = treeOf({
      spec: object({ a: text }, { 'x-kubernetes-preserve-unknown-fields': true }),
      closed: object({ a: text }),
    });
    expect(shape(tree, '$.spec').open).toBe(true);
    expect(shape(tree, '$.closed').open).toBeUndefined();
  });

  test('that are whole resources have metadata', () => {
    const tree = treeOf({
      template: object({ spec: text, metadata: { type: 'object' } }, { 'x-kubernetes-embedded-resource': true }),
    });
    expect(shape(tree, '$.template').fields.map(({ name }) => name)).toEqual([
      'apiVersion',
      'kind',
      'metadata',
      'spec',
    ]);
    expect(typeOfField(tree, '$.template', 'metadata')).toEqual({ kind: 'object', shape: embeddedObjectMetaKey });
    const free = treeOf({
      any: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    });
    expect(shape(free, '$.any')).toMatchObject({
      open: true,
      fields: [{ name: 'apiVersion' }, { name: 'kind' }, { name: 'metadata' }],
    });
  });

  test('have odd names without harm', () => {
    const tree = treeOf(
      JSON.parse(
        '{"__proto__":{"type":"object","properties":{"constructor":{"type":"string"}}},"a.b":{"type":"object","properties":{"c":{"type":"integer"}}}}',
      ),
    );
    expect(shape(tree, '$.__proto__').fields.map(({ name }) => name)).toEqual(['constructor']);
    expect(shape(tree, '$["a.b"]').path).toEqual(['a.b']);
    expect(JSON.parse(JSON.stringify(tree))).toEqual(tree);
  });

  test('nested without end are cut', () => {
    let schema: object = text;
    for (let i = 0; i < 10_000; i++) schema = object({ a: schema });
    const walker = new SchemaWalker();
    const tree = normalizeTree(walker.root({ properties: { a: schema } }), walker.drafts);
    expect(Object.keys(tree.shapes).length).toBeLessThan(80);
    expect(walker.messages).toEqual([expect.stringContaining('deeper than')]);
  });
});

describe("a kind's root", () => {
  test('has apiVersion, kind and metadata, whatever the schema says of them', () => {
    const tree = treeOf({ metadata: { type: 'object' }, kind: { type: 'integer' }, spec: object({ a: text }) });
    expect(shape(tree, '$').fields.map(({ name }) => name)).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
    expect(typeOfField(tree, '$', 'metadata')).toEqual({ kind: 'object', shape: objectMetaKey });
    expect(typeOfField(tree, '$', 'kind')).toEqual(leaf('String'));
  });

  test('is open where nothing is declared or unknown fields are kept', () => {
    expect(shape(treeOf({}), '$').open).toBe(true);
    expect(shape(treeOf({ a: text }), '$').open).toBeUndefined();
    expect(shape(treeOf({ a: text }, {}, { 'x-kubernetes-preserve-unknown-fields': true }), '$').open).toBe(true);
  });
});

describe('definitions', () => {
  const core = (name: string): string => `io.k8s.api.core.v1.${name}`;

  test('of core and meta keep their names; others stand under paths', () => {
    const tree = treeOf(
      { spec: ref('io.k8s.api.apps.v1.DeploymentSpec') },
      {
        'io.k8s.api.apps.v1.DeploymentSpec': object({
          template: ref3(core('PodTemplateSpec')),
          other: ref('io.k8s.api.apps.v1.Other'),
        }),
        'io.k8s.api.apps.v1.Other': object({ a: text }),
        [core('PodTemplateSpec')]: object(
          { metadata: ref(objectMetaKey), spec: ref(core('PodSpec')) },
          { description: 'Pods to be.' },
        ),
        [core('PodSpec')]: object({
          nodeName: text,
          inline: object({ a: text }),
          foreign: ref('io.k8s.api.apps.v1.Other'),
        }),
      },
    );
    expect(shape(tree, core('PodTemplateSpec'))).toMatchObject({
      definition: 'PodTemplateSpec',
      description: 'Pods to be.',
      path: ['spec', 'template'],
    });
    expect(typeOfField(tree, core('PodTemplateSpec'), 'metadata')).toEqual({
      kind: 'object',
      shape: embeddedObjectMetaKey,
    });
    expect(shape(tree, '$.spec').definition).toBeUndefined();
    expect(shape(tree, '$.spec.other').fields.map(({ name }) => name)).toEqual(['a']);
    // The content of a definition must not depend on the kind that contains it.
    expect(shape(tree, core('PodSpec')).fields.map(({ type }) => type)).toEqual([
      leaf('JSON'),
      leaf('JSON'),
      leaf('String'),
    ]);
  });

  test('may contain themselves and each other', () => {
    const tree = treeOf(
      { schema: ref('x.Props'), a: ref('x.A') },
      {
        'x.Props': object({
          not: ref('x.Props'),
          items: { type: 'array', items: ref('x.Props') },
          map: { additionalProperties: ref('x.Props') },
          title: text,
        }),
        'x.A': object({ b: ref('x.B') }),
        'x.B': object({ a: ref('x.A') }),
      },
    );
    expect(typeOfField(tree, 'x.Props', 'not')).toEqual({ kind: 'object', shape: 'x.Props' });
    expect(shape(tree, 'x.A').path).toEqual(['a']);
    expect(typeOfField(tree, '$.a.b', 'a')).toEqual({ kind: 'object', shape: 'x.A' });
  });

  test('that are only another name never hang', () => {
    const definitions = {
      'x.A': ref('x.B'),
      'x.B': ref('x.A'),
      'x.L': { type: 'array', items: ref('x.L') },
      'x.S': text,
    };
    expect(typeOf(ref('x.A'), definitions)).toEqual(leaf('JSON'));
    expect(typeOf(ref('x.L'), definitions)).toEqual({ kind: 'list', of: leaf('JSON') });
    expect(typeOf(ref('x.S'), definitions)).toEqual(leaf('String'));
  });
});

describe('conditions', () => {
  const time = { type: 'string', format: 'date-time' };
  const items = (properties: object, more: object = {}): unknown => ({
    type: 'array',
    items: object(properties, more),
  });
  const whole = {
    type: text,
    status: text,
    reason: text,
    message: text,
    lastTransitionTime: time,
    observedGeneration: { type: 'integer', format: 'int64' },
  };
  const { observedGeneration: _, ...without } = whole;
  const asCondition = { kind: 'list', of: { kind: 'object', shape: conditionKey } };

  test.each<[string, unknown]>([
    ['all six fields', items(whole)],
    ['no observedGeneration', items(without)],
    ["meta's own definition", { type: 'array', items: ref(conditionKey) }],
  ])('are one shape: %s', (_what, schema) => {
    expect(typeOf(schema)).toEqual(asCondition);
  });

  test.each<[string, unknown]>([
    ['a further field', items({ ...whole, severity: text })],
    ['only two fields', items({ type: text, status: text })],
    ['a status of another type', items({ ...whole, status: { type: 'boolean' } })],
    ['a time without format', items({ ...whole, lastTransitionTime: text })],
    ['open', items(whole, { 'x-kubernetes-preserve-unknown-fields': true })],
    ['no list', object(whole)],
  ])('are not: %s', (_what, schema) => {
    expect(typeOf(schema)).not.toEqual(asCondition);
  });
});

function typeOfField(tree: FieldTree, key: string, name: string): FieldType | undefined {
  return shape(tree, key).fields.find((field) => field.name === name)?.type;
}
