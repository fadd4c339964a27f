/** Objects of CRDs: structural schemas, defaults, subresources, columns, versions, and the end of a definition. */
import { beforeAll, describe, expect, test } from 'vitest';
import { asArray, asObject, at, type JsonObject } from '../../sim/objects/json.ts';
import { eventually } from '../kit/eventually.ts';
import {
  type ConformanceClient,
  causesOf,
  makeNamespace,
  namesOf,
  query,
  type Reply,
  versionOf,
} from './conformance-client.ts';
import {
  appliedUnknownField,
  customFieldSelector,
  strictUnknownField,
  wrongTypeReason,
} from './version-differences.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const group = 'conformance.example';
const properties = {
  spec: {
    type: 'object',
    required: ['size'],
    properties: {
      size: { type: 'integer', minimum: 1 },
      color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
      replicas: { type: 'integer' },
      either: { 'x-kubernetes-int-or-string': true },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      parts: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: {
          type: 'object',
          required: ['name'],
          properties: { name: { type: 'string' }, count: { type: 'integer', default: 1 } },
        },
      },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
      maybe: { type: 'string', nullable: true },
    },
  },
  status: {
    type: 'object',
    properties: { phase: { type: 'string' }, replicas: { type: 'integer' }, selector: { type: 'string' } },
  },
};
const version = (name: string, storage: boolean): JsonObject => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: 'object', properties } },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    },
  },
  additionalPrinterColumns: [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', priority: 1 },
  ],
  selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.size' }],
});
const names = { plural: 'gears', singular: 'gear', kind: 'Gear', shortNames: ['gr'] };
const crd = {
  metadata: { name: `gears.${group}` },
  spec: { group, scope: 'Namespaced', names, versions: [version('v1', true), version('v1beta1', false)] },
};

export function customDefinitionCases(client: () => ConformanceClient): void {
  describe('definitions', () => {
    test.each([
      ['another name', { metadata: { name: `cogs.${group}` } }, 'metadata.name FieldValueInvalid'],
      [
        'no storage version',
        { spec: { ...crd.spec, versions: [version('v1', false)] } },
        'spec.versions FieldValueInvalid',
      ],
      [
        'a schema without a type',
        {
          spec: {
            ...crd.spec,
            versions: [
              { ...version('v1', true), schema: { openAPIV3Schema: { type: 'object', properties: { a: {} } } } },
            ],
          },
        },
        'spec.validation.openAPIV3Schema.properties[a].type FieldValueRequired',
      ],
      ['an odd scope', { spec: { ...crd.spec, scope: 'Odd' } }, 'spec.scope FieldValueNotSupported'],
    ])('are refused with %s', async (_what, change, cause) => {
      const reply = await client().post(crds, { ...crd, ...change });
      expect(reply.body, reply.text).toMatchObject({ code: 422, reason: 'Invalid' });
      expect(causesOf(reply)).toContain(cause);
    });

    test('are served, and named in discovery and OpenAPI, and then no more', async () => {
      expect((await client().post(crds, crd)).code).toBe(201);
      const gears = `/apis/${group}/v1/gears`;
      await eventually(async () => {
        const made = await client().get(`${crds}/gears.${group}`);
        const conditions = asArray(at(made.body, 'status', 'conditions')).map(asObject);
        expect(
          conditions
            .filter(({ status }) => status === 'True')
            .map(({ type }) => type)
            .sort(),
        ).toEqual(['Established', 'NamesAccepted']);
        expect(at(made.body, 'status', 'storedVersions')).toEqual(['v1']);
        expect((await client().get(gears)).body).toMatchObject({
          kind: 'GearList',
          apiVersion: `${group}/v1`,
          items: [],
        });
      });
      await eventually(async () => {
        const found = (await client().get(`/apis/${group}`)).body;
        expect(asArray(found.versions).map((item) => asObject(item).version)).toEqual(['v1', 'v1beta1']);
        const resources = asArray((await client().get(`/apis/${group}/v1`)).body.resources).map(asObject);
        expect(resources.find(({ name }) => name === 'gears')).toMatchObject({
          kind: 'Gear',
          namespaced: true,
          singularName: 'gear',
          shortNames: ['gr'],
        });
        expect(resources.map(({ name }) => name).sort()).toEqual(['gears', 'gears/scale', 'gears/status']);
      });
      await eventually(async () => {
        const { body } = await client().get('/openapi/v2');
        expect(asObject(body.definitions)).toHaveProperty([`example.conformance.v1.Gear`]);
      });
      await client().delete(`${crds}/gears.${group}`);
      await eventually(async () => expect((await client().get(gears)).code).toBe(404));
      await eventually(async () => expect((await client().get(`${crds}/gears.${group}`)).code).toBe(404));
    });
  });
}

export function customObjectCases(client: () => ConformanceClient): void {
  describe('custom objects', () => {
    let gears = '';
    beforeAll(async () => {
      await makeNamespace(client(), 'c-custom');
      gears = `/apis/${group}/v1/namespaces/c-custom/gears`;
      expect((await client().post(crds, crd)).code).toBe(201);
      await eventually(async () => expect((await client().get(gears)).code).toBe(200));
    });
    const gear = (name: string, spec: JsonObject, more: JsonObject = {}): JsonObject => ({
      apiVersion: `${group}/v1`,
      kind: 'Gear',
      metadata: { name },
      spec,
      ...more,
    });
    const make = async (name: string, spec: JsonObject, more: JsonObject = {}): Promise<Reply> => {
      let reply = await client().post(gears, gear(name, spec, more));
      // A server may take a moment until it serves a definition everywhere.
      if (reply.code === 404) reply = await eventually(() => client().post(gears, gear(name, spec, more)));
      return reply;
    };

    test('are pruned and defaulted', async () => {
      const free = { anything: { goes: [1, 'x', null] } };
      const made = await make(
        'a',
        { size: 1, bogus: 1, free, parts: [{ name: 'x', odd: 1 }], maybe: null, labels: { k: 'v' } },
        { odd: 1 },
      );
      expect(made.code, made.text).toBe(201);
      expect(made.body).toMatchObject({ kind: 'Gear', apiVersion: `${group}/v1`, metadata: { generation: 1 } });
      expect(made.body.spec).toEqual({
        size: 1,
        color: 'red',
        free,
        parts: [{ name: 'x', count: 1 }],
        maybe: null,
        labels: { k: 'v' },
      });
      expect(made.body).not.toHaveProperty('odd');
      const list = await client().get(gears);
      expect(asArray(list.body.items)[0]).toMatchObject({ kind: 'Gear', apiVersion: `${group}/v1` });
    });

    test.each([
      ['nothing required', {}, 'spec.size FieldValueRequired'],
      ['another type', { size: 'x' }, 'spec.size FieldValueTypeInvalid'],
      ['too little', { size: 0 }, 'spec.size FieldValueInvalid'],
      ['a value of nobody', { size: 1, color: 'green' }, 'spec.color FieldValueNotSupported'],
      ['neither', { size: 1, either: true }, 'spec.either FieldValueTypeInvalid'],
      ['a key twice', { size: 1, parts: [{ name: 'x' }, { name: 'x' }] }, 'spec.parts[1] FieldValueDuplicate'],
    ])('are refused with %s', async (_what, spec, cause) => {
      const reply = await make('bad', spec);
      expect(reply.body, reply.text).toMatchObject({ code: 422, reason: 'Invalid', details: { group, kind: 'Gear' } });
      const wrongType = await client().expected(wrongTypeReason);
      expect(causesOf(reply)).toContain(cause.replace('FieldValueTypeInvalid', wrongType));
    });

    test('have a status of their own, and a generation of the rest', async () => {
      const made = await make('s', { size: 1 }, { status: { phase: 'Early' } });
      expect(made.body).not.toHaveProperty('status');
      const put = await client().put(`${gears}/s/status`, {
        ...made.body,
        spec: { size: 5 },
        status: { phase: 'Done' },
      });
      expect(put.body).toMatchObject({ spec: { size: 1 }, status: { phase: 'Done' }, metadata: { generation: 1 } });
      const spec = await client().patch(`${gears}/s`, 'merge', { spec: { size: 2 }, status: { phase: 'No' } });
      expect(spec.body).toMatchObject({ spec: { size: 2 }, status: { phase: 'Done' }, metadata: { generation: 2 } });
      const labelled = await client().patch(`${gears}/s`, 'merge', { metadata: { labels: { a: 'b' } } });
      expect(labelled.body).toMatchObject({ metadata: { generation: 2, labels: { a: 'b' } } });
    });

    test('are scaled', async () => {
      await make('scaled', { size: 1, replicas: 2 });
      const scale = await client().get(`${gears}/scaled/scale`);
      expect(scale.body).toMatchObject({
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        spec: { replicas: 2 },
        status: { replicas: 0 },
      });
      const put = await client().put(`${gears}/scaled/scale`, { ...scale.body, spec: { replicas: 3 } });
      expect(put.body).toMatchObject({ kind: 'Scale', spec: { replicas: 3 } });
      expect((await client().get(`${gears}/scaled`)).body).toMatchObject({
        spec: { replicas: 3 },
        metadata: { generation: 2 },
      });
    });

    test('are replaced only with a version, and patched without one', async () => {
      const made = await make('v', { size: 1 });
      expect((await client().put(`${gears}/v`, gear('v', { size: 2 }))).code).toBe(422);
      expect((await client().put(`${gears}/v`, { ...made.body, spec: { size: 2 } })).code).toBe(200);
      expect((await client().put(`${gears}/v`, { ...made.body, spec: { size: 3 } })).code).toBe(409);
      const same = await client().patch(`${gears}/v`, 'merge', {});
      expect(versionOf(same)).toBe(versionOf(await client().get(`${gears}/v`)));
      expect((await client().patch(`${gears}/v`, 'strategic', {})).body).toMatchObject({ code: 415 });
      expect(
        (await client().patch(`${gears}/v`, 'json', [{ op: 'replace', path: '/spec/size', value: 9 }])).body,
      ).toMatchObject({
        spec: { size: 9 },
      });
    });

    test('are applied, each manager its own fields', async () => {
      const apply = (manager: string, labels: JsonObject): Promise<Reply> =>
        client().patch(`${gears}/ap?fieldManager=${manager}`, 'apply', gear('ap', { size: 1, labels }));
      expect((await apply('one', { x: '1' })).code).toBe(201);
      const both = await apply('two', { y: '2' });
      expect(at(both.body, 'spec', 'labels')).toEqual({ x: '1', y: '2' });
      const conflict = await apply('two', { x: '5' });
      expect(conflict.code).toBe(409);
      expect(causesOf(conflict)).toEqual(['.spec.labels.x FieldManagerConflict']);
      expect(at((await apply('two', {})).body, 'spec', 'labels')).toEqual({ x: '1' });
    });

    test('are shown in every served version', async () => {
      await make('w', { size: 1 });
      const beta = gears.replace('/v1/', '/v1beta1/');
      expect((await client().get(`${beta}/w`)).body).toMatchObject({
        apiVersion: `${group}/v1beta1`,
        spec: { size: 1 },
      });
      const list = await client().get(beta);
      expect(list.body).toMatchObject({ kind: 'GearList', apiVersion: `${group}/v1beta1` });
      const events = await client().watched(`${beta}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dw`);
      expect(events).toMatchObject([{ type: 'ADDED', object: { apiVersion: `${group}/v1beta1` } }]);
    });

    test('have the columns of their definition', async () => {
      const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1,application/json';
      const { body } = await client().get(`${gears}/s`, { accept });
      expect(
        asArray(body.columnDefinitions).map((column) => [asObject(column).name, asObject(column).priority]),
      ).toEqual([
        ['Name', 0],
        ['Size', 0],
        ['Phase', 1],
      ]);
      expect(asArray(asObject(asArray(body.rows)[0]).cells)).toEqual(['s', 2, 'Done']);
    });

    test('are selected by the fields that their definition names', async () => {
      await make('selected', { size: 77, color: 'blue' });
      await make('other', { size: 77, color: 'red' });
      const reply = await client().get(gears + query({ fieldSelector: 'spec.size=77,spec.color=blue' }));
      const code = await client().expected(customFieldSelector);
      expect(reply.code, reply.text).toBe(code);
      if (code === 200) expect(namesOf(reply)).toEqual(['selected']);
      expect((await client().get(gears + query({ fieldSelector: 'spec.replicas=1' }))).code).toBe(400);
    });

    test('are refused with unknown fields where the caller asks for strict validation', async () => {
      const { create, patch } = await client().expected(strictUnknownField);
      const made = await client().post(`${gears}?fieldValidation=Strict`, gear('strict', { size: 1, bogus: 1 }));
      expect(made.code, made.text).toBe(create);
      if (create === 400) expect(made.body.message).toContain('strict decoding error: unknown field "spec.bogus"');
      await make('lenient', { size: 1 });
      const changed = await client().patch(`${gears}/lenient?fieldValidation=Strict`, 'merge', { spec: { bogus: 1 } });
      expect(changed.code, changed.text).toBe(patch);
    });

    test('are not applied with unknown fields', async () => {
      const reply = await client().patch(`${gears}/odd?fieldManager=x`, 'apply', gear('odd', { size: 1, bogus: 1 }));
      const code = await client().expected(appliedUnknownField);
      expect(reply.code, reply.text).toBe(code);
      expect((await client().get(`${gears}/odd`)).code).toBe(code === 500 ? 404 : 200);
      if (code === 500) expect(reply.body.message).toContain('.spec.bogus: field not declared in schema');
    });

    test('are written with their keys in alphabetical order, in lists too', async () => {
      await make('keys', { size: 1, color: 'red', labels: { b: '1', a: '2' } });
      const { text } = await client().get(`${gears}?limit=1`);
      const inOrder = (value: unknown): boolean =>
        Array.isArray(value)
          ? value.every(inOrder)
          : typeof value !== 'object' ||
            value === null ||
            (Object.keys(value).every((key, index, keys) => index === 0 || (keys[index - 1] ?? '') < key) &&
              Object.values(value).every(inOrder));
      expect(Object.keys(JSON.parse(text))).toEqual(['apiVersion', 'items', 'kind', 'metadata']);
      expect(inOrder(JSON.parse(text))).toBe(true);
      expect(inOrder(JSON.parse((await client().get(`${gears}/keys`)).text))).toBe(true);
    });

    test('keep big numbers and odd texts', async () => {
      const text = `{"apiVersion":"${group}/v1","kind":"Gear","metadata":{"name":"big"},"spec":{"size":9007199254740993,"free":{"n":0.1,"e":"\\u0000é"}}}`;
      expect((await client().post(gears, text)).code).toBe(201);
      const { text: back } = await client().get(`${gears}/big`);
      expect(back).toContain('9007199254740993');
      expect(back).toContain('0.1');
    });

    test('go with their definition', async () => {
      await make('last', { size: 1 });
      await client().patch(`${gears}/last`, 'merge', { metadata: { finalizers: ['example.com/a'] } });
      const marked = await client().delete(`${crds}/gears.${group}`);
      expect(at(marked.body, 'metadata', 'finalizers')).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
      await eventually(async () => {
        const { body } = await client().get(`${gears}/last`);
        expect(at(body, 'metadata', 'deletionTimestamp')).toBeTypeOf('string');
      });
      expect((await client().get(`${crds}/gears.${group}`)).code).toBe(200);
      await client().patch(`${gears}/last`, 'merge', { metadata: { finalizers: null } });
      await eventually(async () => expect((await client().get(`${crds}/gears.${group}`)).code).toBe(404));
      await eventually(async () => expect((await client().get(gears)).code).toBe(404));
    });
  });
}
