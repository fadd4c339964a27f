import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SimClient } from '../../test/kit/sim-client.ts';
import { asArray, asObject, asString, at, isObject } from '../objects/json.ts';
import { redisCrd } from '../sample/app-store-crds.ts';
import { fooCrd } from '../sample/sample-crds.ts';
import { type SimCluster, startSimCluster } from '../sim-cluster.ts';
import { versionRank } from './discovery.ts';

const aggregated = {
  Accept:
    'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json',
};
let cluster: SimCluster;
let client: SimClient;

beforeAll(async () => {
  cluster = await startSimCluster({ crds: [fooCrd, redisCrd] });
  client = new SimClient(cluster.url);
});
afterAll(() => cluster.close());

describe('discovery', () => {
  test('names groups, versions and resources in the old form', async () => {
    expect((await client.get('/api')).body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    const { body } = await client.get('/apis');
    expect(body.kind).toBe('APIGroupList');
    const groups = asArray(body.groups).map((group) => asObject(group).name);
    expect(groups).toEqual(expect.arrayContaining(['apps', 'batch', 'events.k8s.io', 'samplecontroller.k8s.io']));
    expect((await client.get('/apis/apps')).body).toMatchObject({
      kind: 'APIGroup',
      preferredVersion: { groupVersion: 'apps/v1' },
    });
    const core = await client.get('/api/v1');
    expect(core.body).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' });
    const resources = asArray(core.body.resources).map(asObject);
    expect(resources.find((item) => item.name === 'pods')).toMatchObject({
      kind: 'Pod',
      namespaced: true,
      shortNames: ['po'],
      verbs: expect.arrayContaining(['watch']),
    });
    expect(resources.find((item) => item.name === 'componentstatuses')?.verbs).toEqual(['get', 'list']);
    expect(resources.find((item) => item.name === 'pods/status')).toBeDefined();
    expect((await client.get('/apis/nowhere/v1')).status).toBe(404);
  });

  test('agrees in the aggregated form, which has an ETag', async () => {
    const { body, headers } = await client.get('/apis', aggregated);
    expect(body).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' });
    expect(headers.get('content-type')).toContain('as=APIGroupDiscoveryList');
    for (const item of asArray(body.items).filter(isObject)) {
      const group = asString(at(item, 'metadata', 'name'));
      for (const version of asArray(item.versions).filter(isObject)) {
        const old = await client.get(`/apis/${group}/${asString(version.version)}`);
        const names = asArray(version.resources).map((resource) => asObject(resource).resource);
        const plain = asArray(old.body.resources).map((resource) => asString(asObject(resource).name));
        expect(plain.filter((name) => !name.includes('/'))).toEqual(names);
      }
    }
    const etag = headers.get('etag') ?? '';
    expect((await client.get('/apis', { ...aggregated, 'If-None-Match': etag })).status).toBe(304);
    const core = await client.get('/api', aggregated);
    expect(asArray(core.body.items)).toHaveLength(1);
  });

  test('can be without the aggregated form and OpenAPI v3, and can ask for a token', async () => {
    const strict = await startSimCluster({
      features: { aggregatedDiscovery: false, openapiV3: false, token: 'secret' },
    });
    try {
      const nobody = new SimClient(strict.url);
      expect((await nobody.get('/apis')).body).toMatchObject({ kind: 'Status', code: 401, reason: 'Unauthorized' });
      expect((await nobody.get('/readyz')).status).toBe(200);
      const known = new SimClient(strict.url, { Authorization: 'Bearer secret' });
      expect((await known.get('/apis', aggregated)).body.kind).toBe('APIGroupList');
      expect((await known.get('/openapi/v3')).status).toBe(404);
      expect((await known.get('/openapi/v2')).status).toBe(200);
      expect(strict.kubeconfig()).toContain('token: secret');
    } finally {
      await strict.close();
    }
  });

  test('ranks versions as Kubernetes does', () => {
    const ranked = ['v1alpha1', 'v2', 'v1beta2', 'v10', 'v1', 'v1beta1', 'odd'].sort(
      (a, b) => versionRank(b) - versionRank(a),
    );
    expect(ranked).toEqual(['v10', 'v2', 'v1', 'v1beta2', 'v1beta1', 'v1alpha1', 'odd']);
  });
});

describe('OpenAPI', () => {
  const foo = 'io.k8s.samplecontroller.v1alpha1.Foo';

  test('has a v2 document with every kind, marked', async () => {
    const { body } = await client.get('/openapi/v2');
    const definitions = asObject(body.definitions);
    expect(at(definitions['io.k8s.api.core.v1.Pod'], 'properties', 'spec')).toMatchObject({
      $ref: '#/definitions/io.k8s.api.core.v1.PodSpec',
    });
    expect(asObject(definitions[foo])['x-kubernetes-group-version-kind']).toEqual([
      { group: 'samplecontroller.k8s.io', kind: 'Foo', version: 'v1alpha1' },
    ]);
    expect(definitions[`${foo}List`]).toBeDefined();
    const port = at(definitions['io.k8s.api.core.v1.ServicePort'], 'properties', 'targetPort');
    expect(port).toMatchObject({ $ref: '#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString' });
  });

  test('has v3 documents behind hashed addresses, whole in themselves', async () => {
    const index = await client.get('/openapi/v3');
    const paths = asObject(index.body.paths);
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(['api/v1', 'apis/apps/v1', 'apis/samplecontroller.k8s.io/v1alpha1']),
    );
    for (const [path, entry] of Object.entries(paths)) {
      const url = asString(asObject(entry).serverRelativeURL);
      const document = await client.get(url);
      expect(document.status).toBe(200);
      expect(document.headers.get('cache-control')).toContain('immutable');
      const schemas = asObject(at(document.body, 'components', 'schemas'));
      const text = JSON.stringify(document.body);
      for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g))
        expect(schemas[name], `${name} in ${path}`).toBeDefined();
      expect(text).not.toContain('#/definitions/');
    }
    const sample = await client.get('/openapi/v3/apis/samplecontroller.k8s.io/v1alpha1');
    const schema = at(sample.body, 'components', 'schemas', foo);
    expect(at(schema, 'properties', 'spec', 'properties', 'replicas')).toMatchObject({
      type: 'integer',
      minimum: 1,
      maximum: 10,
    });
    expect(at(schema, 'properties', 'metadata', 'allOf')).toEqual([
      { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
    ]);
    const stale = await client.get('/openapi/v3/api/v1?hash=OLD');
    expect(stale.status).toBe(301);
    expect(stale.headers.get('location')).toBe(at(paths['api/v1'], 'serverRelativeURL'));
  });

  test('keeps what CRDs say in v3 and simplifies it in v2', async () => {
    const name = 'example.portolan.cache.v1.Redis';
    const v3 = await client.get('/openapi/v3/apis/cache.portolan.example/v1');
    const v2 = await client.get('/openapi/v2');
    const field = (root: unknown): unknown => at(root, 'properties', 'status', 'properties', 'lastFailover');
    expect(field(at(v3.body, 'components', 'schemas', name))).toMatchObject({ type: 'string', nullable: true });
    expect(field(at(v2.body, 'definitions', name))).not.toHaveProperty('nullable');
    expect(field(at(v2.body, 'definitions', name))).not.toHaveProperty('type');
  });
});
