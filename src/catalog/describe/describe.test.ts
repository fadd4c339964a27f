import { describe, expect, test } from 'vitest';
import { codeOf } from '../../base/errors.ts';
import type { Resource } from '../resources/resource.ts';
import { describeResource } from './describe.ts';
import { resourceOfCrd } from './from-crd.ts';

const text = { type: 'string' };
const time = { type: 'string', format: 'date-time' };

function resourceOf(group: string, kind: string, plural: string, version = 'v1'): Resource {
  return {
    group,
    version,
    plural,
    singular: kind.toLowerCase(),
    kind,
    namespaced: true,
    verbs: ['list', 'watch'],
    shortNames: [],
    categories: [],
  };
}

function crdOf(version: object): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    spec: {
      group: 'a.io',
      scope: 'Namespaced',
      names: { kind: 'Foo', plural: 'foos', shortNames: ['f'] },
      versions: [{ name: 'v1', served: true, storage: true, ...version }],
    },
  };
}

const schema = {
  openAPIV3Schema: {
    type: 'object',
    description: 'A Foo.',
    properties: {
      apiVersion: text,
      kind: text,
      metadata: { type: 'object' },
      spec: {
        type: 'object',
        properties: { size: { type: 'integer', format: 'int32' }, 'odd.name': text, free: { type: 'object' } },
      },
      status: {
        type: 'object',
        properties: {
          phase: text,
          conditions: {
            type: 'array',
            items: {
              type: 'object',
              properties: { type: text, status: text, reason: text, message: text, lastTransitionTime: time },
            },
          },
        },
      },
    },
  },
};

const foo = resourceOf('a.io', 'Foo', 'foos');

describe('describeResource from a CRD', () => {
  const described = describeResource({
    cluster: 'one',
    resource: foo,
    crd: crdOf({
      schema,
      additionalPrinterColumns: [
        {
          name: 'Ready',
          type: 'string',
          jsonPath: '.status.conditions[?(@.type=="Ready")].status',
          description: 'Is it?',
        },
        { name: 'External', type: 'string', jsonPath: '.metadata.annotations.a\\.io/name', priority: 1 },
        { name: 'All', type: 'string', jsonPath: '.status.conditions[*].type' },
        { name: 'Free', type: 'string', jsonPath: '.spec.free.x' },
        { name: 'Slice', type: 'string', jsonPath: '.status.conditions[-1:].type' },
        { name: 'Broken', type: 'string', jsonPath: '.status.conditions[x].type' },
        { name: 'Gone', type: 'string', jsonPath: '.status.gone' },
        { name: 'Born', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
      selectableFields: [{ jsonPath: '.spec.size' }, { jsonPath: '.spec["odd.name"]' }, { jsonPath: '.metadata.name' }],
    }),
  });

  test('has columns by paths, the name first', () => {
    expect(described.printerColumns.map(({ name, path, priority }) => [name, path, priority])).toEqual([
      ['Name', 'metadata.name', 0],
      ['Ready', 'status.conditions[type=Ready].status', 0],
      ['External', 'metadata.annotations["a.io/name"]', 1],
      ['All', 'status.conditions[].type', 0],
      ['Free', 'spec.free.x', 0],
      ['Slice', null, 0],
      ['Broken', null, 0],
      ['Gone', null, 0],
      ['Born', 'metadata.creationTimestamp', 0],
    ]);
    expect(described.printerColumns[1]?.description).toBe('Is it?');
  });

  test('reports columns that stay empty', () => {
    expect(described.diagnostics.map(({ resource, message }) => [resource, message])).toEqual([
      ['foos.a.io', expect.stringContaining('Broken has a JSONPath that kubectl does not read')],
      ['foos.a.io', expect.stringContaining('Gone refers to status.gone')],
    ]);
  });

  test('promotes scalar selectable fields and columns, each once', () => {
    expect(described.promoted).toEqual([
      { path: 'spec.size', type: 'Int', selectable: true },
      { path: 'spec["odd.name"]', type: 'String', selectable: true },
      { path: 'status.conditions[type=Ready].status', type: 'String' },
      { path: 'metadata.annotations["a.io/name"]', type: 'String' },
    ]);
  });

  test('is plain data', () => {
    expect(JSON.parse(JSON.stringify(described))).toEqual(described);
    expect(described).toMatchObject({ cluster: 'one', description: 'A Foo.', redacted: [], resource: foo });
  });

  test('has a shape hash that descriptions and columns do not change', () => {
    const other = structuredClone(schema);
    other.openAPIV3Schema.description = 'Another.';
    const again = describeResource({ cluster: 'two', resource: foo, crd: crdOf({ schema: other }) });
    expect(again.shapeHash).toBe(described.shapeHash);
    const changed = structuredClone(schema);
    changed.openAPIV3Schema.properties.spec.properties.size = { type: 'integer', format: 'int64' };
    expect(describeResource({ cluster: 'one', resource: foo, crd: crdOf({ schema: changed }) }).shapeHash).not.toBe(
      described.shapeHash,
    );
  });

  test('shows name and age where nothing is declared, nothing more where the list is empty', () => {
    const columns = (more: object): string[] =>
      describeResource({ cluster: 'one', resource: foo, crd: crdOf({ schema, ...more }) }).printerColumns.map(
        ({ name }) => name,
      );
    expect(columns({})).toEqual(['Name', 'Age']);
    expect(columns({ additionalPrinterColumns: [] })).toEqual(['Name']);
  });

  test('promotes at most twelve', () => {
    const selectableFields = Array.from({ length: 30 }, (_, i) => ({ jsonPath: `.spec.f${i}` }));
    const properties = Object.fromEntries(selectableFields.map((_, i) => [`f${i}`, text]));
    const many = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } };
    expect(
      describeResource({ cluster: 'one', resource: foo, crd: crdOf({ schema: many, selectableFields }) }).promoted
        .length,
    ).toBe(12);
  });

  test.each<[string, unknown]>([
    ['another version', crdOf({ name: 'v2' })],
    ['no CRD', { kind: 'ConfigMap' }],
    ['no object', 'crd'],
  ])('refuses %s', (_what, crd) => {
    let code = '';
    try {
      describeResource({ cluster: 'one', resource: foo, crd });
    } catch (error) {
      code = codeOf(error);
    }
    expect(code).toBe('INVALID');
  });

  test('takes a version without a schema as free JSON', () => {
    const { tree } = describeResource({ cluster: 'one', resource: foo, crd: crdOf({}) });
    expect(tree.shapes['$']).toMatchObject({
      open: true,
      fields: [{ name: 'apiVersion' }, { name: 'kind' }, { name: 'metadata' }],
    });
  });
});

describe('describeResource from OpenAPI', () => {
  const mark = (group: string, kind: string): object => ({
    'x-kubernetes-group-version-kind': [{ group, version: 'v1', kind }],
  });
  const schemas = {
    'io.a.v1.FooOptions': { type: 'object', properties: { dryRun: text }, ...mark('a.io', 'Foo') },
    'io.a.v1.Foo': { ...schema.openAPIV3Schema, ...mark('a.io', 'Foo') },
    'io.k8s.api.core.v1.Secret': {
      type: 'object',
      properties: {
        metadata: { type: 'object' },
        data: { type: 'object', additionalProperties: { type: 'string', format: 'byte' } },
        type: text,
      },
      ...mark('', 'Secret'),
    },
    'io.k8s.api.core.v1.Pod': {
      type: 'object',
      properties: {
        metadata: { type: 'object' },
        spec: { type: 'object', properties: { nodeName: text } },
        status: { type: 'object', properties: { phase: text } },
      },
      ...mark('', 'Pod'),
    },
  };

  test('finds the kind by its mark and describes it as the CRD does', () => {
    const one = describeResource({ cluster: 'one', resource: foo, schemas });
    const other = describeResource({ cluster: 'one', resource: foo, crd: crdOf({ schema }) });
    expect(one.tree).toEqual(other.tree);
    expect(one.shapeHash).toBe(other.shapeHash);
    expect(one.printerColumns.map(({ name }) => name)).toEqual(['Name', 'Age']);
  });

  test('redacts the data of Secrets', () => {
    const described = describeResource({ cluster: 'one', resource: resourceOf('', 'Secret', 'secrets'), schemas });
    expect(described.redacted).toEqual(['data', 'stringData']);
    expect(described.promoted).toContainEqual({ path: 'type', type: 'String', selectable: true });
  });

  test('takes the columns of the API server for built-in kinds, without fields that the schema does not have', () => {
    const described = describeResource({ cluster: 'one', resource: resourceOf('', 'Pod', 'pods'), schemas });
    const names = ['Name', 'Ready', 'Status', 'Restarts', 'Age', 'IP', 'Node', 'Nominated Node', 'Readiness Gates'];
    expect(described.printerColumns.map(({ name }) => name)).toEqual(names);
    expect(described.printerColumns.every(({ path, computed }) => path === null && computed)).toBe(true);
    const cron = resourceOf('batch', 'CronJob', 'cronjobs');
    const served = (spec: object) => ({
      cronjob: {
        type: 'object',
        properties: { spec: { type: 'object', properties: spec } },
        ...mark('batch', 'CronJob'),
      },
    });
    const columns = (spec: object) =>
      describeResource({ cluster: 'one', resource: cron, schemas: served(spec) }).printerColumns.map(
        ({ name }) => name,
      );
    expect(columns({ timeZone: text })).toContain('Timezone');
    expect(columns({ schedule: text })).not.toContain('Timezone');
    expect(described.diagnostics).toEqual([]);
    expect(described.promoted).toEqual([
      { path: 'spec.nodeName', type: 'String', selectable: true },
      { path: 'status.phase', type: 'String', selectable: true },
    ]);
  });

  test('refuses a kind that no schema is marked as', () => {
    let code = '';
    try {
      describeResource({ cluster: 'one', resource: resourceOf('b.io', 'Bar', 'bars'), schemas });
    } catch (error) {
      code = codeOf(error);
    }
    expect(code).toBe('NOT_FOUND');
  });

  test('describes a kind without any source as free JSON, and says so', () => {
    const described = describeResource({ cluster: 'one', resource: foo });
    expect(described.tree.shapes['$']?.open).toBe(true);
    expect(described.diagnostics.length).toBe(1);
  });
});

describe('resourceOfCrd', () => {
  test('is what discovery would say', () => {
    expect(resourceOfCrd(crdOf({}))).toMatchObject({
      group: 'a.io',
      version: 'v1',
      plural: 'foos',
      singular: 'foo',
      kind: 'Foo',
      namespaced: true,
      shortNames: ['f'],
    });
    expect(resourceOfCrd({})).toBeNull();
  });
});
